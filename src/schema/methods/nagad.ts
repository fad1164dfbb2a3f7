import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletPayment, WalletPayout, bangladeshWallet } from './wallets';

@ObjectType({ implements: PaymentResource, description: 'A payment by Nagad (spec 2.5).' })
export class NagadPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a Nagad account (spec 2.8).' })
export class NagadPayout extends WalletPayout {}

export const nagad = bangladeshWallet({
  type: 'nagad',
  brand: 'Nagad',
  paymentClass: NagadPayment,
  payoutClass: NagadPayout,
});
