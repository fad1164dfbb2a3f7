import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { ServiceField } from '../lazy-field';
import { passThrough } from '../../redaction/text';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, WalletAccountInput, walletPayout } from './wallet-account';

@ObjectType({ implements: PaymentResource, description: 'A payment by EasyPaisa (spec 2.5).' })
export class EasyPaisaPayment extends PaymentResource {
  @ServiceField("The payer's account number at the wallet; null in the redirect flow.", { read: passThrough })
  account?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a EasyPaisa account (spec 2.8).' })
export class EasyPaisaPayout extends PayoutResource {
  @AccountMaskField()
  accountMask?: string | null;
}

export const easyPaisa: MethodDefinition = {
  payment: {
    name: 'EASY_PAISA',
    type: 'easy_paisa',
    description: 'EasyPaisa wallet (Pakistan).',
    payment: EasyPaisaPayment,
    currency: 'PKR',
    redirect: 'The payer gives the account on the hosted page.',
    input: {
      arm: 'easyPaisa',
      input: WalletAccountInput,
      description: 'EasyPaisa wallet, its account given. PKR.',
    },
    sandbox: {
      type: 'easy_paisa',
      currency: 'PKR',
      redirect: [],
      direct: { required: ['account'] },
      echo: ['account'],
    },
  },
  payout: walletPayout({
    name: 'EASY_PAISA',
    type: 'easy_paisa',
    arm: 'easyPaisa',
    title: 'EasyPaisa wallet (Pakistan).',
    currency: 'PKR',
    payout: EasyPaisaPayout,
  }),
};
