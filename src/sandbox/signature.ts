import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './refusal';

export interface Keys {
  apiKey: string;
  secretKey: string;
}

export interface SignedRequest {
  headers: IncomingHttpHeaders;
  /** What stands behind the timestamp in the signed text (spec section 5): the query string or the body, byte for byte. */
  data: Buffer;
}

const MAX_AGE_SECONDS = 300;
const DIGITS = /^\d{1,15}$/;

/** Throws a 401 unless the request carries all three headers and they are right (spec section 5). */
export function authenticate(request: SignedRequest, keys: Keys, nowMs: number): void {
  const key = header(request.headers, 'X-API-Key');
  const timestamp = header(request.headers, 'X-Timestamp');
  const signature = header(request.headers, 'X-Signature');
  if (!DIGITS.test(timestamp)) throw unauthenticated({ 'X-Timestamp': 'must be Unix time in seconds' });
  const age = Math.floor(nowMs / 1000) - Number(timestamp);
  if (age > MAX_AGE_SECONDS) throw unauthenticated({ 'X-Timestamp': 'is older than 5 minutes' });
  if (age < -MAX_AGE_SECONDS) {
    throw unauthenticated({ 'X-Timestamp': 'is more than 5 minutes in the future' });
  }
  const expected = createHmac('sha256', keys.secretKey).update(timestamp).update(request.data).digest('hex');
  // Both are always compared, and the answer does not tell which of them was wrong.
  const keyFits = sameText(key, keys.apiKey);
  const signatureFits = sameText(signature.toLowerCase(), expected);
  if (!keyFits || !signatureFits) throw unauthenticated();
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  if (typeof value !== 'string' || value === '') throw unauthenticated({ [name]: 'is required' });
  return value;
}

function unauthenticated(errors?: Record<string, string>): Refusal {
  return new Refusal(401, 'Authentication failed', errors);
}

/** Hashed first, because timingSafeEqual takes equal lengths only and the length is a secret too. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
