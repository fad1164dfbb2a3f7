import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createDateIn, expectAbsent, objectIn, expectAmount } from './expectations';
import { created, createdPayment, payoutRequest, type PaymentType } from './samples';
import { each, type Obligations, type Run, type Service, type ServiceResponse } from './service';
import type { WireObject } from './service';

const UTR = '412345678901';
/** A confirmation value that the sandbox approves later. */
const APPROVED_LATER = '111111';

/** Field and example of the confirmation value (spec 3.4, 4.5). A confirm of c2c has only `id`. */
const CONFIRMATION_VALUES = {
  upi: { utr: UTR },
  dcb: { code: '482913' },
  bkash: { transaction_id: '9AB7C6D5E4' },
  nagad: { transaction_id: '9AB7C6D5E4' },
  rocket: { transaction_id: '9AB7C6D5E4' },
  c2c: {},
} satisfies Partial<Record<PaymentType, Record<string, string>>>;

type Confirmable = keyof typeof CONFIRMATION_VALUES;

export const isConfirmable = (type: PaymentType): type is Confirmable => type in CONFIRMATION_VALUES;

/** Returns the body of a valid confirm; `given` replaces the confirmation value. */
export function confirmBody(type: Confirmable, id: string, given?: string): WireObject {
  const fields = Object.entries<string>(CONFIRMATION_VALUES[type]);
  return { id, ...Object.fromEntries(fields.map(([field, response]) => [field, given ?? response])) };
}

const waiting = (service: Service, type: PaymentType) => createdPayment(service, type, { flow: 'direct' });

/** Expects the short response with status `processing` (spec 2.3, 4.5). */
function expectProcessing(response: WireObject, id: string, type: PaymentType): void {
  const payment_method = { type, state: 'waiting_for_provider' };
  expect(response).toMatchObject({ status: 'processing', transaction_id: id, payment_method });
  expectAbsent(response, 'amount', 'error');
}

/** Expects the response for a payment that the confirm completed (spec 4.5). */
function expectCompleted(response: WireObject, payment: WireObject, request: WireObject): void {
  const { transaction_id, create_date } = payment;
  expect(response).toMatchObject({ status: 'completed', transaction_id, create_date });
  createDateIn(response);
  expectAmount(response, request);
  expectAbsent(response, 'payment_method', 'error');
}

/** Accepts the status codes of a lookup and of a create, because the specification gives none for a confirm. */
const accepted = (response: ServiceResponse): WireObject => response.having(200, 201).body();

const respondsShortly =
  (type: Confirmable): Run =>
  async (service) => {
    const { request, payment, id } = await waiting(service, type);
    const response = accepted(await service.confirm(confirmBody(type, id)));
    // For c2c, spec 3.4 shows only `processing`.
    if (type !== 'c2c' && response.status === 'completed') expectCompleted(response, payment, request);
    else expectProcessing(response, id, type);
  };

const staysWhilePending =
  (type: Confirmable): Run =>
  async (service) => {
    const { id } = await waiting(service, type);
    const response = accepted(await service.confirm(confirmBody(type, id, APPROVED_LATER)));
    expectProcessing(response, id, type);
    const waitingFor = { status: 'processing', payment_method: { state: 'waiting_for_provider' } };
    expect(await service.found('payment', id)).toMatchObject(waitingFor);
  };

const completes =
  (type: Confirmable): Run =>
  async (service) => {
    const { request, payment, id } = await waiting(service, type);
    expectCompleted(accepted(await service.confirm(confirmBody(type, id))), payment, request);
    const found = await service.found('payment', id);
    assert.equal(found.status, 'completed');
    expectAbsent(found, 'error');
  };

const requiresTheValue =
  (type: Confirmable): Run =>
  async (service) => {
    const { payment, id } = await waiting(service, type);
    const other = type === 'upi' ? { code: UTR } : { utr: UTR };
    (await service.confirm({ id })).refused();
    (await service.confirm({ id, ...other })).refused();
    const state = objectIn(await service.found('payment', id), 'payment_method').state;
    assert.equal(state, objectIn(payment, 'payment_method').state, 'the state moved');
  };

/** Expects any client error but 401, because the specification shows no errors of the confirm endpoint. */
const refuses =
  (body: (service: Service) => Promise<WireObject>): Run =>
  async (service) =>
    void (await service.confirm(await body(service))).refused();

/** Requirements of spec 3.4 and 4.5. */
export const confirmObligations: Obligations = {
  ...each({ upi: 'CNF-001', dcb: 'CNF-002', c2c: 'CNF-006' }, respondsShortly),
  ...each({ bkash: 'CNF-003', nagad: 'CNF-004', rocket: 'CNF-005' }, respondsShortly),
  ...each({ upi: 'CNF-030', dcb: 'CNF-031' }, requiresTheValue),
  ...each({ bkash: 'CNF-032', nagad: 'CNF-033', rocket: 'CNF-034' }, requiresTheValue),
  'CNF-040': refuses(async (service) => {
    await waiting(service, 'upi');
    return { utr: UTR };
  }),
  'CNF-041': refuses(async () => ({ id: '17', utr: UTR })),
  'CNF-042': refuses(async () => ({ id: randomUUID(), utr: UTR })),
  'CNF-043': refuses(async (service) => ({ id: (await createdPayment(service, 'upi')).id, utr: UTR })),
  'CNF-044': refuses(async (service) => ({ id: (await waiting(service, 'qris')).id })),
  'CNF-045': refuses(async (service) => ({ id: (await waiting(service, 'upi')).id, utr: Number(UTR) })),
  'CNF-046': refuses(async (service) => ({
    id: (await created(service, 'payout', payoutRequest(service, 'jazz_cash'))).transaction_id,
  })),
};

export const forcedConfirmObligations: Obligations = {
  ...each({ upi: 'CNF-010', dcb: 'CNF-011', c2c: 'CNF-015' }, staysWhilePending),
  ...each({ bkash: 'CNF-012', nagad: 'CNF-013', rocket: 'CNF-014' }, staysWhilePending),
  ...each({ upi: 'CNF-020', dcb: 'CNF-021' }, completes),
  ...each({ bkash: 'CNF-022', nagad: 'CNF-023', rocket: 'CNF-024' }, completes),
  'CNF-025': async (service) => {
    for (const type of ['upi', 'dcb'] as const) {
      const { request, id } = await waiting(service, type);
      const response = accepted(await service.confirm(confirmBody(type, id, APPROVED_LATER)));
      const { phone } = objectIn(response, 'payment_method');
      assert.equal(phone, objectIn(request, 'payment_method').phone, `phone of ${type}`);
    }
  },
  'CNF-050': async (service) => {
    const { id } = await waiting(service, 'upi');
    assert.equal(accepted(await service.confirm({ id, utr: UTR })).status, 'completed');
    (await service.confirm({ id, utr: UTR })).refused();
  },
};
