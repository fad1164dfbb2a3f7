import assert from 'node:assert/strict';
import { confirmBody, isConfirmable } from './confirm';
import { decimalIn, expectFullPayment, expectAbsent, objectIn, expectAmount } from './expectations';
import { created, createdPayment, PAYMENTS, PAYOUTS, payoutRequest } from './samples';
import type { Flow, PaymentSample, PaymentType, PayoutType } from './samples';
import type { Obligations, Resource, Run, Service, WireObject } from './service';

/** Expects a declined resource (spec 7.2). `text` is the provider's text, for codes that pass it on. */
function expectDeclined(resource: WireObject, code?: string, text?: string): void {
  const message: unknown = expect.stringMatching(text ? new RegExp(`^${text}$`, 'i') : /./);
  expect(resource).toMatchObject({ error: { code, message } });
}

async function expectDeclinedPayout(service: Service, type: PayoutType, cents: string, ...error: string[]) {
  const request = payoutRequest(service, type, `25.${cents}`);
  const { transaction_id } = await created(service, 'payout', request);
  const failed = await service.reaching('payout', transaction_id, 'failed');
  expect(failed).toMatchObject({ method: type, external_id: request.external_id });
  expectDeclined(failed, ...error);
}

const declines = (ids: Record<Resource, string>, cents: string, ...error: string[]): Obligations => ({
  [ids.payment]: async (service) => {
    const { request, id } = await createdPayment(service, 'card', { flow: 'direct', value: `25.${cents}` });
    const failed = await service.reaching('payment', id, 'failed');
    expectFullPayment(failed, request);
    expectDeclined(failed, ...error);
  },
  [ids.payout]: (service) => expectDeclinedPayout(service, 'imps', cents, ...error),
});

/** Creates a payment, and confirms it if the flow requires that. */
async function acted(service: Service, type: PaymentType, options: { flow: Flow; value: string }) {
  const { request, id } = await createdPayment(service, type, options);
  if (options.flow === 'direct' && isConfirmable(type))
    (await service.confirm(confirmBody(type, id))).having(200, 201);
  return { request, id };
}

function typesOf(flow: Flow): PaymentType[] {
  const samples = Object.entries(PAYMENTS) as [PaymentType, PaymentSample][];
  return samples.filter(([, { direct }]) => flow === 'redirect' || direct).map(([type]) => type);
}

const PAYOUT_TYPES = Object.keys(PAYOUTS) as PayoutType[];

const declinesEvery =
  (flow: Flow): Run =>
  async (service) => {
    for (const type of typesOf(flow)) {
      const { id } = await acted(service, type, { flow, value: '25.01' });
      expectDeclined(await service.reaching('payment', id, 'failed'), 'DECLINED_GENERIC');
    }
  };

/** Expects that a payment of another amount becomes `mispaid` (spec 2.2 and 3.4). */
const mispays =
  (flow: Flow, cents: '70' | '71'): Run =>
  async (service) => {
    const { request, id } = await acted(service, 'c2c', { flow, value: `250.${cents}` });
    const found = await service.reaching('payment', id, 'mispaid');
    expectAmount(found, request);
    expectAbsent(found, 'error');
    const amount = objectIn(found, 'amount');
    const [value, received] = [decimalIn(amount, 'value'), decimalIn(amount, 'received')];
    assert(cents === '70' ? received < value : received > value, `received ${received} of ${value}`);
  };

const PROVIDER = 'PROVIDER_PROCESSING_FAILED';

export const outcomeObligations: Obligations = {
  ...declines({ payment: 'ERR-001', payout: 'ERR-021' }, '01', 'DECLINED_GENERIC'),
  ...declines({ payment: 'ERR-002', payout: 'ERR-022' }, '02', 'PERSONAL_DATA_NOT_PROVIDED'),
  ...declines({ payment: 'ERR-003', payout: 'ERR-023' }, '03', 'CARD_DATA_NOT_PROVIDED'),
  ...declines({ payment: 'ERR-004', payout: 'ERR-024' }, '04', 'BROWSER_DATA_NOT_PROVIDED'),
  ...declines({ payment: 'ERR-005', payout: 'ERR-025' }, '05', 'DECLINED_3DS_AUTHENTICATION_FAILED'),
  ...declines({ payment: 'ERR-006', payout: 'ERR-026' }, '51', PROVIDER, 'insufficient funds'),
  ...declines({ payment: 'ERR-007', payout: 'ERR-027' }, '54', PROVIDER, 'card expired'),
  ...declines({ payment: 'ERR-008', payout: 'ERR-028' }, '57', PROVIDER, 'transaction not permitted'),
  ...declines({ payment: 'ERR-009', payout: 'ERR-029' }, '59', PROVIDER, 'suspected fraud'),
  ...declines({ payment: 'ERR-010', payout: 'ERR-030' }, '60', PROVIDER, 'do not honor'),
  ...declines({ payment: 'ERR-011', payout: 'ERR-031' }, '61', PROVIDER, '3DS authentication error'),
  'ERR-040': declinesEvery('redirect'),
  'ERR-041': declinesEvery('direct'),
  'ERR-042': async (service) => {
    for (const type of PAYOUT_TYPES) await expectDeclinedPayout(service, type, '01', 'DECLINED_GENERIC');
  },
  'ERR-050': mispays('direct', '70'),
  'ERR-051': mispays('direct', '71'),
  'ERR-052': mispays('redirect', '70'),
  'ERR-053': mispays('redirect', '71'),
  'ERR-060': async (service) => {
    for (const type of typesOf('direct').filter((each) => !['virtual_account', 'qris'].includes(each))) {
      const { request, id } = await acted(service, type, { flow: 'direct', value: '25.00' });
      const completed = await service.reaching('payment', id, 'completed');
      expectFullPayment(completed, request);
      expectAbsent(completed, 'error');
      expectAbsent(objectIn(completed, 'amount'), 'received');
    }
  },
  'ERR-061': async (service) => {
    for (const type of PAYOUT_TYPES) {
      const { transaction_id } = await created(service, 'payout', payoutRequest(service, type));
      expectAbsent(await service.reaching('payout', transaction_id, 'completed'), 'error');
    }
  },
};
