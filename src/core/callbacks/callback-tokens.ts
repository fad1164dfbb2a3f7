import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';

/** How long the attempt's id is, and how long the code that vouches for it. */
const BYTES = 16;

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;
const TOKEN = /^[\w-]{43}$/;

/**
 * Names an attempt in an address that strangers see: 43 characters of base64url that only this gateway can make, and
 * that do not show the attempt's id. They are a code of the id, and the id masked with what follows from the code; so
 * one attempt has one token.
 */
export class CallbackTokens {
  readonly #codeKey: KeyObject;
  readonly #maskKey: KeyObject;

  /** @param secret any secret that all instances share and that stays the same; the keys are derived from it */
  constructor(secret: string) {
    const keys = Buffer.from(hkdfSync('sha256', secret, '', 'paygraph callback token', 64));
    this.#codeKey = createSecretKey(keys.subarray(0, 32));
    this.#maskKey = createSecretKey(keys.subarray(32));
  }

  of(attemptId: string): string {
    if (!UUID.test(attemptId)) throw new TypeError('An attempt has a UUID in small letters.');
    const id = Buffer.from(attemptId.replaceAll('-', ''), 'hex');
    const code = keyed(this.#codeKey, id);
    return Buffer.concat([code, this.#masked(id, code)]).toString('base64url');
  }

  /** The attempt that a token was made for; null for anything else, after the same work for all that look like one. */
  read(token: string): string | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, 'base64url');
    const code = bytes.subarray(0, BYTES);
    const id = this.#masked(bytes.subarray(BYTES), code);
    const isOurs = timingSafeEqual(keyed(this.#codeKey, id), code);
    // The last character has two bits that stand for nothing: four spellings, of which one is ours.
    return isOurs && bytes.toString('base64url') === token ? textOf(id) : null;
  }

  /** Masks an id, or shows a masked one. */
  #masked(id: Buffer, code: Buffer): Buffer {
    const mask = keyed(this.#maskKey, code);
    return Buffer.from(id.map((byte, place) => byte ^ (mask[place] ?? 0)));
  }
}

const keyed = (key: KeyObject, bytes: Buffer): Buffer =>
  createHmac('sha256', key).update(bytes).digest().subarray(0, BYTES);

const textOf = (id: Buffer): string =>
  id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
