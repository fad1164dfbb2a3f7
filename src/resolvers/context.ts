import type { Caller } from '../access/caller';
import type { AuditedCall } from './audited';
import type { LookupKey } from '../datasources/service/client';
import type { AttemptOperations } from '../operations/attempt-operations';
import type { PaymentOperations } from '../operations/payment-operations';
import type { PayoutOperations } from '../operations/payout-operations';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';

/** Looks transactions up; throws an AccessError for a channel that is not the caller's. */
export interface Lookups<T> {
  load(key: LookupKey): Promise<T | null>;
}

/** What every resolver of one GraphQL operation shares. */
export interface OperationContext {
  /** Names this request in logs and errors. */
  requestId: string;
  /** Who is calling: keys and attempts are its own. */
  caller: Caller;
  /** Carries a call out that moves money, and records who made it and how it ended. */
  audited: AuditedCall;
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  /** Says that something has changed: what this operation looked up before counts no more. */
  changed(): void;
  /** One service call per distinct payment of the operation. */
  paymentLookups: Lookups<PaymentResource>;
  /** One service call per distinct payout of the operation. */
  payoutLookups: Lookups<PayoutResource>;
}
