import type { NewAttempt } from '../../../src/datasources/journal/journal';
import { openJournal } from '../../../src/datasources/journal/create-journal';
import { emit, serve } from '../../support/child-handlers';
import { JOURNAL_TIMEOUT_MS } from '../../support/timeouts';

/** A process that runs journal calls for its parent. */

const url = process.argv[3] ?? '';
const opening = openJournal(url, JOURNAL_TIMEOUT_MS);

const handlers = {
  begin: async (attempts: NewAttempt[]) => {
    const journal = await opening;
    return Promise.all(attempts.map((attempt) => journal.insertAttempt(attempt)));
  },
  beginOneByOne: async (attempts: NewAttempt[]) => {
    const journal = await opening;
    for (const attempt of attempts) {
      await journal.insertAttempt(attempt);
      emit(attempt.id);
    }
  },
};

export type JournalHandlers = typeof handlers;

serve(handlers, opening);
