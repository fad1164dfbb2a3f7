import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { AccountPayment, WalletPayout, pakistanWallet } from './wallets';

@ObjectType({ implements: PaymentResource, description: 'A payment by JazzCash (spec 2.5).' })
export class JazzCashPayment extends AccountPayment {}

@ObjectType({ implements: PayoutResource, description: 'A payout to a JazzCash account (spec 2.8).' })
export class JazzCashPayout extends WalletPayout {}

export const jazzCash = pakistanWallet({
  type: 'jazz_cash',
  brand: 'JazzCash',
  paymentClass: JazzCashPayment,
  payoutClass: JazzCashPayout,
});
