import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, WalletAccountField, walletPayment, walletPayout } from './wallet-account';

@ObjectType({ implements: PaymentResource, description: 'A payment by EasyPaisa (spec 2.5).' })
export class EasyPaisaPayment extends PaymentResource {
  @WalletAccountField() account?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to an EasyPaisa account (spec 2.8).' })
export class EasyPaisaPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

const wallet = {
  name: 'EASY_PAISA',
  type: 'easy_paisa',
  field: 'easyPaisa',
  title: 'EasyPaisa wallet (Pakistan)',
  currency: 'PKR',
};

export const easyPaisa: MethodDefinition = {
  payment: walletPayment({ ...wallet, payment: EasyPaisaPayment }),
  payout: walletPayout({ ...wallet, payout: EasyPaisaPayout }),
};
