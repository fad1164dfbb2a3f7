import { restrictedTo, type Caller } from '../auth/caller';
import type { Operations } from '../core';
import type { AttemptOperations } from '../core/attempts';
import { lookupLimit, type LookupLimit } from '../datasources/payment-service/coalesced-lookups';
import type { AuditEntry } from '../observability/audit/audit-log';
import type { PaymentResource } from '../schema/payment';
import type { ConfirmPaymentInput, CreatePaymentInput } from '../schema/payment-mutations';
import type { PayoutResource } from '../schema/payout';
import type { CreatePayoutInput } from '../schema/payout-mutations';
import { withAudit, type AuditedCall } from './audit-mutations';
import { VisibleTransactions } from './visible-transactions';

/** An authenticated GraphQL request. */
export interface RequestIdentity {
  requestId: string;
  caller: Caller;
  /** The address of the client. */
  ip: string;
}

/**
 * The context of one GraphQL operation. It gives access to transactions within the rights of the caller only, so that a new
 * root field cannot bypass them. Loaders are created on first use. No #private members: Apollo Server copies the object.
 */
export class OperationContext {
  readonly requestId: string;
  /** Owner of idempotency keys and attempts. */
  readonly caller: Caller;
  /** Runs a mutation and writes its audit log entry. */
  readonly audited: AuditedCall;
  private limit: LookupLimit | undefined;
  private paymentLoader: VisibleTransactions<PaymentResource> | undefined;
  private payoutLoader: VisibleTransactions<PayoutResource> | undefined;

  constructor(
    private readonly operations: Operations,
    record: (entry: AuditEntry) => void,
    { requestId, caller, ip }: RequestIdentity,
  ) {
    this.requestId = requestId;
    this.caller = caller;
    this.audited = withAudit(record, { who: caller.id, requestId, ip });
  }

  /** Payment mutations of the caller. */
  get payments() {
    const { caller } = this;
    const { payments } = this.operations;
    const rights = {
      anyChannel: caller.channels === '*',
      createdBy: restrictedTo(caller, 'payments:confirm'),
    };
    return {
      create: (input: CreatePaymentInput) => payments.create(input, caller.id),
      confirm: (input: ConfirmPaymentInput) => payments.confirm(input, rights),
    };
  }

  /** Payout mutations of the caller. */
  get payouts() {
    const { caller } = this;
    const { payouts } = this.operations;
    return { create: (input: CreatePayoutInput) => payouts.create(input, caller.id) };
  }

  get attempts(): AttemptOperations {
    return this.operations.attempts;
  }

  /** The payments that the caller may read; looks up each of them once in an operation. */
  get visiblePayments(): VisibleTransactions<PaymentResource> {
    const { feed } = this.operations.payments;
    return (this.paymentLoader ??= new VisibleTransactions({ ...this.shared(), kind: 'payment', feed }));
  }

  /** The payouts that the caller may read; looks up each of them once in an operation. */
  get visiblePayouts(): VisibleTransactions<PayoutResource> {
    const { feed } = this.operations.payouts;
    return (this.payoutLoader ??= new VisibleTransactions({ ...this.shared(), kind: 'payout', feed }));
  }

  /** Discards earlier lookups of this operation after a mutation. */
  invalidateLoaders(): void {
    this.paymentLoader = undefined;
    this.payoutLoader = undefined;
  }

  private shared() {
    this.limit ??= lookupLimit();
    return { caller: this.caller, attempts: this.operations.attempts, limit: this.limit };
  }
}
