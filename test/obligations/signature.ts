import { createHmac } from 'node:crypto';

export interface SignatureInput {
  secretKey: string;
  /** Unix time in seconds, as it stands in X-Timestamp. */
  timestamp: string;
  /** The query string without `?`, or the raw body. */
  data: string;
}

/** The value of X-Signature (spec section 5): the timestamp directly followed by the data, no separator. */
export function signature({ secretKey, timestamp, data }: SignatureInput): string {
  return createHmac('sha256', secretKey).update(timestamp).update(data).digest('hex');
}
