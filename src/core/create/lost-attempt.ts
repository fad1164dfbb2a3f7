import { NO_ABSENCE_EVIDENCE, type Attempt, type NewAttempt } from '../../datasources/journal/journal';
import { notTriedError, ServiceError } from '../../datasources/payment-service/service-error';
import type { Transaction } from '../recovery/transaction-matcher';
import type { CreatePlan } from './create-plan';

const NOT_PROVEN_MESSAGE =
  'The journal may have lost a create with this key, and a lookup at the payment service could not rule that out; this call sent nothing. Repeat it unchanged.';

/** Throws `error` if it is a ServiceError; otherwise a ServiceError (UNAVAILABLE). */
function throwNotProven(error?: unknown): never {
  throw error instanceof ServiceError ? error : notTriedError(NOT_PROVEN_MESSAGE);
}

/** Returns the attempt as stored by its insert, but with `seq` 0: in progress, and without a transaction. */
export const asInProgress = (attempt: NewAttempt): Attempt => ({
  ...attempt,
  seq: 0,
  outcome: 'in_progress',
  transactionId: null,
  status: null,
  settledAt: null,
  nextRecheckAt: null,
  recheckCount: 0,
  absence: NO_ABSENCE_EVIDENCE,
});

/**
 * Looks up whether an attempt that the journal may have lost has created a transaction. Throws a ServiceError if the
 * lookup fails or proves nothing. Results:
 * - `found`: the transaction that it created.
 * - `none`: it created none, so the create can be sent.
 * - `conflict`: the external id has a transaction that differs from this create, perhaps of the same key.
 * - `external_id_taken`: the external id has a payout, perhaps of another key. Only with PAYOUT_PREFLIGHT=on.
 * @param lostSince time in ms since 1970; a lost attempt cannot have created an older transaction
 */
export async function findCreateOfLostAttempt<T extends Transaction>(
  attempt: NewAttempt,
  { matcher, input, isExternalIdFree }: CreatePlan<T>,
  lostSince: number,
): Promise<{ found: T } | 'none' | 'conflict' | 'external_id_taken'> {
  const possibleAttempt = asInProgress(attempt);
  // An external id derived from the idempotency key belongs to no other key, so its transaction is never too old.
  const createdFrom = input.externalId === null ? -Infinity : lostSince;
  const match = await matcher.find(possibleAttempt, createdFrom).catch(throwNotProven);
  if (match.kind === 'found') return { found: match.found };
  if (match.kind === 'nothing') {
    const isTrusted =
      match.isFromService && (await matcher.findsKnownTransaction(possibleAttempt).catch(throwNotProven));
    return isTrusted ? 'none' : throwNotProven();
  }
  if (match.why === 'rival') throwNotProven();
  if (isExternalIdFree) return 'external_id_taken';
  return match.why === undefined ? 'conflict' : 'none';
}
