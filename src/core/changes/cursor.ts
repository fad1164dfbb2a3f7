import type { ChangePosition } from '../../datasources/journal/changes';

/** Matches a decoded cursor: the version of the format, then `epoch`, `xid` and `seq` of a ChangePosition. */
const CURSOR_PATTERN = /^1\.(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/;
const MAX_CURSOR_LENGTH = 100;

/** Returns the cursor of a position: base64url, opaque to clients. */
export const encodeCursor = ({ epoch, xid, seq }: ChangePosition): string =>
  Buffer.from(`1.${epoch}.${xid}.${seq}`).toString('base64url');

/** Returns the position of a cursor; undefined for a text that encodeCursor() cannot have returned. */
export function decodeCursor(cursor: string): ChangePosition | undefined {
  const text = cursor.length > MAX_CURSOR_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString();
  const numbers = CURSOR_PATTERN.exec(text)?.slice(1).map(Number) ?? [];
  const [epoch, xid, seq] = numbers;
  if (epoch === undefined || xid === undefined || seq === undefined) return undefined;
  const position = { epoch, xid, seq };
  // Rejects integers above Number.MAX_SAFE_INTEGER, and other spellings of a cursor: with padding or leading zeros.
  return numbers.every(Number.isSafeInteger) && encodeCursor(position) === cursor ? position : undefined;
}
