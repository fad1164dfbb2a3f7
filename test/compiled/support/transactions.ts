import { encodeNodeId } from '../../../src/schema/node';
import { CHANNEL } from '../../support/gateway';
import type { Reply, ReceivedRequest } from '../../support/payment-service/fake-payment-service';
import { decodeQuery } from '../../support/signatures';
import { goldenMethods, type Json } from '../../methods/golden-bodies';

const idOf = (kind: number, place: number): string =>
  `${kind}0000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

/** Responses that deviate from the specification, with fewer, more or other fields. */
const ODD: readonly Json[] = [
  { status: 'pending' },
  { status: 'exploded', payment_method: { type: 'moon_dust', shine: 1 }, method: 'moon_dust' },
  { status: 'completed', payment_method: null, amount: null, create_date: null, error: null, method: null },
  { status: 'failed', error: {}, payment_method: { type: 'card' }, method: 'card' },
  { status: 'failed', error: { code: 'new_code', message: 'No.' }, payment_method: { type: 'upi' } },
  { status: 'processing', payment_method: { type: 'upi', state: 'waiting_for_godot' } },
  { status: 'processing', payment_method: { type: 'c2c', state: 'waiting_for_provider' } },
  { status: 'pending', redirect_url: 'javascript:alert(1)', payment_method: { type: 'ewallet' } },
  { status: 'pending', redirect_url: 'https://pay.example.com/1', payment_method: { type: 'card' } },
  { status: 'pending', amount: { currency: 'INR' }, payment_method: { type: 'qris', qr_code: '' } },
  { status: 'pending', payment_method: { type: 'virtual_account', payment_data: { toJSON: 1, then: [{}] } } },
  { status: 'mispaid', amount: { currency: 'KZT', value: '10.00', received: '9.00' } },
  { status: 'pending', channel: 5, external_id: 7, payment_method: [], amount: 'much' },
];

/** Failing responses after which a lookup is not retried. */
const FAILURES: readonly Reply[] = [
  { status: 403, json: { message: 'no' } },
  { status: 400, json: { message: 'This cannot be asked.' } },
];

type Kind = 'payment' | 'payout';

/** Returns responses to lookups: every method in every state of the golden bodies, and `ODD`. */
function responsesOf(kind: Kind): Json[] {
  const golden = [...goldenMethods.values()].flatMap((method) => method[kind]?.lookup ?? []);
  const created = [...goldenMethods.values()].flatMap((method) => method[kind]?.create ?? []);
  return [...golden, ...created].map(({ answer: response }) => response as Json).concat(ODD);
}

const tables = {
  payment: responsesOf('payment').map((response, place) => [idOf(1, place), response] as const),
  payout: responsesOf('payout').map((response, place) => [idOf(2, place), response] as const),
};
const byId = new Map<string, Json>([...tables.payment, ...tables.payout]);

export const FOUND: Readonly<Record<Kind, readonly string[]>> = {
  payment: tables.payment.map(([id]) => id),
  payout: tables.payout.map(([id]) => id),
};

export const MISSING = idOf(3, 0);

export const FAILING: readonly string[] = FAILURES.map((_, place) => idOf(9, place));

const responseFor = (id: string): Json | undefined => {
  const response = byId.get(id);
  return response && { ...response, transaction_id: id };
};

/** Replies like a service that has only these transactions. */
export function lookupReply({ query }: Pick<ReceivedRequest, 'query'>): Reply {
  const { transaction_id: id = '', external_id: externalId } = decodeQuery(query);
  const fault = FAILURES[FAILING.indexOf(id)];
  if (fault) return fault;
  const found = responseFor(id) ?? (externalId === 'order-1' ? responseFor(idOf(1, 0)) : undefined);
  return found ? { status: 200, json: found } : { status: 404, json: {} };
}

export const nodeId = (kind: Kind, transactionId: string): string =>
  encodeNodeId({ kind, channel: CHANNEL, transactionId });
