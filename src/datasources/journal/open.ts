import path from 'node:path';
import type { Journal } from './journal';
import { PostgresJournal } from './postgres-journal';
import { SqliteJournal } from './sqlite-journal';

/**
 * Opens the journal of an address: `file:<path>` or `postgres://…`. A file that cannot be opened rejects; a database
 * that cannot be reached does not: the gateway starts without it and refuses creates until it is there.
 */
export async function openJournal(url: string): Promise<Journal> {
  if (url.startsWith('file:')) return SqliteJournal.open(path.resolve(url.slice('file:'.length)));
  const journal = new PostgresJournal(url);
  // Connecting and making the tables now spares the first callers the wait.
  await journal.ping().catch(() => undefined);
  return journal;
}
