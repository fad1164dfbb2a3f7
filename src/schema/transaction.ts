import type { PaymentResource } from './payment';
import type { PayoutResource } from './payout';

/** A transaction as one response shows it. `amount` and `createDate` are missing if the response lacks them. */
export type TransactionResource = PaymentResource | PayoutResource;
