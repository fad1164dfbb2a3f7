// The three headers of a signed request (spec section 5).
import { createHmac, createSecretKey } from 'node:crypto';
import { settings } from './settings.mjs';

const KEY = createSecretKey(settings.secretKey, 'utf8');

/** Returns the headers that sign `data`: the query string without `?`, or the body, exactly as sent. */
export function signed(data) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    'x-api-key': settings.apiKey,
    'x-timestamp': timestamp,
    'x-signature': createHmac('sha256', KEY).update(timestamp).update(data).digest('hex'),
  };
}
