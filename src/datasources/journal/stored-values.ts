import { hash } from 'node:crypto';
import { systemRuntime, type Runtime } from '../../shared/runtime';
import type { AttemptKey } from './journal';

/** How values are stored, so that a row is small: UUIDs as 16 bytes, and hashes in the indexes instead of texts. */

export type Dialect = 'sqlite' | 'postgres';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Number of bytes of a hash of an idempotency key: an attempt id begins with them. */
export const KEY_HASH_BYTES = 12;
const SUFFIX_BYTES = 4;

/** Replaces characters that PostgreSQL rejects, so that text from the service cannot make the write of a batch fail. */
export const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer');

/** A UUID is stored as its 16 bytes; other text as UTF-8 after one zero byte, or two where it would have 16 bytes. */
export function toStoredText(text: string): Uint8Array {
  if (UUID.test(text)) return Uint8Array.from(Buffer.from(text.replaceAll('-', ''), 'hex'));
  const utf8 = Buffer.from(toStorableText(text));
  return Uint8Array.from([...(utf8.length === 15 ? [0, 0] : [0]), ...utf8]);
}

/** Returns the expression that reads a column written by `toStoredText`. */
export const READ_STORED_TEXT = {
  postgres: (column: string): string =>
    `CASE WHEN octet_length(${column}) = 16 THEN encode(${column}, 'hex')::uuid::text
      ELSE convert_from(substr(${column}, CASE substr(${column}, 2, 1) WHEN '\\x00'::bytea THEN 3 ELSE 2 END), 'UTF8') END`,
  sqlite: (column: string): string =>
    `CASE WHEN length(${column}) = 16 THEN lower(substr(hex(${column}), 1, 8) || '-' || substr(hex(${column}), 9, 4)
        || '-' || substr(hex(${column}), 13, 4) || '-' || substr(hex(${column}), 17, 4)
        || '-' || substr(hex(${column}), 21))
      ELSE CAST(substr(${column}, CASE substr(${column}, 2, 1) WHEN x'00' THEN 3 ELSE 2 END) AS TEXT) END`,
};

/** The hash by which an idempotency key is unique: two keys with one hash will not occur in practice. */
export const keyHash = ({ service, client, key }: AttemptKey): Uint8Array =>
  sha256(Buffer.concat([sha256(service), sha256(client), Buffer.from(key)])).slice(0, KEY_HASH_BYTES);

/** Signed 32 bits, for indexes of ids. Several ids may have one hash, so queries compare the ids too. */
export const shortHash = (text: string): number =>
  parseInt(hash('sha256', toStorableText(text), 'hex').slice(0, 8), 16) | 0;

/**
 * Returns the id of a new attempt: a UUID that begins with the hash of its idempotency key and ends with random bytes, so
 * that one index finds an attempt by its key and by its id.
 */
export const newAttemptId = (
  key: AttemptKey,
  { randomBytes }: Pick<Runtime, 'randomBytes'> = systemRuntime,
): string => uuidOf(Buffer.concat([keyHash(key), randomBytes(SUFFIX_BYTES)]));

/** Returns the bytes of an attempt id. No attempt has the bytes of a text that is not a UUID. */
export const attemptIdBytes = (id: string): Uint8Array =>
  UUID.test(id) ? toStoredText(id) : new Uint8Array();

export const uuidOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
