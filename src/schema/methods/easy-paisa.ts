import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { AccountPayment, WalletPayout, pakistanWallet } from './wallets';

@ObjectType({ implements: PaymentResource, description: 'A payment by EasyPaisa (spec 2.5).' })
export class EasyPaisaPayment extends AccountPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to an EasyPaisa account (spec 2.8).' })
export class EasyPaisaPayout extends WalletPayout {}

export const easyPaisa = pakistanWallet({
  type: 'easy_paisa',
  brand: 'EasyPaisa',
  paymentClass: EasyPaisaPayment,
  payoutClass: EasyPaisaPayout,
});
