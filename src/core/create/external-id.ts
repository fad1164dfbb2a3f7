import { randomBytes } from 'node:crypto';

/**
 * An external id of the gateway's own: a UUID of version 7 (RFC 9562), so it is unique, printable, and ordered by
 * the time it was made.
 */
export function newExternalId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
