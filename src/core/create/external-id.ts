import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { AttemptKey } from '../../datasources/journal/journal';

/**
 * Makes external ids for creates without one. The same idempotency key always leads to the same external id, so that a
 * create can be found at the service even if the journal has lost it.
 */
export class ExternalIds {
  readonly #key: KeyObject;

  /** @param secret any secret that all instances share and that does not change; the key is derived from it */
  constructor(secret: string) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'paygraph external id', 32)));
  }

  /** Returns a UUID of version 8 (RFC 9562, 5.8) from a keyed hash. */
  of({ service, client, key }: AttemptKey): string {
    const hash = createHmac('sha256', this.#key)
      .update(JSON.stringify([service, client, key]))
      .digest();
    hash.writeUInt8(0x80 | (hash.readUInt8(6) & 0x0f), 6);
    hash.writeUInt8(0x80 | (hash.readUInt8(8) & 0x3f), 8);
    return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
