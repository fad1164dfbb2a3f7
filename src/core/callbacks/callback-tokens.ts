import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { bytesToUuid, isUuid, uuidToBytes } from '../../shared/uuid';

/** Length in bytes of an attempt id. The authentication code in a callback token has the same length. */
const ATTEMPT_ID_BYTES = 16;

const TOKEN_PATTERN = /^[\w-]{43}$/;

/**
 * Encodes and decodes the tokens of callback URLs. A token identifies an attempt. It has 43 characters of base64url: an
 * authentication code of the attempt id, then the id masked with a keystream derived from the code. Tokens are
 * unforgeable, hide the id, and are unique per attempt.
 */
export class CallbackTokens {
  readonly #macKey: KeyObject;
  readonly #maskKey: KeyObject;

  /** @param sharedSecret any secret that all instances share and that does not change; the keys are derived from it */
  constructor(sharedSecret: string) {
    const keys = Buffer.from(hkdfSync('sha256', sharedSecret, '', 'paygraph callback token', 64));
    this.#macKey = createSecretKey(keys.subarray(0, 32));
    this.#maskKey = createSecretKey(keys.subarray(32));
  }

  /** Returns the token of an attempt. Throws a TypeError if the id is not a lower-case UUID. */
  encode(attemptId: string): string {
    if (!isUuid(attemptId) || attemptId !== attemptId.toLowerCase())
      throw new TypeError('An attempt id must be a lower-case UUID.');
    const attemptIdBytes = uuidToBytes(attemptId);
    const mac = truncatedHmac(this.#macKey, attemptIdBytes);
    return Buffer.concat([mac, this.#applyMask(attemptIdBytes, mac)]).toString('base64url');
  }

  /** Returns the attempt id in a token; null if the token is invalid. Compares in constant time. */
  decode(token: string): string | null {
    if (!TOKEN_PATTERN.test(token)) return null;
    const tokenBytes = Buffer.from(token, 'base64url');
    const mac = tokenBytes.subarray(0, ATTEMPT_ID_BYTES);
    const attemptIdBytes = this.#applyMask(tokenBytes.subarray(ATTEMPT_ID_BYTES), mac);
    const isAuthentic = timingSafeEqual(truncatedHmac(this.#macKey, attemptIdBytes), mac);
    // The last character has two unused bits, so four spellings decode alike. Only the canonical spelling is valid.
    return isAuthentic && tokenBytes.toString('base64url') === token ? bytesToUuid(attemptIdBytes) : null;
  }

  #applyMask(attemptIdBytes: Buffer, mac: Buffer): Buffer {
    const mask = truncatedHmac(this.#maskKey, mac);
    return Buffer.from(attemptIdBytes.map((byte, index) => byte ^ (mask[index] ?? 0)));
  }
}

const truncatedHmac = (hmacKey: KeyObject, message: Buffer): Buffer =>
  createHmac('sha256', hmacKey).update(message).digest().subarray(0, ATTEMPT_ID_BYTES);
