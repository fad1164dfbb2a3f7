import type { NewAttempt } from '../../datasources/journal/journal';
import { notTriedError, ServiceError } from '../../datasources/payment-service/service-error';
import type { Transaction } from '../recovery/transaction-matcher';
import type { CreatePlan } from './create-plan';

const ABSENCE_NOT_PROVEN_MESSAGE =
  'The journal may have lost a create with this key, and a lookup at the payment service could not rule that out; this call sent nothing. Repeat it unchanged.';

/**
 * Throws `error` if it is a ServiceError. For any other error, and without an error, throws a ServiceError
 * (UNAVAILABLE).
 */
function throwAbsenceNotProven(error?: unknown): never {
  throw error instanceof ServiceError ? error : notTriedError(ABSENCE_NOT_PROVEN_MESSAGE);
}

/**
 * Looks up whether the journal has lost an attempt with this key that created a transaction. Throws a ServiceError if
 * the lookup fails or proves nothing. Results:
 * - `{ transaction }`: the transaction that the lost attempt created.
 * - `none`: no lost attempt with this key created a transaction, so the create can be sent.
 * - `conflict`: the transaction found has another method or amount, or is a payout that another attempt created.
 * - `external_id_taken`: returned instead of `conflict` for a payout if PAYOUT_PREFLIGHT is on.
 * @param attempt the new attempt, with the external id to look up
 * @param lostSince time in ms since 1970; a lost attempt cannot have created an older transaction
 */
export async function findCreateOfLostAttempt<T extends Transaction>(
  attempt: NewAttempt,
  { matcher, input, isExternalIdFree }: CreatePlan<T>,
  lostSince: number,
): Promise<{ transaction: T } | 'none' | 'conflict' | 'external_id_taken'> {
  // An external id derived from the idempotency key belongs to no other key, so its transaction is never too old.
  const minCreatedAt = input.externalId === null ? -Infinity : lostSince;
  const match = await matcher.find(attempt, minCreatedAt).catch(throwAbsenceNotProven);
  if (match.kind === 'found') return { transaction: match.transaction };
  if (match.kind === 'nothing') {
    const isAbsenceProven =
      match.isFromService && (await matcher.canFindKnownTransaction(attempt).catch(throwAbsenceNotProven));
    return isAbsenceProven ? 'none' : throwAbsenceNotProven();
  }
  if (match.reason === 'rival') throwAbsenceNotProven();
  if (isExternalIdFree) return 'external_id_taken';
  return match.reason === undefined ? 'conflict' : 'none';
}
