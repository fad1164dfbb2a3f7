import { createHmac } from 'node:crypto';
import { API_KEY, SECRET_KEY } from './gateway';
import type { ReceivedRequest } from './payment-service/fake-payment-service';

/** Returns the signature of spec section 5. */
export const signatureOf = (timestamp: string, data: string, key = SECRET_KEY): string =>
  createHmac('sha256', key)
    .update(timestamp + data, 'utf8')
    .digest('hex');

/** Expects the three headers of spec section 5 to fit the received bytes. */
export function expectSigned({ method, query, body, headers }: ReceivedRequest): void {
  const timestamp = String(headers['x-timestamp']);
  expect(timestamp).toMatch(/^\d{10}$/);
  expect(headers['x-api-key']).toBe(API_KEY);
  expect(headers['x-signature']).toBe(signatureOf(timestamp, method === 'GET' ? query : body));
  if (method === 'POST') expect(headers['content-type']).toMatch(/^application\/json/);
  else expect(body).toBe('');
}

/** Decodes a query string by RFC 3986, which has percent escapes only: a + stays a plus. */
export const decodeQuery = (query: string): Record<string, string> =>
  Object.fromEntries(
    query.split('&').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))];
    }),
  );
