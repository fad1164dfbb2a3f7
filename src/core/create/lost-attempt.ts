import type { NewAttempt } from '../../datasources/journal/journal';
import { refusedByGatewayError, ServiceError } from '../../datasources/payment-service/service-error';
import type { CreatePlan } from './create-plan';
import type { TransactionResource } from '../../schema/transaction';

const ABSENCE_NOT_PROVEN_MESSAGE =
  'The journal may have lost a create with this key, and a lookup at the payment service could not rule that out; this call sent no create. Repeat it unchanged.';

/** Throws `error` if it is a ServiceError. For any other error, or none, throws a ServiceError (UNAVAILABLE). */
function throwAbsenceNotProven(error?: unknown): never {
  throw error instanceof ServiceError ? error : refusedByGatewayError(ABSENCE_NOT_PROVEN_MESSAGE);
}

/**
 * Looks up whether the journal has lost an attempt with this key that created a transaction. Throws a ServiceError if
 * the lookup fails or proves nothing. Results:
 * - `{ transaction }`: the transaction that the lost attempt created.
 * - `none`: no lost attempt with this key created a transaction, so the create can be sent.
 * - `conflict`: the transaction found has another method or amount, or is a payout that another attempt created.
 * - `external_id_taken`: returned instead of `conflict` for a payout if PAYOUT_PREFLIGHT is on.
 * @param attempt the new attempt, with the external id to look up
 * @param lostAttemptsSince time in ms since 1970; a lost attempt cannot have created an older transaction
 */
export async function findCreateOfLostAttempt<T extends TransactionResource>(
  attempt: NewAttempt,
  { matcher, input, checkExternalIdFree }: CreatePlan<T>,
  lostAttemptsSince: number,
): Promise<{ transaction: T } | 'none' | 'conflict' | 'external_id_taken'> {
  // An external id derived from the idempotency key belongs to no other key, so its transaction is never too old.
  const minCreatedAt = input.externalId === null ? -Infinity : lostAttemptsSince;
  const matchResult = await matcher.find(attempt, minCreatedAt).catch(throwAbsenceNotProven);
  if (matchResult.kind === 'found') return { transaction: matchResult.transaction };
  if (matchResult.kind === 'nothing') {
    const isAbsenceProven =
      matchResult.isFromService &&
      (await matcher.canFindKnownTransaction(attempt).catch(throwAbsenceNotProven));
    return isAbsenceProven ? 'none' : throwAbsenceNotProven();
  }
  if (matchResult.reason === 'rival') throwAbsenceNotProven();
  if (checkExternalIdFree) return 'external_id_taken';
  return matchResult.reason === undefined ? 'conflict' : 'none';
}
