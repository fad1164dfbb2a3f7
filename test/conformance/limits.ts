import assert from 'node:assert/strict';
import { createsAt } from './auth';
import { createDateIn, expectAbsent, objectIn, expectAmount } from './expectations';
import { changed, created, createdPayment, PAYMENTS, paymentRequest, payoutRequest } from './samples';
import type { PaymentSample, PaymentType, PayoutType } from './samples';
import { each, ENDPOINTS, type Obligations, type Resource, type Run, type Service } from './service';
import type { WireObject } from './wire';

/** A currency that spec section 8 lists for no method. */
const FOREIGN = 'USD';

async function takesOnly(service: Service, resource: Resource, currency: string, request: WireObject) {
  const good = changed(request, 'amount.currency', currency);
  await created(service, resource, good);
  (await service.create(resource, changed(good, 'amount.currency', FOREIGN))).having(400);
}

const paymentIn =
  (currency: string) =>
  (type: PaymentType): Run =>
  async (service) => {
    const sample: PaymentSample = PAYMENTS[type];
    for (const flow of sample.direct ? (['redirect', 'direct'] as const) : (['redirect'] as const))
      await takesOnly(service, 'payment', currency, paymentRequest(service, type, { flow }));
  };

const payoutIn =
  (currency: string) =>
  (type: PayoutType): Run =>
  (service) =>
    takesOnly(service, 'payout', currency, payoutRequest(service, type));

const keepsAmounts =
  (...values: string[]): Run =>
  async (service) => {
    for (const value of values) {
      const { request, payment } = await createdPayment(service, 'card', { value });
      expectAmount(payment, request);
    }
  };

/** Requirements of spec 2.1, 2.2, 5 rule 1, 8 and 9. */
export const limitObligations: Obligations = {
  'LIM-001': paymentIn('EUR')('card'),
  'LIM-002': paymentIn('INR')('upi'),
  ...each({ jazz_cash: 'LIM-003', easy_paisa: 'LIM-004' }, paymentIn('PKR')),
  ...each({ virtual_account: 'LIM-005', qris: 'LIM-006', ewallet: 'LIM-007' }, paymentIn('IDR')),
  'LIM-008': paymentIn('KZT')('c2c'),
  'LIM-020': payoutIn('INR')('imps'),
  ...each({ easy_paisa: 'LIM-021', jazz_cash: 'LIM-022' }, payoutIn('PKR')),
  ...each({ dcb: 'LIM-023', card: 'LIM-024' }, payoutIn('KZT')),
  ...each({ bkash: 'LIM-025', nagad: 'LIM-026', rocket: 'LIM-027' }, payoutIn('BDT')),
  'LIM-040': async (service) => {
    for (const type of ['dcb', 'bkash', 'nagad', 'rocket'] as const)
      await created(service, 'payment', changed(paymentRequest(service, type), 'amount.currency', FOREIGN));
  },
  'LIM-041': async (service) => {
    await createsAt(-285, 201)(service);
    await createsAt(-315, 401)(service);
  },
  'LIM-042': keepsAmounts('25.10', '26.90', '130.00'),
  'LIM-043': async (service) => {
    const { payment } = await createdPayment(service, 'card');
    const age = Math.abs(service.now() - Date.parse(createDateIn(payment)));
    assert(age < 300_000, `create_date is ${age} ms away`);
    expectAbsent(objectIn(payment, 'amount'), 'received');
  },
  'LIM-044': keepsAmounts('9007199254740993.00'),
  'LIM-050': async (service) => {
    const body = JSON.stringify(paymentRequest(service, 'card'));
    const endpoint = ENDPOINTS.createPayment;
    for (const path of ['api/v2/payment/', 'api/payment/'])
      (await service.call({ ...endpoint, path }, body)).refused();
  },
};
