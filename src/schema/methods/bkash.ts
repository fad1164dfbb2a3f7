import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletPayment, WalletPayout, bangladeshWallet } from './wallets';

@ObjectType({ implements: PaymentResource, description: 'A payment by bKash (spec 2.5).' })
export class BkashPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bKash account (spec 2.8).' })
export class BkashPayout extends WalletPayout {}

export const bkash = bangladeshWallet({
  type: 'bkash',
  brand: 'bKash',
  paymentClass: BkashPayment,
  payoutClass: BkashPayout,
});
