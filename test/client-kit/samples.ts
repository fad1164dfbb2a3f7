import { randomUUID } from 'node:crypto';
import type { CreatePaymentInput, CreatePayoutInput } from '@paygraph/client';
import { CHANNEL } from '../support/gateway';

export const paymentInput = (changed: Partial<CreatePaymentInput> = {}): CreatePaymentInput => ({
  idempotencyKey: randomUUID(),
  channel: CHANNEL,
  amount: { currency: 'EUR', value: '10.00' },
  method: { redirect: 'CARD' },
  ...changed,
});

export const upiInput = (): CreatePaymentInput =>
  paymentInput({
    amount: { currency: 'INR', value: '500.00' },
    method: { upi: { firstName: 'Asha', phone: '919876543210' } },
  });

export const payoutInput = (changed: Partial<CreatePayoutInput> = {}): CreatePayoutInput => ({
  idempotencyKey: randomUUID(),
  channel: CHANNEL,
  amount: { currency: 'USD', value: '25.00' },
  externalId: `payout-${randomUUID()}`,
  method: {
    bankTransfer: {
      bankCode: 'DEUTDEFF',
      bankName: 'Sample Bank',
      accountNumber: '1234567890',
      firstName: 'Ada',
      lastName: 'Payee',
    },
  },
  ...changed,
});
