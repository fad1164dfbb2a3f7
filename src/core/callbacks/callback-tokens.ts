import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { isUuid } from '../../schema/scalars';

/** Length of an attempt id, and of its authentication code. */
const BYTES = 16;

const TOKEN = /^[\w-]{43}$/;

/**
 * Tokens of callback URLs: an authentication code of the attempt id, and the id masked by a keystream derived from that code;
 * 43 characters of base64url. They are unforgeable, do not reveal the id, and each attempt has exactly one.
 */
export class CallbackTokens {
  readonly #codeKey: KeyObject;
  readonly #maskKey: KeyObject;

  /** @param secret any secret that all instances share and that does not change; the keys are derived from it */
  constructor(secret: string) {
    const keys = Buffer.from(hkdfSync('sha256', secret, '', 'paygraph callback token', 64));
    this.#codeKey = createSecretKey(keys.subarray(0, 32));
    this.#maskKey = createSecretKey(keys.subarray(32));
  }

  of(attemptId: string): string {
    if (!isUuid(attemptId) || attemptId !== attemptId.toLowerCase())
      throw new TypeError('An attempt id must be a lower-case UUID.');
    const id = Buffer.from(attemptId.replaceAll('-', ''), 'hex');
    const code = hmac(this.#codeKey, id);
    return Buffer.concat([code, this.#xorMask(id, code)]).toString('base64url');
  }

  /** The attempt id of a token; null when invalid. The work is the same for every well-formed token. */
  read(token: string): string | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, 'base64url');
    const code = bytes.subarray(0, BYTES);
    const id = this.#xorMask(bytes.subarray(BYTES), code);
    const isOurs = timingSafeEqual(hmac(this.#codeKey, id), code);
    // The last character has two unused bits: of its four spellings only the canonical one is valid.
    return isOurs && bytes.toString('base64url') === token ? toUuid(id) : null;
  }

  #xorMask(id: Buffer, code: Buffer): Buffer {
    const mask = hmac(this.#maskKey, code);
    return Buffer.from(id.map((byte, index) => byte ^ (mask[index] ?? 0)));
  }
}

const hmac = (key: KeyObject, bytes: Buffer): Buffer =>
  createHmac('sha256', key).update(bytes).digest().subarray(0, BYTES);

const toUuid = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
