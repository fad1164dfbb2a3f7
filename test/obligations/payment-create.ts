import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PAYMENT_STATUSES, objectIn, statusIn } from './expectations';
import type { Level, Obligation } from './obligation';
import { CALLBACK_URL, created, paymentRequest, without, type PaymentType } from './samples';
import { ENDPOINTS } from './service';
import { type WireObject } from './wire';

/** The request with a part of it, such as its amount, changed. */
export function withPart(request: WireObject, part: string, changes: WireObject): WireObject {
  return { ...request, [part]: { ...objectIn(request, part), ...changes } };
}

export function withoutPart(request: WireObject, part: string, field: string): WireObject {
  return { ...request, [part]: without(objectIn(request, part), field) };
}

/** A create request that spoils a good one. */
export interface BadRequest {
  id: string;
  level?: Level;
  spec?: string;
  says: string;
  /** The method of the good payment: card, unless another shows the fault better. */
  type?: PaymentType;
  spoil(request: WireObject): WireObject;
}

const BAD_REQUESTS: BadRequest[] = [
  { id: 'PAY-010', says: 'a payment without channel', spoil: (good) => without(good, 'channel') },
  { id: 'PAY-011', says: 'a payment without amount', spoil: (good) => without(good, 'amount') },
  {
    id: 'PAY-012',
    says: 'a payment without amount.currency',
    spoil: (good) => withoutPart(good, 'amount', 'currency'),
  },
  {
    id: 'PAY-013',
    says: 'a payment without amount.value',
    spoil: (good) => withoutPart(good, 'amount', 'value'),
  },
  {
    id: 'PAY-014',
    says: 'a payment without payment_method',
    spoil: (good) => without(good, 'payment_method'),
  },
  {
    id: 'PAY-015',
    says: 'a payment without payment_method.type',
    spoil: (good) => withoutPart(good, 'payment_method', 'type'),
  },
  { id: 'PAY-016', says: 'a channel that is not a UUID', spoil: (good) => ({ ...good, channel: 'shop' }) },
  {
    id: 'PAY-017',
    spec: '2.2',
    says: 'an amount.value that is a number',
    spoil: (good) => withPart(good, 'amount', { value: 25 }),
  },
  {
    id: 'PAY-018',
    spec: '2.2',
    says: 'an amount.value that is no decimal number',
    spoil: (good) => withPart(good, 'amount', { value: 'many' }),
  },
  {
    id: 'PAY-019',
    spec: '2.2',
    says: 'an amount.value without decimals',
    spoil: (good) => withPart(good, 'amount', { value: '25' }),
  },
  {
    id: 'PAY-020',
    spec: '2.2',
    says: 'an amount.value with three decimals',
    spoil: (good) => withPart(good, 'amount', { value: '25.001' }),
  },
  {
    id: 'PAY-021',
    spec: '2.2',
    says: 'an amount.value with a decimal comma',
    spoil: (good) => withPart(good, 'amount', { value: '25,00' }),
  },
  {
    id: 'PAY-022',
    spec: '2.2',
    level: 'SHOULD',
    says: 'a negative amount.value',
    spoil: (good) => withPart(good, 'amount', { value: '-25.00' }),
  },
  {
    id: 'PAY-023',
    spec: '2.2',
    says: 'an amount.currency that is no ISO 4217 code',
    type: 'scheme',
    spoil: (good) => withPart(good, 'amount', { currency: 'EURO' }),
  },
  { id: 'PAY-024', says: 'an amount that is not an object', spoil: (good) => ({ ...good, amount: '25.00' }) },
  {
    id: 'PAY-025',
    says: 'a payment_method that is not an object',
    spoil: (good) => ({ ...good, payment_method: 'card' }),
  },
  {
    id: 'PAY-026',
    spec: '2.5',
    level: 'SHOULD',
    says: 'an unknown payment_method.type',
    spoil: (good) => withPart(good, 'payment_method', { type: 'carrier_pigeon' }),
  },
  {
    id: 'PAY-027',
    level: 'SHOULD',
    says: 'an external_id that is a number',
    spoil: (good) => ({ ...good, external_id: 17 }),
  },
];

