import { ObjectType } from 'type-graphql';
import { Node } from '../node';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { BangladeshWalletFields, BangladeshWalletPayment, bangladeshWallet } from './bangladesh-wallet';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, walletPayout } from './wallet-account';

@ObjectType({ implements: [PaymentResource, Node], description: 'A payment by bKash (spec 2.5).' })
@BangladeshWalletFields()
export class BkashPayment extends BangladeshWalletPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bKash account (spec 2.8).' })
export class BkashPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

export const bkash: MethodDefinition = {
  payment: bangladeshWallet({ name: 'BKASH', type: 'bkash', title: 'bKash', payment: BkashPayment }),
  payout: walletPayout({
    name: 'BKASH',
    type: 'bkash',
    field: 'bkash',
    title: 'bKash wallet (Bangladesh)',
    currency: 'BDT',
    payout: BkashPayout,
  }),
};
