import path from 'node:path';
import { PostgresHosts } from './postgres/hosts';
import { INDEX_ORDER_OPTIONS, PostgresPool } from './postgres/pool';
import type { Row, SqlValue } from './rows';
import { sql, SqliteThread } from './sqlite/thread';
import type { Dialect } from './stored-values';

/** A separate connection to a journal's database, so that operator commands do not delay creates. */
export interface StoreConnection {
  dialect: Dialect;
  /** Runs a statement with `?` for each value. Rejects with JournalUnavailable on failure. */
  execute(text: string, values: readonly SqlValue[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** Returns the absolute path of a journal in SQLite; undefined if the journal is in PostgreSQL. */
export const sqliteFileOf = (url: string): string | undefined =>
  url.startsWith('file:') ? path.resolve(url.slice('file:'.length)) : undefined;

/**
 * Returns a pool with one connection to PostgreSQL.
 * @param timeLimitMs time limit in ms of a query, including the time to connect and to apply pending migrations
 */
export const singleConnectionPool = (url: string, timeLimitMs: number): PostgresPool =>
  new PostgresPool(new PostgresHosts(url), {
    timeLimitMs,
    maxConnections: 1,
    connectionOptions: INDEX_ORDER_OPTIONS,
  });

/**
 * Connects to a journal.
 * - SQLite: opens the file, whose tables must exist. Rejects with a JournalOpenError if the file cannot be opened.
 * - PostgreSQL: the first query connects and applies pending migrations. `readOnly` is ignored.
 */
export async function connectToStore(
  url: string,
  { timeLimitMs, readOnly }: { timeLimitMs: number; readOnly: boolean },
): Promise<StoreConnection> {
  const file = sqliteFileOf(url);
  if (file === undefined) {
    const pool = singleConnectionPool(url, timeLimitMs);
    return {
      dialect: 'postgres',
      execute: (text, values) => pool.query(text, values),
      close: () => pool.close(),
    };
  }
  const thread = await SqliteThread.open(file, timeLimitMs, readOnly);
  return {
    dialect: 'sqlite',
    execute: (text, values) => thread.run({ write: !readOnly, statements: [sql(text, ...values)] }),
    close: () => thread.close(),
  };
}
