import { DatabaseSync } from 'node:sqlite';
import { openJournal } from '../../../src/datasources/journal/open';
import { PATIENT_MS } from '../../support/patience';
import type { Answer, Order } from './other-process';

/** A process that does with a journal what its parent says. */

const url = process.argv[3] ?? '';
const opening = openJournal(url, PATIENT_MS);
const answer = (message: Answer): void => void process.send?.(message);

async function obey(order: Order): Promise<unknown> {
  const journal = await opening;
  switch (order.do) {
    case 'begin':
      return Promise.all(order.attempts.map((attempt) => journal.begin(attempt)));
    case 'begin one after the other':
      for (const attempt of order.attempts) {
        await journal.begin(attempt);
        answer({ begun: attempt.id });
      }
      return null;
    case 'begin and close at once': {
      const begins = Promise.all(order.attempts.map((attempt) => journal.begin(attempt)));
      process.disconnect();
      await Promise.all([begins, journal.close()]);
      return null;
    }
    case 'claim due':
      return journal.claimDue(order.claim, order.limit);
    case 'confirm':
      return Promise.all(order.claims.map((claim) => journal.beginConfirm(claim)));
    case 'hold the file': {
      const file = new DatabaseSync(url.slice('file:'.length));
      file.exec('BEGIN IMMEDIATE');
      setTimeout(() => file.close(), order.ms);
      return null;
    }
  }
}

process.on('message', (order: Order & { call: number }) => {
  obey(order).then(
    (result) => process.connected && answer({ call: order.call, result }),
    (error: unknown) => process.connected && answer({ call: order.call, error: String(error) }),
  );
});

opening.then(
  () => answer({ call: 0, result: null }),
  (error: unknown) => answer({ call: 0, error: String(error) }),
);
