import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import type { MethodDefinition } from './method-definition';
import { AccountMaskField, WalletAccountField, walletPayment, walletPayout } from './wallet-account';

@ObjectType({ implements: PaymentResource, description: 'A payment by JazzCash (spec 2.5).' })
export class JazzCashPayment extends PaymentResource {
  @WalletAccountField() account?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a JazzCash account (spec 2.8).' })
export class JazzCashPayout extends PayoutResource {
  @AccountMaskField() accountMask?: string | null;
}

const wallet = {
  name: 'JAZZ_CASH',
  type: 'jazz_cash',
  field: 'jazzCash',
  title: 'JazzCash wallet (Pakistan)',
  currency: 'PKR',
};

export const jazzCash: MethodDefinition = {
  payment: walletPayment({ ...wallet, payment: JazzCashPayment }),
  payout: walletPayout({ ...wallet, payout: JazzCashPayout }),
};
