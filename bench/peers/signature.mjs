// The three headers of a signed request (spec section 5).
import { createHmac, createSecretKey } from 'node:crypto';
import { settings } from './settings.mjs';

const KEY = createSecretKey(settings.secretKey, 'utf8');

/** Signs the query string without its `?`, or the body: exactly the characters that are sent. */
export function signed(data) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    'x-api-key': settings.apiKey,
    'x-timestamp': timestamp,
    'x-signature': createHmac('sha256', KEY).update(timestamp).update(data).digest('hex'),
  };
}
