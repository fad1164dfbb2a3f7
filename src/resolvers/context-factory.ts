import { requireChannel, type Caller } from '../access/caller';
import type { AuditEntry } from '../audit/audit-log';
import type { LookupKey } from '../datasources/service/client';
import { lookupLimit, operationLoader } from '../datasources/service/lookups';
import type { Operations } from '../operations';
import { auditedCalls } from './audited';
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

/** Makes what the resolvers of one operation share; every operation gets its own. */
export function contextFactory(
  { payments, payouts, attempts }: Operations,
  record: (entry: AuditEntry) => void,
): (asking: Asking) => OperationContext {
  return ({ requestId, caller, ip }) => {
    const limit = lookupLimit();
    const paymentLoader = operationLoader((key) => payments.lookUp(key), limit);
    const payoutLoader = operationLoader((key) => payouts.lookUp(key), limit);
    const changed = (): void => {
      paymentLoader.clearAll();
      payoutLoader.clearAll();
    };
    return {
      requestId,
      caller,
      audited: auditedCalls(record, { who: caller.id, requestId, ip }),
      payments,
      payouts,
      attempts,
      paymentLookups: onOwnChannels(caller, paymentLoader),
      payoutLookups: onOwnChannels(caller, payoutLoader),
      changed,
    };
  };
}
