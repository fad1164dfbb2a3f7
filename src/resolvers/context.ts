import type DataLoader from 'dataloader';
import type { LookupKey } from '../datasources/service/client';
import type { AttemptOperations } from '../operations/attempt-operations';
import type { PaymentOperations } from '../operations/payment-operations';
import type { PayoutOperations } from '../operations/payout-operations';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';

/** What every resolver of one GraphQL operation shares. */
export interface OperationContext {
  /** Names this request in logs and errors. */
  requestId: string;
  /** Names the caller: keys and attempts are its own. */
  client: string;
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  /** Says that something on a channel has changed: what was looked up before counts no more. */
  changed(channel: string): void;
  /** One service call per distinct payment of the operation. */
  paymentLookups: DataLoader<LookupKey, PaymentResource | null, string>;
  /** One service call per distinct payout of the operation. */
  payoutLookups: DataLoader<LookupKey, PayoutResource | null, string>;
}
