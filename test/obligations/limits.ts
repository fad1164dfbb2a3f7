import assert from 'node:assert/strict';
import { createDateIn, lacks, objectIn, sameAmount } from './expectations';
import type { Obligation } from './obligation';
import { withPart } from './payment-create';
import {
  created,
  PAYMENTS,
  paymentRequest,
  payoutRequest,
  type Flow,
  type PaymentSample,
  type PaymentType,
  type PayoutType,
} from './samples';
import { ENDPOINTS } from './service';

/** A currency that section 8 gives to no method. */
const FOREIGN = 'USD';

/** Spec section 8: the currency of a method stands in its sample. */
const PAYMENT_CURRENCIES: { id: string; type: PaymentType; currency: string }[] = [
  { id: 'LIM-001', type: 'card', currency: 'EUR' },
  { id: 'LIM-002', type: 'upi', currency: 'INR' },
  { id: 'LIM-003', type: 'jazz_cash', currency: 'PKR' },
  { id: 'LIM-004', type: 'easy_paisa', currency: 'PKR' },
  { id: 'LIM-005', type: 'virtual_account', currency: 'IDR' },
  { id: 'LIM-006', type: 'qris', currency: 'IDR' },
  { id: 'LIM-007', type: 'ewallet', currency: 'IDR' },
  { id: 'LIM-008', type: 'c2c', currency: 'KZT' },
];

const PAYOUT_CURRENCIES: { id: string; type: PayoutType; currency: string }[] = [
  { id: 'LIM-020', type: 'imps', currency: 'INR' },
  { id: 'LIM-021', type: 'easy_paisa', currency: 'PKR' },
  { id: 'LIM-022', type: 'jazz_cash', currency: 'PKR' },
  { id: 'LIM-023', type: 'dcb', currency: 'KZT' },
  { id: 'LIM-024', type: 'card', currency: 'KZT' },
  { id: 'LIM-025', type: 'bkash', currency: 'BDT' },
  { id: 'LIM-026', type: 'nagad', currency: 'BDT' },
  { id: 'LIM-027', type: 'rocket', currency: 'BDT' },
];

const paymentCurrencies = PAYMENT_CURRENCIES.map(({ id, type, currency }): Obligation => ({
  id,
  level: 'MUST',
  says: `take ${type} payments in ${currency} and answer 400 in another currency`,
  spec: '2.5, 8',
  run: async (service) => {
    const sample: PaymentSample = PAYMENTS[type];
    const flows: Flow[] = sample.direct ? ['redirect', 'direct'] : ['redirect'];
    for (const flow of flows) {
      const good = withPart(paymentRequest(service, type, { flow }), 'amount', { currency });
      await created(service, 'payment', good);
      (await service.create('payment', withPart(good, 'amount', { currency: FOREIGN }))).having(400);
    }
  },
}));

const payoutCurrencies = PAYOUT_CURRENCIES.map(({ id, type, currency }): Obligation => ({
  id,
  level: 'MUST',
  says: `take ${type} payouts in ${currency} and answer 400 in another currency`,
  spec: '2.8, 8',
  run: async (service) => {
    const good = withPart(payoutRequest(service, type), 'amount', { currency });
    await created(service, 'payout', good);
    (await service.create('payout', withPart(good, 'amount', { currency: FOREIGN }))).having(400);
  },
}));

export const limitObligations: Obligation[] = [
  ...paymentCurrencies,
  ...payoutCurrencies,
  {
    id: 'LIM-040',
    level: 'SHOULD',
    says: 'take dcb and wallet payments in more currencies than those of the examples',
    spec: '2.5, 8',
    run: async (service) => {
      for (const type of ['dcb', 'bkash', 'nagad', 'rocket'] satisfies PaymentType[]) {
        const request = paymentRequest(service, type);
        await created(service, 'payment', withPart(request, 'amount', { currency: FOREIGN }));
      }
    },
  },
  {
    id: 'LIM-041',
    level: 'MUST',
    says: 'accept a timestamp just under 5 minutes old and answer 401 to one just over',
    spec: '5 rule 1, 8',
    run: async (service) => {
      const body = JSON.stringify(paymentRequest(service, 'card'));
      const [young, old] = [service.timestamp(-285), service.timestamp(-315)];
      (await service.call(ENDPOINTS.createPayment, body, { timestamp: young })).having(201);
      (await service.call(ENDPOINTS.createPayment, body, { timestamp: old })).having(401);
    },
  },
  {
    id: 'LIM-042',
    level: 'MUST',
    says: 'answer amounts as strings, to the cent',
    spec: '1, 2.2',
    run: async (service) => {
      for (const value of ['25.10', '26.90', '130.00']) {
        const request = paymentRequest(service, 'card', { value });
        sameAmount(await created(service, 'payment', request), request);
      }
    },
  },
  {
    id: 'LIM-043',
    level: 'MUST',
    says: 'date a payment at the time of its creation',
    spec: '2.1, 2.3',
    run: async (service) => {
      const payment = await created(service, 'payment', paymentRequest(service, 'card'));
      const age = Math.abs(service.now() - Date.parse(createDateIn(payment)));
      assert(age < 300_000, `create_date is ${age} ms away`);
      lacks(objectIn(payment, 'amount'), 'received');
    },
  },
  {
    id: 'LIM-044',
    level: 'SHOULD',
    says: 'keep an amount that a double cannot hold',
    spec: '2.2',
    run: async (service) => {
      const request = paymentRequest(service, 'card', { value: '9007199254740993.00' });
      sameAmount(await created(service, 'payment', request), request);
    },
  },
  {
    id: 'LIM-050',
    level: 'SHOULD',
    says: 'refuse requests under another version than v1',
    spec: '9',
    run: async (service) => {
      const body = JSON.stringify(paymentRequest(service, 'card'));
      for (const path of ['api/v2/payment/', 'api/payment/']) {
        (await service.call({ method: 'POST', path }, body)).refused();
      }
    },
  },
];
