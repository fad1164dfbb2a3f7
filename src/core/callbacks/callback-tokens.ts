import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { bytesToUuid, isUuid, uuidToBytes } from '../../shared/uuid';

/** Length in bytes of an attempt id. The authentication code in a callback token has the same length. */
const ATTEMPT_ID_BYTES = 16;

const TOKEN_FORMAT = /^[\w-]{43}$/;

/**
 * Encodes and decodes the tokens of callback URLs. A token identifies an attempt. It has 43 characters of base64url: an
 * authentication code of the attempt id, then the id masked with a keystream derived from the code. Tokens are
 * unforgeable, hide the id, and are unique per attempt.
 */
export class CallbackTokens {
  readonly #macKey: KeyObject;
  readonly #maskKey: KeyObject;

  /** @param secret any secret that all instances share and that does not change; the keys are derived from it */
  constructor(secret: string) {
    const keys = Buffer.from(hkdfSync('sha256', secret, '', 'paygraph callback token', 64));
    this.#macKey = createSecretKey(keys.subarray(0, 32));
    this.#maskKey = createSecretKey(keys.subarray(32));
  }

  /** Returns the token of an attempt. Throws a TypeError if the id is not a lower-case UUID. */
  encode(attemptId: string): string {
    if (!isUuid(attemptId) || attemptId !== attemptId.toLowerCase())
      throw new TypeError('An attempt id must be a lower-case UUID.');
    const id = uuidToBytes(attemptId);
    const mac = hmac(this.#macKey, id);
    return Buffer.concat([mac, this.#applyMask(id, mac)]).toString('base64url');
  }

  /** Returns the attempt id in a token; null if the token is invalid. Compares in constant time. */
  decode(token: string): string | null {
    if (!TOKEN_FORMAT.test(token)) return null;
    const bytes = Buffer.from(token, 'base64url');
    const mac = bytes.subarray(0, ATTEMPT_ID_BYTES);
    const id = this.#applyMask(bytes.subarray(ATTEMPT_ID_BYTES), mac);
    const isAuthentic = timingSafeEqual(hmac(this.#macKey, id), mac);
    // The last character has two unused bits, so four spellings decode alike. Only the canonical spelling is valid.
    return isAuthentic && bytes.toString('base64url') === token ? bytesToUuid(id) : null;
  }

  #applyMask(id: Buffer, mac: Buffer): Buffer {
    const mask = hmac(this.#maskKey, mac);
    return Buffer.from(id.map((byte, index) => byte ^ (mask[index] ?? 0)));
  }
}

const hmac = (key: KeyObject, bytes: Buffer): Buffer =>
  createHmac('sha256', key).update(bytes).digest().subarray(0, ATTEMPT_ID_BYTES);
