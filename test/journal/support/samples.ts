import { randomUUID } from 'node:crypto';
import {
  type Attempt,
  type AttemptClaim,
  type ConfirmClaim,
  type EndedConfirm,
  type ConfirmedInput,
  type Journal,
  type NewAttempt,
  type PurgeTarget,
} from '../../../src/datasources/journal/journal';
import { newAttemptId } from '../../../src/datasources/journal/stored-values';
import { BEGUN } from '../../simulation/journal-model';

/** Returns an attempt with unique ids, except for the given fields. */
export const newAttempt = (given: Partial<NewAttempt> = {}): NewAttempt => {
  const { service = randomUUID(), client = 'shop', key = randomUUID() } = given;
  return {
    id: newAttemptId({ service, client, key }),
    service,
    client,
    key,
    kind: 'payment',
    fingerprint: 'f1',
    channel: 'channel-1',
    method: 'bank_card',
    externalId: randomUUID(),
    currency: 'EUR',
    value: '10.00',
    publicDetails: '{"last4":"1111"}',
    reservesExternalId: false,
    owner: 'instance-1',
    leaseUntil: 5_000,
    startedAt: 1_000,
    serviceStartedAt: null,
    sendUntil: 4_000,
    fenceSince: 0,
    ...given,
  };
};

export const newPayout = (given: Partial<NewAttempt> = {}): NewAttempt =>
  newAttempt({ kind: 'payout', reservesExternalId: true, ...given });

export const newClaim = (service: string, given: Partial<AttemptClaim> = {}): AttemptClaim => ({
  service,
  owner: 'instance-2',
  now: 10_000,
  leaseUntil: 12_000,
  ...given,
});

export const newConfirm = (given: Partial<ConfirmClaim> = {}): ConfirmClaim => ({
  confirmId: randomUUID(),
  service: 'service-1',
  channel: 'channel-1',
  transactionId: randomUUID(),
  owner: 'instance-1',
  now: 1_000,
  leaseUntil: 5_000,
  inputHash: randomUUID(),
  ...given,
});

export const ENDED = {
  known: { outcome: 'known', confirmedInputs: [] },
  unknown: { outcome: 'unknown', confirmedInputs: [] },
} satisfies Record<string, EndedConfirm>;

export const confirmedBy = (
  { service, channel, transactionId, inputHash }: ConfirmClaim,
  given: Partial<ConfirmedInput> = {},
): ConfirmedInput => ({
  service,
  channel,
  transactionId,
  inputHash,
  status: 'processing',
  confirmedAt: 2_000,
  ...given,
});

/** Returns the journal's record of an attempt that has no outcome yet. */
export const asBegun = ({
  reservesExternalId: _,
  fenceSince: __,
  ...attempt
}: NewAttempt): Omit<Attempt, 'seq'> => ({ ...attempt, ...BEGUN });

export const OUTCOMES = {
  succeeded: { outcome: 'succeeded', transactionId: 'tx-1', wireStatus: 'CHECKOUT', settledAt: 3_000 },
  rejected: { outcome: 'rejected', settledAt: 3_000 },
  not_sent: { outcome: 'not_sent', settledAt: 3_000 },
  unknown: { outcome: 'unknown', nextRecheckAt: 6_000 },
} as const;

export async function begunAs(
  journal: Journal,
  outcome: keyof typeof OUTCOMES | 'in_progress',
  attempt: NewAttempt,
  end: { transactionId?: string } = {},
): Promise<NewAttempt> {
  await expect(journal.insertAttempt(attempt)).resolves.toEqual({ kind: 'started' });
  if (outcome === 'succeeded') await journal.recordOutcome(attempt.id, { ...OUTCOMES.succeeded, ...end });
  else if (outcome !== 'in_progress') await journal.recordOutcome(attempt.id, OUTCOMES[outcome]);
  return attempt;
}

export function tally(responses: readonly { kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of responses) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Purges step by step. Returns the number of deleted rows of each step. */
export async function purgeAll(
  journal: Journal,
  target: PurgeTarget,
  expiredBefore: number,
  limit = 100,
): Promise<number[]> {
  const deleted: number[] = [];
  for (let after: string | null = null; ;) {
    const progress = await journal.purgeStep({ target, expiredBefore, maxExaminedCount: limit, after });
    deleted.push(progress?.deletedCount ?? 0);
    after = progress?.endPosition ?? null;
    if (after === null) return deleted;
  }
}
