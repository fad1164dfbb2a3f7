import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../../shared/secret';

/** Signs requests to the payment service with HMAC-SHA-256 (spec section 5). */
export class Signer {
  readonly #hmacKey: KeyObject;

  /** @param keyNumber number of the secret key in its entry of the credentials: 1 or 2 */
  constructor(
    private readonly apiKey: Secret,
    secretKey: Secret,
    readonly keyNumber: number,
  ) {
    this.#hmacKey = createSecretKey(secretKey.reveal(), 'utf8');
  }

  /** Whether another signer has the same secret key. */
  hasSameKey(otherSigner: Signer): boolean {
    return this.#hmacKey.equals(otherSigner.#hmacKey);
  }

  /**
   * Returns the headers that authenticate a request.
   * @param signedText the body or the query string, exactly as sent
   * @param timestampMs timestamp in ms since 1970; the header has it in seconds
   */
  headers(signedText: string, timestampMs: number): Record<string, string> {
    const timestamp = String(Math.floor(timestampMs / 1000));
    return {
      'x-api-key': this.apiKey.reveal(),
      'x-timestamp': timestamp,
      'x-signature': createHmac('sha256', this.#hmacKey).update(timestamp).update(signedText).digest('hex'),
    };
  }
}
