import path from 'node:path';
import { DEFAULT_TIME_LIMIT_MS } from './deadline';
import type { Journal } from './journal';
import { classifyJournalError, journalErrorText, isPermanent } from './journal-error';
import { JournalOpenError } from './journal-open-error';
import { PostgresJournal } from './postgres/journal';
import { SqliteJournal } from './sqlite/journal';
import type { SqlJournal } from './sql-journal';

/** Returns the absolute path of a journal in SQLite; undefined if the journal is in PostgreSQL. */
export const sqlitePathOf = (url: string): string | undefined =>
  url.startsWith('file:') ? path.resolve(url.slice('file:'.length)) : undefined;

/**
 * Opens the journal at `file:<path>` or `postgres://…`. Resolves even if PostgreSQL is unreachable: the gateway then
 * starts, and rejects creates and confirms until the journal is available.
 * @param timeLimitMs time limit in ms of the calls that a create or confirm waits for
 * @throws JournalOpenError if a SQLite file cannot be opened, or if PostgreSQL reports an error that lasts until an
 *   operator corrects it (see isPermanent)
 */
export async function openJournal(
  url: string,
  timeLimitMs = DEFAULT_TIME_LIMIT_MS,
): Promise<Journal & SqlJournal> {
  const sqlitePath = sqlitePathOf(url);
  if (sqlitePath !== undefined) return SqliteJournal.open(sqlitePath, timeLimitMs);
  const journal = new PostgresJournal(url, timeLimitMs);
  try {
    // This query connects and applies pending migrations, so that the first create does not have to wait for them.
    await journal.ping();
  } catch (error) {
    const fault = classifyJournalError(error);
    if (isPermanent(fault)) {
      await journal.close();
      throw new JournalOpenError(journalErrorText(fault), error);
    }
  }
  return journal;
}

/** Time limit in ms for connecting to PostgreSQL in migrateJournal(). */
const CONNECT_TIME_LIMIT_MS = 10_000;

/**
 * Applies pending migrations, which have no time limit. If the URL names a SQLite file that does not exist, creates it.
 * Rejects with a JournalOpenError (SQLite) or JournalUnavailable (PostgreSQL) on failure.
 */
export async function migrateJournal(url: string): Promise<void> {
  if (sqlitePathOf(url) !== undefined) return (await openJournal(url)).close();
  const journal = new PostgresJournal(url, CONNECT_TIME_LIMIT_MS);
  await journal.migrate().finally(() => journal.close());
}
