import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PAYMENT_STATUSES, statusIn } from './expectations';
import { CALLBACK_URL, changed, created, paymentRequest, type Flow, type PaymentType } from './samples';
import { ENDPOINTS, type Obligations, type Run } from './service';

/** Expects 400 for an otherwise valid create with `value` at `path`; undefined removes the field. */
export const refuses =
  (path: string, value?: unknown, type: PaymentType = 'card', flow?: Flow): Run =>
  async (service) => {
    const request = changed(paymentRequest(service, type, { flow }), path, value);
    (await service.create('payment', request)).having(400);
  };

const accepts =
  (path: string, value?: unknown): Run =>
  async (service) =>
    void (await created(service, 'payment', changed(paymentRequest(service, 'card'), path, value)));

const refusesBody =
  (body: string): Run =>
  async (service) => {
    (await service.call(ENDPOINTS.createPayment, body)).having(400);
    (await service.call(ENDPOINTS.createPayout, body)).having(400);
  };

/** Requirements of spec 2.1 to 2.5, 4.4 and 7.1. */
export const paymentCreateObligations: Obligations = {
  'PAY-001': async (service) =>
    void statusIn(await created(service, 'payment', paymentRequest(service, 'card')), PAYMENT_STATUSES),
  'PAY-002': async (service) => {
    const body = changed(paymentRequest(service, 'card'), 'external_id');
    const first = await created(service, 'payment', body);
    const second = await created(service, 'payment', body);
    assert.notEqual(first.transaction_id, second.transaction_id);
  },
  'PAY-003': async (service) => {
    const response = await service.create('payment', paymentRequest(service, 'card'));
    assert.match(response.having(201).contentType, /^application\/json\b/);
  },
  'PAY-004': async (service) => {
    const external_id = `order-${randomUUID()}`;
    const body = { ...changed(paymentRequest(service, 'card'), 'amount'), external_id };
    (await service.create('payment', body)).having(400);
    (await service.lookUp('payment', { external_id })).refused();
  },
  'PAY-010': refuses('channel'),
  'PAY-011': refuses('amount'),
  'PAY-012': refuses('amount.currency'),
  'PAY-013': refuses('amount.value'),
  'PAY-014': refuses('payment_method'),
  'PAY-015': refuses('payment_method.type'),
  'PAY-016': refuses('channel', 'shop'),
  'PAY-017': refuses('amount.value', 25),
  'PAY-018': refuses('amount.value', 'many'),
  'PAY-019': refuses('amount.value', '25'),
  'PAY-020': refuses('amount.value', '25.001'),
  'PAY-021': refuses('amount.value', '25,00'),
  'PAY-022': refuses('amount.value', '-25.00'),
  'PAY-023': refuses('amount.currency', 'EURO', 'scheme'),
  'PAY-024': refuses('amount', '25.00'),
  'PAY-025': refuses('payment_method', 'card'),
  'PAY-026': refuses('payment_method.type', 'carrier_pigeon'),
  'PAY-027': refuses('external_id', 17),
  'PAY-030': refusesBody(''),
  'PAY-031': refusesBody('{"channel":'),
  'PAY-032': refusesBody('[]'),
  'PAY-033': refusesBody('null'),
  'PAY-034': refusesBody('channel=1&amount=25.00'),
  'PAY-040': accepts('external_id'),
  'PAY-041': accepts('return_url'),
  'PAY-042': accepts('callback_url', CALLBACK_URL),
  'PAY-043': accepts('description', 'Order 5 · заказ'),
};
