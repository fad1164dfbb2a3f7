import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../shared/secret';
import { SandboxHttpError } from './http-error';

export interface ApiCredentials {
  apiKey: Secret;
  secretKey: Secret;
}

interface SignedRequest {
  headers: IncomingHttpHeaders;
  /** The bytes that are signed together with the timestamp (spec section 5): the query string or the body. */
  signedBytes: Buffer;
}

const MAX_TIMESTAMP_SKEW_SECONDS = 300;
const UNIX_SECONDS_PATTERN = /^\d{1,15}$/;

/** Throws a 401 error unless X-API-Key, X-Timestamp and X-Signature are present and valid (spec section 5). */
export function authenticate(request: SignedRequest, credentials: ApiCredentials, nowMs: number): void {
  const apiKey = requiredHeader(request.headers, 'X-API-Key');
  const timestamp = requiredHeader(request.headers, 'X-Timestamp');
  const signature = requiredHeader(request.headers, 'X-Signature');
  if (!UNIX_SECONDS_PATTERN.test(timestamp))
    throw unauthenticatedError({ 'X-Timestamp': 'must be Unix time in seconds' });
  const ageSeconds = Math.floor(nowMs / 1000) - Number(timestamp);
  if (ageSeconds > MAX_TIMESTAMP_SKEW_SECONDS)
    throw unauthenticatedError({ 'X-Timestamp': 'is older than 5 minutes' });
  if (ageSeconds < -MAX_TIMESTAMP_SKEW_SECONDS) {
    throw unauthenticatedError({ 'X-Timestamp': 'is more than 5 minutes in the future' });
  }
  const hmac = createHmac('sha256', credentials.secretKey.reveal());
  const expectedSignature = hmac.update(timestamp).update(request.signedBytes).digest('hex');
  // Always compare both key and signature, so that neither timing nor response shows which of them is wrong.
  const isKeyValid = isSameText(apiKey, credentials.apiKey.reveal());
  const isSignatureValid = isSameText(signature.toLowerCase(), expectedSignature);
  if (!isKeyValid || !isSignatureValid) throw unauthenticatedError();
}

function requiredHeader(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  if (typeof value !== 'string' || value === '') throw unauthenticatedError({ [name]: 'is required' });
  return value;
}

const unauthenticatedError = (violatedRuleByHeader?: Record<string, string>): SandboxHttpError =>
  new SandboxHttpError(401, 'Authentication failed', violatedRuleByHeader);

/** Compares two texts in constant time. Hashes them first, because timingSafeEqual requires equal lengths. */
const isSameText = (givenText: string, expectedText: string): boolean =>
  timingSafeEqual(hash('sha256', givenText, 'buffer'), hash('sha256', expectedText, 'buffer'));
