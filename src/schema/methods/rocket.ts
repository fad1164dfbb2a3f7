import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletPayment, WalletPayout, bangladeshWallet } from './wallets';

@ObjectType({ implements: PaymentResource, description: 'A payment by Rocket (spec 2.5).' })
export class RocketPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a Rocket account (spec 2.8).' })
export class RocketPayout extends WalletPayout {}

export const rocket = bangladeshWallet({
  type: 'rocket',
  brand: 'Rocket',
  paymentClass: RocketPayment,
  payoutClass: RocketPayout,
});
