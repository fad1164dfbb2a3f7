import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { ServiceField } from '../lazy-field';
import { passThrough } from '../../redaction/text';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, WalletAccountInput, walletPayout } from './wallet-account';

@ObjectType({ implements: PaymentResource, description: 'A payment by JazzCash (spec 2.5).' })
export class JazzCashPayment extends PaymentResource {
  @ServiceField("The payer's account number at the wallet; null in the redirect flow.", { read: passThrough })
  account?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a JazzCash account (spec 2.8).' })
export class JazzCashPayout extends PayoutResource {
  @AccountMaskField()
  accountMask?: string | null;
}

export const jazzCash: MethodDefinition = {
  payment: {
    name: 'JAZZ_CASH',
    type: 'jazz_cash',
    description: 'JazzCash wallet (Pakistan).',
    payment: JazzCashPayment,
    currency: 'PKR',
    redirect: 'The payer gives the account on the hosted page.',
    input: {
      arm: 'jazzCash',
      input: WalletAccountInput,
      description: 'JazzCash wallet, its account given. PKR.',
    },
    sandbox: {
      type: 'jazz_cash',
      currency: 'PKR',
      redirect: [],
      direct: { required: ['account'] },
      echo: ['account'],
    },
  },
  payout: walletPayout({
    name: 'JAZZ_CASH',
    type: 'jazz_cash',
    arm: 'jazzCash',
    title: 'JazzCash wallet (Pakistan).',
    currency: 'PKR',
    payout: JazzCashPayout,
  }),
};
