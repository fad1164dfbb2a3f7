import type { Caller } from '../auth/caller';
import type { AttemptOperations } from '../core/attempts';
import type { PaymentResource } from '../schema/payment';
import type {
  ConfirmPaymentInput,
  ConfirmPaymentResult,
  CreatePaymentInput,
  CreatePaymentResult,
} from '../schema/payment-mutations';
import type { PayoutResource } from '../schema/payout';
import type { CreatePayoutInput, CreatePayoutResult } from '../schema/payout-mutations';
import type { AuditedCall } from './audit-mutations';
import type { VisibleTransactions } from './visible-transactions';

/** Payment operations bound to a caller and its scopes. */
export interface CallerPayments {
  create(input: CreatePaymentInput): Promise<CreatePaymentResult>;
  confirm(input: ConfirmPaymentInput): Promise<ConfirmPaymentResult>;
}

/** Payout operations bound to a caller. */
export interface CallerPayouts {
  create(input: CreatePayoutInput): Promise<CreatePayoutResult>;
}

/**
 * What every resolver of one GraphQL operation shares. Nothing in it leads to a transaction past the caller's rights: a new
 * root field has them checked without doing anything for it.
 */
export interface OperationContext {
  /** Names this request in logs and errors. */
  requestId: string;
  /** Who is calling: keys and attempts are its own. */
  caller: Caller;
  /** Carries a call out that moves money, and records who made it and how it ended. */
  audited: AuditedCall;
  payments: CallerPayments;
  payouts: CallerPayouts;
  attempts: AttemptOperations;
  /** Says that something has changed: what this operation looked up before counts no more. */
  invalidateLoaders(): void;
  /** The payments that exist for the caller; one service call per distinct payment of the operation. */
  visiblePayments: VisibleTransactions<PaymentResource>;
  /** The payouts that exist for the caller; one service call per distinct payout of the operation. */
  visiblePayouts: VisibleTransactions<PayoutResource>;
}
