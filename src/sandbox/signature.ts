import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SandboxHttpError } from './http-error';

export interface Keys {
  apiKey: string;
  secretKey: string;
}

export interface SignedRequest {
  headers: IncomingHttpHeaders;
  /** The signed bytes after the timestamp (spec section 5): the query string or the body. */
  data: Buffer;
}

const MAX_AGE_SECONDS = 300;
const DIGITS = /^\d{1,15}$/;

/** Throws 401 unless all three headers are present and valid (spec section 5). */
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
  // Compares both always, so that neither timing nor response tells which one is wrong.
  const keyFits = sameText(key, keys.apiKey);
  const signatureFits = sameText(signature.toLowerCase(), expected);
  if (!keyFits || !signatureFits) throw unauthenticated();
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  if (typeof value !== 'string' || value === '') throw unauthenticated({ [name]: 'is required' });
  return value;
}

function unauthenticated(errors?: Record<string, string>): SandboxHttpError {
  return new SandboxHttpError(401, 'Authentication failed', errors);
}

/** Hashes first, because timingSafeEqual requires equal lengths and the length is secret too. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
