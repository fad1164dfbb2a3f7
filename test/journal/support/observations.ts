import { randomUUID } from 'node:crypto';
import type {
  ChangeRange,
  FollowLookupClaim,
  Observation,
  ObservedState,
  ChangeBatch,
} from '../../../src/datasources/journal/changes';
import type { Journal, NewAttempt } from '../../../src/datasources/journal/journal';
import { until } from '../../support/latch';
import { begunAs, newAttempt, OUTCOMES } from './samples';

export const CREATED: ObservedState = {
  status: 'PENDING',
  state: 'WAITING_FOR_CODE',
  received: null,
  isFinal: false,
  nextLookupAt: 5_000,
};

export const COMPLETED: ObservedState = {
  status: 'COMPLETED',
  state: null,
  received: null,
  isFinal: true,
  nextLookupAt: null,
};

export interface Created extends NewAttempt {
  transactionId: string;
}

/** Begins an attempt and records that it succeeded at 3,000 ms. @param observed null: the response is not known */
export async function created(
  journal: Journal,
  given: Partial<NewAttempt> = {},
  observed: ObservedState | null = CREATED,
): Promise<Created> {
  const attempt = await begunAs(journal, 'in_progress', newAttempt({ channel: randomUUID(), ...given }));
  const transactionId = randomUUID();
  const outcome = { ...OUTCOMES.succeeded, transactionId, ...(observed && { observedState: observed }) };
  await expect(journal.recordOutcome(attempt.id, outcome)).resolves.toBe(true);
  return { ...attempt, transactionId };
}

/** Returns what a lookup at 4,000 ms showed: PROCESSING, except for the given properties. */
export const observationOf = (
  { service, kind, channel, transactionId }: Created,
  given: Partial<Observation> = {},
): Observation => ({
  service,
  kind,
  channel,
  transactionId,
  status: 'PROCESSING',
  state: null,
  received: null,
  isFinal: false,
  nextLookupAt: 6_000,
  requestedAt: 4_000,
  observedAt: 4_100,
  ...given,
});

export const rangeOf = ({ service, channel }: NewAttempt, given: Partial<ChangeRange> = {}): ChangeRange => ({
  service,
  channel,
  clientByKind: { payment: null, payout: null },
  after: null,
  limit: 100,
  ...given,
});

export const statusesOf = ({ changes }: ChangeBatch): string[] => changes.map(({ status }) => status);

/**
 * Reads a page when no transaction in progress delays it. In PostgreSQL, transactions of other tests delay it too,
 * although they use other databases of the server.
 */
export const readPage = (journal: Journal, range: ChangeRange): Promise<ChangeBatch> =>
  until(
    () => journal.readChanges(range),
    ({ hasUnreadableChanges }) => !hasUnreadableChanges,
  );

export const claimOf = (
  { service }: NewAttempt,
  given: Partial<FollowLookupClaim> = {},
): FollowLookupClaim => ({
  service,
  now: 10_000,
  leaseUntil: 20_000,
  youngIfChangedAfter: 0,
  limit: 10,
  youngLimit: 5,
  ...given,
});
