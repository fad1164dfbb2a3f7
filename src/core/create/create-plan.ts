import type { NewAttempt } from '../../datasources/journal/journal';
import type { PostOptions, BulkheadSlots } from '../../datasources/payment-service/client';
import type { MutationOutcome } from '../../datasources/payment-service/mapping/responses';
import type { CreateFailure } from '../../schema/mutations';
import { invalidInputError, type FieldError, type InvalidInputError } from '../../schema/user-errors';
import type { TransactionResource } from '../../schema/transaction';
import type { TransactionMatcher } from '../recovery/transaction-matcher';
import { fieldError } from '../validation/validate-input';
import type { CanonicalInput } from './keyed-hashes';

/** All that createOnce() needs to send a create, or to replay an earlier one with the same idempotency key. */
export interface CreatePlan<T extends TransactionResource> {
  client: string;
  idempotencyKey: string;
  /** Wire type of the payment or payout method. */
  methodType: string;
  input: CanonicalInput;
  /** Errors of the input. If there are any, nothing is sent, but an earlier create with this key can be replayed. */
  inputErrors: FieldError[];
  /** Details of the method that are safe to store and show. */
  publicDetails: object;
  matcher: TransactionMatcher<T>;
  /**
   * Preflight lookup: whether the service has no payout with this external id. Throws a ServiceError if that cannot be
   * determined. Undefined for payments, and for payouts if PAYOUT_PREFLIGHT is off. If undefined, the create reserves
   * no external id in the journal.
   */
  checkExternalIdFree?: ((externalId: string) => Promise<boolean>) | undefined;
  bulkheadSlots: BulkheadSlots;
  /** Sends the create. Repeats it only after a 401. Throws a ServiceError only if the service certainly did nothing. */
  send(attempt: Pick<NewAttempt, 'id' | 'externalId'>, options: PostOptions): Promise<MutationOutcome<T>>;
}

/** The result of a create. `replayed`: true if an earlier call created the transaction, or if a lookup found it. */
export type CreateResult<T> = { transaction: T; replayed: boolean } | CreateFailure;

const EXTERNAL_ID_TAKEN_MESSAGE =
  'must not have been used before on this channel: there is, or may be, a payout with this external id. Query payout(externalId) and attempts(externalId) first; if they return nothing, ask the operator of the gateway. Use another externalId only for a different payout.';

/** Returns the error for a payout whose external id another payout has or may have. */
export const externalIdTakenError = (): InvalidInputError =>
  invalidInputError([fieldError(['externalId'], 'unused', EXTERNAL_ID_TAKEN_MESSAGE)]);
