import { ObjectType } from 'type-graphql';
import { Node } from '../node';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletFields, BangladeshWalletPayment, bangladeshWallet } from './bangladesh-wallet';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, walletPayout } from './wallet-account';

@ObjectType({ implements: [PaymentResource, Node], description: 'A payment by Rocket (spec 2.5).' })
@BangladeshWalletFields()
export class RocketPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a Rocket account (spec 2.8).' })
export class RocketPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

export const rocket: MethodDefinition = {
  payment: bangladeshWallet({ name: 'ROCKET', type: 'rocket', title: 'Rocket', payment: RocketPayment }),
  payout: walletPayout({
    name: 'ROCKET',
    type: 'rocket',
    field: 'rocket',
    title: 'Rocket wallet (Bangladesh)',
    currency: 'BDT',
    payout: RocketPayout,
  }),
};
