import assert from 'node:assert/strict';
import { fullPayment, objectIn, textIn } from './expectations';
import type { Obligation } from './obligation';
import { created, paymentRequest, payoutRequest } from './samples';
import type { WireObject } from './wire';

/** The cents that force an outcome, where outcomes can be forced. */
interface Decline {
  cents: string;
  code: string;
  /** What the provider's text says, where the code passes one on. */
  text?: string;
  ids: { payment: string; payout: string };
}

const PROVIDER = 'PROVIDER_PROCESSING_FAILED';

/** Spec 7.2. */
const DECLINES: Decline[] = [
  { cents: '01', code: 'DECLINED_GENERIC', ids: { payment: 'ERR-001', payout: 'ERR-021' } },
  { cents: '02', code: 'PERSONAL_DATA_NOT_PROVIDED', ids: { payment: 'ERR-002', payout: 'ERR-022' } },
  { cents: '03', code: 'CARD_DATA_NOT_PROVIDED', ids: { payment: 'ERR-003', payout: 'ERR-023' } },
  { cents: '04', code: 'BROWSER_DATA_NOT_PROVIDED', ids: { payment: 'ERR-004', payout: 'ERR-024' } },
  { cents: '05', code: 'DECLINED_3DS_AUTHENTICATION_FAILED', ids: { payment: 'ERR-005', payout: 'ERR-025' } },
  {
    cents: '51',
    code: PROVIDER,
    text: 'insufficient funds',
    ids: { payment: 'ERR-006', payout: 'ERR-026' },
  },
  { cents: '54', code: PROVIDER, text: 'card expired', ids: { payment: 'ERR-007', payout: 'ERR-027' } },
  {
    cents: '57',
    code: PROVIDER,
    text: 'transaction not permitted',
    ids: { payment: 'ERR-008', payout: 'ERR-028' },
  },
  { cents: '59', code: PROVIDER, text: 'suspected fraud', ids: { payment: 'ERR-009', payout: 'ERR-029' } },
  { cents: '60', code: PROVIDER, text: 'do not honor', ids: { payment: 'ERR-010', payout: 'ERR-030' } },
  {
    cents: '61',
    code: PROVIDER,
    text: '3DS authentication error',
    ids: { payment: 'ERR-011', payout: 'ERR-031' },
  },
];

export function isDeclined(resource: WireObject, { code, text }: Pick<Decline, 'code' | 'text'>): void {
  const error = objectIn(resource, 'error');
  assert.equal(error.code, code, 'error.code');
  const message = textIn(error, 'message');
  if (text) assert.equal(message.toLowerCase(), text.toLowerCase(), 'error.message');
}

function told({ code, text }: Decline): string {
  return text ? `${code}, ${text}` : code;
}

const paymentDeclines = DECLINES.map((decline): Obligation => ({
  id: decline.ids.payment,
  level: 'MUST',
  says: `answer 200 to the look-up of a payment that failed with ${told(decline)}`,
  spec: '4.3, 7.2',
  needs: 'forced outcomes',
  run: async (service) => {
    const request = paymentRequest(service, 'card', { flow: 'direct', value: `25.${decline.cents}` });
    const { transaction_id } = await created(service, 'payment', request);
    const failed = await service.reaching('payment', transaction_id, 'failed');
    fullPayment(failed, request);
    isDeclined(failed, decline);
  },
}));

const payoutDeclines = DECLINES.map((decline): Obligation => ({
  id: decline.ids.payout,
  level: 'MUST',
  says: `answer 200 with method and external_id to the look-up of a payout that failed with ${told(decline)}`,
  spec: '4.1, 7.2',
  needs: 'forced outcomes',
  run: async (service) => {
    const request = payoutRequest(service, 'imps', { value: `25.${decline.cents}` });
    const { transaction_id } = await created(service, 'payout', request);
    isFailedPayout(await service.reaching('payout', transaction_id, 'failed'), request, decline);
  },
}));

export function isFailedPayout(
  failed: WireObject,
  request: WireObject,
  decline: Pick<Decline, 'code' | 'text'>,
): void {
  assert.equal(failed.method, objectIn(request, 'payout_method').type, 'method');
  assert.equal(failed.external_id, request.external_id, 'external_id');
  isDeclined(failed, decline);
}

export const declineObligations: Obligation[] = [...paymentDeclines, ...payoutDeclines];
