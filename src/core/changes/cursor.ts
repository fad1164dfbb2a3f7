import type { ChangePosition } from '../../datasources/journal/changes';

/** Format of a decoded cursor; the first number is the version of the format. */
const PATTERN = /^1\.(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/;
const MAX_LENGTH = 100;

/** A cursor that this gateway never returned. */
export class InvalidCursor extends Error {
  constructor() {
    super('The cursor is not one of this gateway.');
    this.name = 'InvalidCursor';
  }
}

/** A cursor older than the oldest stored change. */
export class CursorExpired extends Error {
  /** @param oldestCursor oldest cursor after which no change was deleted */
  constructor(readonly oldestCursor: string) {
    super('The changes after this cursor were deleted. Continue from oldestCursor.');
    this.name = 'CursorExpired';
  }
}

/** Returns the cursor of a position: base64url, opaque to clients. */
export const encodeCursor = ({ epoch, transaction, seq }: ChangePosition): string =>
  Buffer.from(`1.${epoch}.${transaction}.${seq}`).toString('base64url');

/** Returns the position of a cursor. Throws InvalidCursor if this gateway never returned the cursor. */
export function decodeCursor(cursor: string): ChangePosition {
  const text = cursor.length > MAX_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString();
  const numbers = PATTERN.exec(text)?.slice(1).map(Number) ?? [];
  const [epoch, transaction, seq] = numbers;
  if (epoch === undefined || transaction === undefined || seq === undefined) throw new InvalidCursor();
  const position = { epoch, transaction, seq };
  // Accepts only the canonical cursor of a position: no padding, no leading zeros, only safe integers.
  if (!numbers.every(Number.isSafeInteger) || encodeCursor(position) !== cursor) throw new InvalidCursor();
  return position;
}
