import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectFullPayment, expectAbsent, objectIn, PAYOUT_STATUSES, statusIn, textIn } from './expectations';
import { created, createdPayment, named, payoutRequest, type PaymentType } from './samples';
import { each, queryString, RESOURCES, type Obligations, type Resource, type Run } from './service';

type Id = 'transaction_id' | 'external_id';

const findsBy =
  (resource: Resource, ...by: Id[]): Run =>
  async (service) => {
    const external_id = `order-${randomUUID()}`;
    const request = named(service, resource, external_id);
    const { transaction_id, create_date } = await created(service, resource, request);
    const sent = Object.fromEntries(by.map((id) => [id, { transaction_id, external_id }[id]]));
    const found = (await service.lookUp(resource, sent)).having(200).body();
    assert.equal(found.transaction_id, transaction_id, 'transaction_id');
    if (resource === 'payout') return void statusIn(found, PAYOUT_STATUSES);
    expectFullPayment(found, request);
    assert.equal(found.create_date, create_date, 'create_date');
  };

/** Expects that lookups find an external id that requires exact signing and decoding. */
const findsExternalId =
  (text: string): Run =>
  async (service) => {
    for (const resource of RESOURCES) {
      const external_id = `${randomUUID()} ${text}`;
      const { transaction_id } = await created(service, resource, named(service, resource, external_id));
      const found = (await service.lookUp(resource, { external_id })).having(200).body();
      assert.equal(found.transaction_id, transaction_id);
    }
  };

const refuses =
  (query: (ids: Record<'channel' | Id, string>) => Record<string, string>): Run =>
  async (service) => {
    for (const resource of RESOURCES) {
      const external_id = `order-${randomUUID()}`;
      const { transaction_id } = await created(service, resource, named(service, resource, external_id));
      const sent = query({ channel: service.channel, transaction_id, external_id });
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
  'LOOK-010': findsExternalId('order 5 of 7'),
  'LOOK-011': findsExternalId('a&b=c&channel=1'),
  'LOOK-012': findsExternalId('1+1'),
  'LOOK-013': findsExternalId('100%'),
  'LOOK-014': findsExternalId('%20%2B%26'),
  'LOOK-015': findsExternalId('#7?x'),
  'LOOK-016': findsExternalId('заказ №5'),
  'LOOK-017': findsExternalId('🧾👩‍👩‍👧'),
  'LOOK-018': findsExternalId('"\\"\'`'),
  'LOOK-019': findsExternalId('../a/b;c,d'),
  'LOOK-020': findsExternalId('طلب 订单'),
  'LOOK-021': findsExternalId('cafe\u0301'),
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
      const request = named(service, resource, `order-${randomUUID()}`);
      const { transaction_id } = await created(service, resource, request);
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
