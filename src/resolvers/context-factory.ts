import { restrictedTo, type Caller } from '../auth/caller';
import type { AuditEntry } from '../observability/audit/audit-log';
import { lookupLimit, type LookupLimit } from '../datasources/payment-service/coalesced-lookups';
import type { Operations } from '../core';
import type { AttemptOperations } from '../core/attempts';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';
import { withAudit, type AuditedCall } from './audit-mutations';
import type { CallerPayments, CallerPayouts, OperationContext } from './context';
import { VisibleTransactions } from './visible-transactions';

/** Who asks, and how. */
export interface Asking {
  requestId: string;
  caller: Caller;
  /** Where the request came from. */
  ip: string;
}

/**
 * What the resolvers of one operation share. Its loaders are made when they are first asked for: most operations need one
 * of them, those that watch none. No private names (#): Apollo works on a copy of it.
 */
class Context implements OperationContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly audited: AuditedCall;
  private limit: LookupLimit | undefined;
  private ofPayments: VisibleTransactions<PaymentResource> | undefined;
  private ofPayouts: VisibleTransactions<PayoutResource> | undefined;

  constructor(
    private readonly operations: Operations,
    record: (entry: AuditEntry) => void,
    { requestId, caller, ip }: Asking,
  ) {
    this.requestId = requestId;
    this.caller = caller;
    this.audited = withAudit(record, { who: caller.id, requestId, ip });
  }

  get payments(): CallerPayments {
    const { caller } = this;
    const { payments } = this.operations;
    const rights = {
      anyChannel: caller.channels === '*',
      createdBy: restrictedTo(caller, 'payments:confirm'),
    };
    return {
      create: (input) => payments.create(input, caller.id),
      confirm: (input) => payments.confirm(input, rights),
    };
  }

  get payouts(): CallerPayouts {
    return { create: (input) => this.operations.payouts.create(input, this.caller.id) };
  }

  get attempts(): AttemptOperations {
    return this.operations.attempts;
  }

  get visiblePayments(): VisibleTransactions<PaymentResource> {
    const { sights } = this.operations.payments;
    return (this.ofPayments ??= new VisibleTransactions({ ...this.shared(), kind: 'payment', sights }));
  }

  get visiblePayouts(): VisibleTransactions<PayoutResource> {
    const { sights } = this.operations.payouts;
    return (this.ofPayouts ??= new VisibleTransactions({ ...this.shared(), kind: 'payout', sights }));
  }

  invalidateLoaders(): void {
    this.ofPayments = undefined;
    this.ofPayouts = undefined;
  }

  private shared() {
    const { caller, operations } = this;
    this.limit ??= lookupLimit();
    return { caller, attempts: operations.attempts, limit: this.limit };
  }
}

/** Makes what the resolvers of one operation share; every operation gets its own. */
export type ContextFactory = (asking: Asking) => OperationContext;

export const contextFactory =
  (operations: Operations, record: (entry: AuditEntry) => void): ContextFactory =>
  (asking) =>
    new Context(operations, record, asking);
