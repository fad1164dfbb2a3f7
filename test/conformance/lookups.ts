import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createsAt } from './auth';
import {
  PAYOUT_STATUSES,
  createDateIn,
  expectAbsent,
  expectAmount,
  expectFullPayment,
  objectIn,
  statusIn,
  textIn,
} from './expectations';
import { changed, created, createdPayment, named, PAYMENTS, paymentRequest, payoutRequest } from './samples';
import type { PaymentSample, PaymentType, PayoutType } from './samples';
import { each, ENDPOINTS, queryString, RESOURCES } from './service';
import type { Obligations, Resource, Run, Service, WireObject } from './service';

type Id = 'transaction_id' | 'external_id';

/** Creates a payment or payout with this external id. */
async function createdNamed(service: Service, resource: Resource, external_id = `order-${randomUUID()}`) {
  const request = named(service, resource, external_id);
  const { transaction_id, create_date } = await created(service, resource, request);
  return { request, create_date, ids: { transaction_id, external_id } };
}

const findsBy =
  (resource: Resource, ...by: Id[]): Run =>
  async (service) => {
    const { request, create_date, ids } = await createdNamed(service, resource);
    const sent = Object.fromEntries(by.map((id) => [id, ids[id]]));
    const found = (await service.lookUp(resource, sent)).having(200).body();
    assert.equal(found.transaction_id, ids.transaction_id, 'transaction_id');
    if (resource === 'payout') return void statusIn(found, PAYOUT_STATUSES);
    expectFullPayment(found, request);
    assert.equal(found.create_date, create_date, 'create_date');
  };

/** Expects that lookups find an external id that requires exact signing and decoding. */
const findsExternalId =
  (text: string): Run =>
  async (service) => {
    for (const resource of RESOURCES) {
      const { ids } = await createdNamed(service, resource, `${randomUUID()} ${text}`);
      const found = (await service.lookUp(resource, { external_id: ids.external_id })).having(200).body();
      assert.equal(found.transaction_id, ids.transaction_id);
    }
  };

const refuses =
  (query: (ids: Record<'channel' | Id, string>) => Record<string, string>): Run =>
  async (service) => {
    for (const resource of RESOURCES) {
      const { ids } = await createdNamed(service, resource);
      const sent = query({ channel: service.channel, ...ids });
      (await service.query(resource, queryString(sent))).having(400);
    }
  };

/** Expects these fields in the lookup of a server-to-server payment while the payer has to act. */
const showsWaiting =
  (type: PaymentType, ...fields: string[]): Run =>
  async (service) => {
    const { request, payment, id } = await createdPayment(service, type, { flow: 'direct' });
    const found = await service.found('payment', id);
    expectFullPayment(found, request);
    assert.equal(found.status, payment.status, 'status');
    const [before, now] = [objectIn(payment, 'payment_method'), objectIn(found, 'payment_method')];
    for (const field of ['state', ...fields]) assert.equal(textIn(now, field), before[field], field);
  };

