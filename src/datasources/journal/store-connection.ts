import path from 'node:path';
import { PostgresHosts } from './postgres/hosts';
import { INDEX_ORDER_OPTIONS, PostgresPool } from './postgres/pool';
import type { Row, SqlValue } from './rows';
import { sql, SqliteThread } from './sqlite/thread';
import type { Dialect } from './stored-values';

/** A connection to a journal's database for operator commands, separate so that they do not delay creates. */
export interface StoreConnection {
  dialect: Dialect;
  /** Runs a statement with `?` for each value. Rejects with JournalUnavailable. */
  execute(text: string, values: readonly SqlValue[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** Returns the path of a journal in SQLite; undefined if the journal is in PostgreSQL. */
export const sqliteFileOf = (url: string): string | undefined =>
  url.startsWith('file:') ? path.resolve(url.slice('file:'.length)) : undefined;

/** Returns a pool with one connection. */
export const singleConnectionPool = (url: string, timeLimitMs: number): PostgresPool =>
  new PostgresPool(new PostgresHosts(url), {
    timeLimitMs,
    maxConnections: 1,
    connectionOptions: INDEX_ORDER_OPTIONS,
  });

/** Connects to a journal. SQLite: its tables must exist. PostgreSQL: applies pending migrations, ignores `readOnly`. */
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
