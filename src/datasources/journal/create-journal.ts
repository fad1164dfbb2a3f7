import path from 'node:path';
import { DEADLINE_MS } from './deadline';
import type { Journal } from './journal';
import { describeJournalError, journalErrorText, isPermanent } from './journal-error';
import { JournalOpenError } from './journal-open-error';
import { PostgresJournal } from './postgres/journal';
import { SqliteJournal } from './sqlite/journal';

/**
 * Opens the journal at `file:<path>` or `postgres://…`. Resolves when the database is unreachable: the gateway then starts
 * and rejects creates until the journal is available.
 * @param deadlineMs time limit of a call
 * @throws JournalOpenError when retrying cannot help
 */
export async function openJournal(url: string, deadlineMs = DEADLINE_MS): Promise<Journal> {
  if (url.startsWith('file:')) return SqliteJournal.open(path.resolve(url.slice('file:'.length)), deadlineMs);
  const journal = new PostgresJournal(url, deadlineMs);
  try {
    // Connects and applies migrations before the first call.
    await journal.ping();
  } catch (error) {
    const fault = describeJournalError(error);
    if (isPermanent(fault)) {
      await journal.close();
      throw new JournalOpenError(journalErrorText(fault), error);
    }
  }
  return journal;
}
