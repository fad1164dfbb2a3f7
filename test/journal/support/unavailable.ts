import { randomUUID } from 'node:crypto';
import type { Journal } from '../../../src/datasources/journal/journal';
import { classifyJournalError } from '../../../src/datasources/journal/journal-error';
import { until } from '../../support/latch';
import { claimOf, observationOf, rangeOf } from './observations';
import { ENDED, newAttempt, newClaim, newConfirm, OUTCOMES } from './samples';

/** The journal times out after 400 ms; the rest is allowance for a busy machine. */
export const LIMIT_MS = 10_000;

export const UNAVAILABLE = { name: 'JournalUnavailable' };

const CREATED_PAYMENT = { ...newAttempt(), transactionId: 'tx-1' };

export const WRITES: Record<string, (journal: Journal) => Promise<unknown>> = {
  begin: (journal) => journal.insertAttempt(newAttempt()),
  settle: (journal) => journal.recordOutcome(newAttempt().id, OUTCOMES.rejected),
  renew: (journal) => journal.renew('instance-1', 9_000, []),
  claim: (journal) => journal.claim(newAttempt().id, newClaim('service')),
  claimDue: (journal) => journal.claimDue(newClaim('service'), 10),
  beginConfirm: (journal) => journal.beginConfirm(newConfirm()),
  endConfirm: (journal) => journal.endConfirm(newConfirm().confirmId, ENDED.known),
  checkWrite: (journal) => journal.checkWrite(0),
  recordObservation: (journal) => journal.recordObservation(observationOf(CREATED_PAYMENT)),
  claimFollowed: (journal) => journal.claimFollowed(claimOf(CREATED_PAYMENT)),
  scheduleFollowed: (journal) =>
    journal.scheduleFollowed([{ followedId: 1, changedAt: 0, nextLookupAt: null, failures: 0 }]),
  purgeStep: (journal) =>
    journal.purgeStep({ target: 'attempts', expiredBefore: 1, maxExaminedCount: 10, after: null }),
};

export const READS: Record<string, (journal: Journal) => Promise<unknown>> = {
  find: (journal) => journal.find(newAttempt()),
  findByTransaction: (journal) => journal.findByTransaction('service', 'payment', 'tx-1'),
  confirmedInputs: (journal) => journal.confirmedInputs(newConfirm()),
  hasRival: (journal) => journal.hasRival(newAttempt()),
  findSucceededOnChannel: (journal) => journal.findSucceededOnChannel(newAttempt()),
  list: (journal) => journal.list({ service: 'service', client: 'shop', channel: 'channel-1', limit: 10 }),
  countUnknown: (journal) => journal.countUnknown('service'),
  mayBeFollowed: (journal) => journal.mayBeFollowed([randomUUID()]),
  countFollowed: (journal) => journal.countFollowed('service'),
  readChanges: (journal) => journal.readChanges(rangeOf(CREATED_PAYMENT)),
  newestChange: (journal) => journal.newestChange('service', 'channel-1'),
  findAny: (journal) => journal.findAny('service', 'name'),
  unknown: (journal) => journal.unknown('service', 10),
  ping: (journal) => journal.ping(),
};

export const EVERYTHING = Object.values({ ...WRITES, ...READS });

/** Returns the reason for which a call fails. */
export const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => classifyJournalError(error).reason,
  );

export async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await expect(work).rejects.toMatchObject(UNAVAILABLE);
  expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
}

type JournalCall = (journal: Journal) => Promise<unknown>;

const beginOne: JournalCall = (journal) => journal.insertAttempt(newAttempt());

/** Resolves when the journal accepts each of these calls again (default: a write). */
export async function recovered(journal: Journal, asks: readonly JournalCall[] = [beginOne]): Promise<void> {
  const isDone = (ask: JournalCall): Promise<boolean> =>
    ask(journal).then(
      () => true,
      () => false,
    );
  // Repeated, because on a busy machine a call may exceed the production timeout of a journal.
  for (const ask of asks) await until(() => isDone(ask));
}
