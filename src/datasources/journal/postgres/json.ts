import type { SqlValue } from '../rows';

/** Returns a value for a JSON parameter; bytes in the text form of BYTEA. */
export const inJson = (value: SqlValue): SqlValue =>
  value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;
