import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../../shared/secret';

/** Signs requests to the payment service with HMAC-SHA-256 (spec section 5). */
export class Signer {
  readonly #apiKey: Secret;
  readonly #key: KeyObject;

  constructor(apiKey: Secret, secretKey: Secret) {
    this.#apiKey = apiKey;
    this.#key = createSecretKey(secretKey.reveal(), 'utf8');
  }

  /**
   * Returns the headers that authenticate a request.
   * @param data the body or the query string, exactly as sent
   * @param nowMs timestamp in ms since 1970; the header has it in seconds
   */
  headers(data: string, nowMs: number): Record<string, string> {
    const timestamp = String(Math.floor(nowMs / 1000));
    return {
      'x-api-key': this.#apiKey.reveal(),
      'x-timestamp': timestamp,
      'x-signature': createHmac('sha256', this.#key).update(timestamp).update(data).digest('hex'),
    };
  }
}
