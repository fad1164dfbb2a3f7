import path from 'node:path';
import { DEADLINE_MS } from './deadline';
import type { Journal } from './journal';
import { faultOf, faultText, isPermanent } from './journal-error';
import { JournalOpenError } from './journal-open-error';
import { PostgresJournal } from './postgres/journal';
import { SqliteJournal } from './sqlite/journal';

/**
 * Opens the journal of an address: `file:<path>` or `postgres://…`. A database that cannot be reached now does not reject:
 * the gateway starts without it and refuses creates until it is there.
 * @param deadlineMs how long anything asked of it may take
 * @throws JournalOpenError where the file cannot be opened, or the database does not let the user in, is not there, or the
 * user lacks privileges
 */
export async function openJournal(url: string, deadlineMs = DEADLINE_MS): Promise<Journal> {
  if (url.startsWith('file:')) return SqliteJournal.open(path.resolve(url.slice('file:'.length)), deadlineMs);
  const journal = new PostgresJournal(url, deadlineMs);
  try {
    // Connecting and making the tables now spares the first callers the wait.
    await journal.ping();
  } catch (error) {
    const fault = faultOf(error);
    if (isPermanent(fault)) {
      await journal.close();
      throw new JournalOpenError(faultText(fault), error);
    }
  }
  return journal;
}
