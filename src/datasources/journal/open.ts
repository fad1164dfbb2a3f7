import path from 'node:path';
import { DEADLINE_MS } from './deadline';
import type { Journal } from './journal';
import { PostgresJournal } from './postgres-journal';
import { SqliteJournal } from './sqlite-journal';

/**
 * Opens the journal of an address: `file:<path>` or `postgres://…`. A file that cannot be opened rejects; a database
 * that cannot be reached does not: the gateway starts without it and refuses creates until it is there.
 * @param deadlineMs how long anything asked of it may take
 */
export async function openJournal(url: string, deadlineMs = DEADLINE_MS): Promise<Journal> {
  if (url.startsWith('file:')) return SqliteJournal.open(path.resolve(url.slice('file:'.length)), deadlineMs);
  const journal = new PostgresJournal(url, deadlineMs);
  // Connecting and making the tables now spares the first callers the wait.
  await journal.ping().catch(() => undefined);
  return journal;
}
