import { NO_EVIDENCE, type Attempt, type NewAttempt } from '../../datasources/journal/journal';
import { notTriedError, ServiceError } from '../../datasources/payment-service/service-error';
import type { Transaction } from '../recovery/transaction-matcher';
import type { CreatePlan } from './create-plan';

const NOT_PROVEN_MESSAGE =
  'The journal may have lost a create with this key, and a lookup at the payment service could not rule that out; this call sent nothing. Repeat it unchanged.';

/** Throws `error` if it is a ServiceError; otherwise a ServiceError (UNAVAILABLE). */
function failNotProven(error?: unknown): never {
  throw error instanceof ServiceError ? error : notTriedError(NOT_PROVEN_MESSAGE);
}

/** Returns an attempt as the journal stores it at first, but with 0 as `seq`: in progress, without a transaction. */
export const asInProgress = (attempt: NewAttempt): Attempt => ({
  ...attempt,
  seq: 0,
  outcome: 'in_progress',
  transactionId: null,
  status: null,
  settledAt: null,
  nextRecheckAt: null,
  recheckCount: 0,
  absence: NO_EVIDENCE,
});

/**
 * Looks up the transaction that an attempt with this idempotency key may have created before the journal lost it.
 * `none`: there is no such transaction, so the create can be sent. `conflict`: a transaction with the external id does
 * not match this create, so the key may have been used with another input. `external_id_taken`: the preflight is on,
 * and a payout that may belong to another key has the external id. Throws a ServiceError if a lookup fails or proves
 * nothing.
 * @param lostSince earliest creation time of such a transaction, in ms since 1970
 */
export async function findCreateOfLostAttempt<T extends Transaction>(
  attempt: NewAttempt,
  { matcher, input, isExternalIdFree }: CreatePlan<T>,
  lostSince: number,
): Promise<{ found: T } | 'none' | 'conflict' | 'external_id_taken'> {
  const possibleAttempt = asInProgress(attempt);
  // An external id derived from the idempotency key belongs to no other key, so its transaction is never too old.
  const createdFrom = input.externalId === null ? -Infinity : lostSince;
  const match = await matcher.find(possibleAttempt, createdFrom).catch(failNotProven);
  if (match.kind === 'found') return { found: match.found };
  if (match.kind === 'nothing') {
    const isTrusted =
      match.isFromService && (await matcher.findsKnownTransaction(possibleAttempt).catch(failNotProven));
    return isTrusted ? 'none' : failNotProven();
  }
  if (match.why === 'rival') failNotProven();
  if (isExternalIdFree) return 'external_id_taken';
  return match.why === undefined ? 'conflict' : 'none';
}
