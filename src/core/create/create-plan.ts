import type { NewAttempt } from '../../datasources/journal/journal';
import type { MoneySendOptions, SendQueue } from '../../datasources/payment-service/client';
import type { MutationOutcome } from '../../datasources/payment-service/mapping/responses';
import type { Transaction, TransactionMatcher } from '../recovery/transaction-matcher';
import type { CanonicalInput } from './fingerprint';

/** A validated create that is ready to be sent. */
export interface CreatePlan<T extends Transaction> {
  client: string;
  /** The idempotency key. */
  key: string;
  /** The method's wire type. */
  method: string;
  input: CanonicalInput;
  /** The method details that may be shown. */
  publicDetails: object;
  matcher: TransactionMatcher<T>;
  /** Preflight check that the service has no transaction with an external id; undefined: no preflight. */
  isExternalIdFree?: ((externalId: string) => Promise<boolean>) | undefined;
  queue: SendQueue;
  /** Sends the create once. Throws a ServiceError only if it is certain that the service did not act on it. */
  send(
    attempt: Pick<NewAttempt, 'id' | 'externalId'>,
    options: MoneySendOptions,
  ): Promise<MutationOutcome<T>>;
}

/** The result of a create for the caller. */
export type CreateResult<T> =
  | { kind: 'success'; found: T; replayed: boolean }
  | { kind: 'refused'; httpStatus: number; message: string }
  | { kind: 'external_id_taken' }
  /** `differing`: names of the parts of the input that differ from the journal. */
  | { kind: 'conflict'; differing: string[] }
  | { kind: 'in_progress' }
  | { kind: 'unknown'; externalId: string };

/** One try of a create. `fenceSince`: start of the fence that was known when it began. */
export interface Try {
  isLast: boolean;
  fenceSince: number;
}
