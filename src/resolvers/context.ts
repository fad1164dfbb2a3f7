import { creatorRestriction, type Caller } from '../auth/caller';
import type { Operations } from '../core';
import type { TransactionKind } from '../datasources/journal/journal';
import type { AuditEntry } from '../observability/audit/audit-log';
import type { ConfirmPaymentInput, CreatePaymentInput, CreatePayoutInput } from '../schema/mutations';
import { createAuditedRunner } from './audit-mutations';
import type { CallerBulkheads } from '../datasources/payment-service/http/resilience';
import { VisibleChanges } from './visible-changes';
import { createLookupBulkheadGetter, VisibleTransactions } from './visible-transactions';

/** The data of an authenticated GraphQL request from which an OperationContext is created. */
export interface RequestIdentity {
  requestId: string;
  caller: Caller;
  ip: string;
  /** Header Last-Event-ID of a request for server-sent events; absent if it was not sent. */
  lastEventId?: string | undefined;
}

/**
 * The context of one GraphQL operation. Gives resolvers access only to transactions and changes that the caller may
 * read, so a new root field cannot bypass the caller's rights. Exception: `attempts` gives access to all attempts, and
 * AttemptResolver restricts them to the caller's. Has no #private members, because Apollo Server copies the object.
 */
export class OperationContext {
  readonly requestId: string;
  /** The authenticated caller. Idempotency keys and attempts belong to its `id`. */
  readonly caller: Caller;
  /** Runs a mutation, and writes an audit entry about it even if the mutation throws. */
  readonly runAudited: ReturnType<typeof createAuditedRunner>;
  /** Header Last-Event-ID: id of the last event that a reconnecting client received; undefined without the header. */
  readonly lastEventId: string | undefined;
  /** Id of the subscription's latest event. Null before the first, and in subscriptions whose events have no ids. */
  latestEventId: string | null = null;
  /** Returns the bulkhead that limits concurrent lookups of payments and payouts together. */
  private readonly getLookupBulkhead = createLookupBulkheadGetter();
  private visibleTransactionsByKind: Partial<Record<TransactionKind, VisibleTransactions>> = {};

  constructor(
    private readonly operations: Operations,
    recordAuditEntry: (entry: AuditEntry) => void,
    { requestId, caller, ip, lastEventId }: RequestIdentity,
    private readonly callerBulkheads: CallerBulkheads,
  ) {
    this.requestId = requestId;
    this.caller = caller;
    this.lastEventId = lastEventId;
    this.runAudited = createAuditedRunner(recordAuditEntry, { who: caller.id, requestId, ip });
  }

  /** The payment mutations, executed for the caller. */
  get paymentMutations() {
    const { caller } = this;
    const { payments } = this.operations;
    const confirmRights = {
      callerId: caller.id,
      hasEveryChannel: caller.channels === '*',
      createdBy: creatorRestriction(caller, 'payments:confirm'),
    };
    return {
      create: (input: CreatePaymentInput) => payments.create(input, caller.id),
      confirm: (input: ConfirmPaymentInput) => payments.confirm(input, confirmRights),
    };
  }

  /** The payout mutations, executed for the caller. */
  get payoutMutations() {
    const { caller } = this;
    const { payouts } = this.operations;
    return { create: (input: CreatePayoutInput) => payouts.create(input, caller.id) };
  }

  get attempts() {
    return this.operations.attempts;
  }

  /** The changes of payments and payouts that the caller may read. */
  get changes(): VisibleChanges {
    return new VisibleChanges(this.caller, this.operations.changes);
  }

  /**
   * Returns the payments, or the payouts, that the caller may read. Results of lookups are cached until
   * discardCachedLookups() is called.
   */
  visibleTransactions(kind: TransactionKind): VisibleTransactions {
    const { caller, operations, getLookupBulkhead, callerBulkheads } = this;
    const { attempts } = operations;
    const { transactionFeed } = operations[`${kind}s`];
    return (this.visibleTransactionsByKind[kind] ??= new VisibleTransactions({
      kind,
      caller,
      transactionFeed,
      attemptOperations: attempts,
      getLookupBulkhead,
      callerBulkheads,
    }));
  }

  /**
   * Consumes one rate limit point of the caller for a lookup that an event of a subscription needs. Rejects with
   * RATE_LIMITED if none is left. Undefined for queries and mutations: the points for their lookups are consumed before
   * execution.
   */
  consumeLookupPoint: (() => Promise<void>) | undefined;

  /**
   * Discards the cached lookups of this operation. Must be called after a mutation, and before each change that a
   * subscription delivers: the cached results may be out of date.
   */
  discardCachedLookups(): void {
    this.visibleTransactionsByKind = {};
  }
}