/** Requirements of spec 2.5, 2.6, 3.3, 4.1, 4.3 and 7.1. */
export const lookupObligations: Obligations = {
  'LOOK-001': findsBy('payment', 'transaction_id'),
  'LOOK-002': findsBy('payment', 'external_id'),
  'LOOK-003': findsBy('payment', 'transaction_id', 'external_id'),
  'LOOK-004': findsBy('payout', 'transaction_id'),
  'LOOK-005': findsBy('payout', 'external_id'),
  'LOOK-006': findsBy('payout', 'transaction_id', 'external_id'),
  ...each({ 'order 5 of 7': 'LOOK-010', 'a&b=c&channel=1': 'LOOK-011', '1+1': 'LOOK-012' }, findsExternalId),
  ...each({ '100%': 'LOOK-013', '%20%2B%26': 'LOOK-014', '#7?x': 'LOOK-015' }, findsExternalId),
  ...each({ 'заказ №5': 'LOOK-016', '🧾👩‍👩‍👧': 'LOOK-017', '"\\"\'`': 'LOOK-018' }, findsExternalId),
  ...each({ '../a/b;c,d': 'LOOK-019', 'طلب 订单': 'LOOK-020', 'cafe\u0301': 'LOOK-021' }, findsExternalId),
  'LOOK-030': refuses(({ transaction_id }) => ({ transaction_id })),
  'LOOK-031': refuses(({ external_id }) => ({ external_id })),
  'LOOK-032': refuses(({ channel }) => ({ channel })),
  'LOOK-033': refuses(() => ({})),
  'LOOK-034': refuses(({ transaction_id }) => ({ channel: 'shop', transaction_id })),
  'LOOK-035': refuses(({ channel }) => ({ channel, transaction_id: '17' })),
  'LOOK-036': refuses(({ channel }) => ({ channel, external_id: '' })),
  'LOOK-040': showsWaiting('upi', 'upi_id', 'upi_link'),
  'LOOK-041': showsWaiting('dcb'),
  'LOOK-042': showsWaiting('c2c', 'card_number', 'recipient'),
  ...each({ bkash: 'LOOK-043', nagad: 'LOOK-044', rocket: 'LOOK-045' }, (type) =>
    showsWaiting(type, 'account'),
  ),
  'LOOK-050': async (service) => {
    const { id } = await createdPayment(service, 'card', { flow: 'direct' });
    const method = objectIn(await service.found('payment', id), 'payment_method');
    for (const field of ['user_agent', 'user_ip', 'card_mask', 'cardholder']) textIn(method, field);
  },
  'LOOK-051': async (service) => {
    const request = payoutRequest(service, 'bank_transfer');
    const { transaction_id } = await created(service, 'payout', request);
    assert.equal((await service.found('payout', transaction_id)).external_id, request.external_id);
  },
  'LOOK-052': async (service) => {
    for (const resource of RESOURCES) {
      (await service.lookUp(resource, { transaction_id: randomUUID() })).refused();
      (await service.lookUp(resource, { external_id: `none-${randomUUID()}` })).refused();
    }
  },
  'LOOK-053': async (service) => {
    for (const resource of RESOURCES) {
      const { transaction_id } = (await createdNamed(service, resource)).ids;
      (await service.lookUp(resource, { channel: randomUUID(), transaction_id })).refused();
    }
  },
  'LOOK-054': async (service) => {
    const payment = await createdPayment(service, 'card');
    const payout = await created(service, 'payout', payoutRequest(service, 'jazz_cash'));
    (await service.lookUp('payout', { transaction_id: payment.id })).refused();
    (await service.lookUp('payment', { transaction_id: payout.transaction_id })).refused();
  },
  'LOOK-055': async (service) => {
    const { id } = await createdPayment(service, 'upi');
    const found = await service.found('payment', id);
    expectAbsent(objectIn(found, 'payment_method'), 'state');
    expectAbsent(found, 'error');
  },
};

/** A currency that spec section 8 lists for no method. */
const FOREIGN = 'USD';

async function takesOnlyItsCurrency(service: Service, resource: Resource, request: WireObject) {
  await created(service, resource, request);
  (await service.create(resource, changed(request, 'amount.currency', FOREIGN))).having(400);
}

const paymentInItsCurrency =
  (type: PaymentType): Run =>
  async (service) => {
    const sample: PaymentSample = PAYMENTS[type];
    for (const flow of sample.direct ? (['redirect', 'direct'] as const) : (['redirect'] as const))
      await takesOnlyItsCurrency(service, 'payment', paymentRequest(service, type, { flow }));
  };

const payoutInItsCurrency =
  (type: PayoutType): Run =>
  (service) =>
    takesOnlyItsCurrency(service, 'payout', payoutRequest(service, type));

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
  ...each({ card: 'LIM-001', upi: 'LIM-002', jazz_cash: 'LIM-003' }, paymentInItsCurrency),
  ...each({ easy_paisa: 'LIM-004', virtual_account: 'LIM-005', qris: 'LIM-006' }, paymentInItsCurrency),
  ...each({ ewallet: 'LIM-007', c2c: 'LIM-008' }, paymentInItsCurrency),
  ...each({ imps: 'LIM-020', easy_paisa: 'LIM-021', jazz_cash: 'LIM-022' }, payoutInItsCurrency),
  ...each({ dcb: 'LIM-023', card: 'LIM-024', bkash: 'LIM-025' }, payoutInItsCurrency),
  ...each({ nagad: 'LIM-026', rocket: 'LIM-027' }, payoutInItsCurrency),
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
