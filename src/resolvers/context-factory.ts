import { requireChannel, type Caller } from '../access/caller';
import type { AuditEntry } from '../audit/audit-log';
import type { LookupKey } from '../datasources/service/client';
import { lookupLimit, operationLoader, type Loader, type LookupLimit } from '../datasources/service/lookups';
import type { Operations } from '../operations';
import type { AttemptOperations } from '../operations/attempt-operations';
import type { PaymentOperations } from '../operations/payment-operations';
import type { PayoutOperations } from '../operations/payout-operations';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';
import { auditedCalls, type AuditedCall } from './audited';
import type { Lookups, OperationContext } from './context';

/** Who asks, and how. */
export interface Asking {
  requestId: string;
  caller: Caller;
  /** Where the request came from. */
  ip: string;
}

/** Lets a caller look up on its own channels only, whatever way a key came here. */
const onOwnChannels = <T>(caller: Caller, lookups: Lookups<T>): Lookups<T> => ({
  load: (key: LookupKey) => {
    requireChannel(caller, key.channel);
    return lookups.load(key);
  },
});

/**
 * What the resolvers of one operation share. Its loaders are made when they are first asked for: most operations need one
 * of them, those that watch none. No private names (#): Apollo works on a copy of it.
 */
class Context implements OperationContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly audited: AuditedCall;
  private limit: LookupLimit | undefined;
  private ofPayments: Loader<PaymentResource> | undefined;
  private ofPayouts: Loader<PayoutResource> | undefined;

  constructor(
    private readonly operations: Operations,
    record: (entry: AuditEntry) => void,
    { requestId, caller, ip }: Asking,
  ) {
    this.requestId = requestId;
    this.caller = caller;
    this.audited = auditedCalls(record, { who: caller.id, requestId, ip });
  }

  get payments(): PaymentOperations {
    return this.operations.payments;
  }

  get payouts(): PayoutOperations {
    return this.operations.payouts;
  }

  get attempts(): AttemptOperations {
    return this.operations.attempts;
  }

  get paymentLookups(): Lookups<PaymentResource> {
    this.ofPayments ??= this.loader(({ payments }, key) => payments.sights.lookUp(key));
    return onOwnChannels(this.caller, this.ofPayments);
  }

  get payoutLookups(): Lookups<PayoutResource> {
    this.ofPayouts ??= this.loader(({ payouts }, key) => payouts.sights.lookUp(key));
    return onOwnChannels(this.caller, this.ofPayouts);
  }

  changed(): void {
    this.ofPayments = undefined;
    this.ofPayouts = undefined;
  }

  private loader<T>(lookUp: (operations: Operations, key: LookupKey) => Promise<T | null>): Loader<T> {
    this.limit ??= lookupLimit();
    return operationLoader((key) => lookUp(this.operations, key), this.limit);
  }
}

/** Makes what the resolvers of one operation share; every operation gets its own. */
export type ContextFactory = (asking: Asking) => OperationContext;

export const contextFactory =
  (operations: Operations, record: (entry: AuditEntry) => void): ContextFactory =>
  (asking) =>
    new Context(operations, record, asking);
