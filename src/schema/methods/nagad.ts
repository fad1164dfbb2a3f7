import { ObjectType } from 'type-graphql';
import { Node } from '../node';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletFields, BangladeshWalletPayment, bangladeshWallet } from './bangladesh-wallet';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, walletPayout } from './wallet-account';

@ObjectType({ implements: [PaymentResource, Node], description: 'A payment by Nagad (spec 2.5).' })
@BangladeshWalletFields()
export class NagadPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a Nagad account (spec 2.8).' })
export class NagadPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

export const nagad: MethodDefinition = {
  payment: bangladeshWallet({ name: 'NAGAD', type: 'nagad', title: 'Nagad', payment: NagadPayment }),
  payout: walletPayout({
    name: 'NAGAD',
    type: 'nagad',
    field: 'nagad',
    title: 'Nagad wallet (Bangladesh)',
    currency: 'BDT',
    payout: NagadPayout,
  }),
};
