import { requireChannel, type Caller } from '../access/caller';
import type { AuditEntry } from '../audit/audit-log';
import type { LookupKey } from '../datasources/service/client';
import { lookupLimit, operationLoader } from '../datasources/service/lookups';
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

type Loader<T> = ReturnType<typeof operationLoader<T>>;

interface Loaders {
  payments: Loader<PaymentResource>;
  payouts: Loader<PayoutResource>;
}

function loadersOf({ payments, payouts }: Operations): Loaders {
  const limit = lookupLimit();
  return {
    payments: operationLoader((key) => payments.sights.lookUp(key), limit),
    payouts: operationLoader((key) => payouts.sights.lookUp(key), limit),
  };
}

/**
 * What the resolvers of one operation share. Its loaders are made when they are first asked for: most operations need one
 * of them, those that watch none. No private names (#): Apollo works on a copy of it.
 */
class Context implements OperationContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly audited: AuditedCall;
  private loaders: Loaders | undefined;

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
    return onOwnChannels(this.caller, this.load().payments);
  }

  get payoutLookups(): Lookups<PayoutResource> {
    return onOwnChannels(this.caller, this.load().payouts);
  }

  changed(): void {
    this.loaders = undefined;
  }

  private load(): Loaders {
    this.loaders ??= loadersOf(this.operations);
    return this.loaders;
  }
}

/** Makes what the resolvers of one operation share; every operation gets its own. */
export type ContextFactory = (asking: Asking) => OperationContext;

export const contextFactory =
  (operations: Operations, record: (entry: AuditEntry) => void): ContextFactory =>
  (asking) =>
    new Context(operations, record, asking);