const badRequests = BAD_REQUESTS.map(
  ({ id, level = 'MUST', spec = '2.4, 4.4', says, type = 'card', spoil }): Obligation => ({
    id,
    level,
    says: `answer 400 to ${says}`,
    spec,
    run: async (service) => {
      (await service.create('payment', spoil(paymentRequest(service, type)))).having(400);
    },
  }),
);

/** Bodies that are no create request at all. */
const NO_OBJECTS: { id: string; says: string; body: string }[] = [
  { id: 'PAY-030', says: 'an empty body', body: '' },
  { id: 'PAY-031', says: 'a body that breaks off', body: '{"channel":' },
  { id: 'PAY-032', says: 'a body that is a JSON array', body: '[]' },
  { id: 'PAY-033', says: 'a body that is JSON null', body: 'null' },
  { id: 'PAY-034', says: 'a form instead of JSON', body: 'channel=1&amount=25.00' },
];

const noObjects = NO_OBJECTS.map(({ id, says, body }): Obligation => ({
  id,
  level: 'MUST',
  says: `answer 400 to ${says} on payment and payout creation`,
  spec: '7.1',
  run: async (service) => {
    (await service.call(ENDPOINTS.createPayment, body)).having(400);
    (await service.call(ENDPOINTS.createPayout, body)).having(400);
  },
}));

const OPTIONAL: { id: string; says: string; change(good: WireObject): WireObject }[] = [
  { id: 'PAY-040', says: 'without external_id', change: (good) => without(good, 'external_id') },
  { id: 'PAY-041', says: 'without return_url', change: (good) => without(good, 'return_url') },
  { id: 'PAY-042', says: 'with callback_url', change: (good) => ({ ...good, callback_url: CALLBACK_URL }) },
  {
    id: 'PAY-043',
    says: 'with description',
    change: (good) => ({ ...good, description: 'Order 5 · заказ' }),
  },
];

const optional = OPTIONAL.map(({ id, says, change }): Obligation => ({
  id,
  level: 'MUST',
  says: `accept a payment ${says}`,
  spec: '2.4',
  run: async (service) => {
    await created(service, 'payment', change(paymentRequest(service, 'card')));
  },
}));

export const paymentCreateObligations: Obligation[] = [
  {
    id: 'PAY-001',
    level: 'MUST',
    says: 'answer 201 with status and transaction_id to a redirect create',
    spec: '2.3, 4.4',
    run: async (service) => {
      const payment = await created(service, 'payment', paymentRequest(service, 'card'));
      statusIn(payment, PAYMENT_STATUSES);
    },
  },
  {
    id: 'PAY-002',
    level: 'MUST',
    says: 'give every payment a transaction_id of its own',
    spec: '2.1',
    run: async (service) => {
      const body = without(paymentRequest(service, 'card'), 'external_id');
      const first = await created(service, 'payment', body);
      const second = await created(service, 'payment', body);
      assert.notEqual(first.transaction_id, second.transaction_id);
    },
  },
  {
    id: 'PAY-003',
    level: 'SHOULD',
    says: 'answer a create with the content type of JSON',
    spec: '1',
    run: async (service) => {
      const answer = await service.create('payment', paymentRequest(service, 'card'));
      assert.match(answer.having(201).contentType, /^application\/json\b/);
    },
  },
  {
    id: 'PAY-004',
    level: 'MUST',
    says: 'not keep a payment that it refused with 400',
    spec: '7.1',
    run: async (service) => {
      const externalId = `order-${randomUUID()}`;
      const body = { ...without(paymentRequest(service, 'card'), 'amount'), external_id: externalId };
      (await service.create('payment', body)).having(400);
      (await service.lookUp('payment', { external_id: externalId })).refused();
    },
  },
  ...badRequests,
  ...noObjects,
  ...optional,
];
