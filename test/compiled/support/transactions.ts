import { encodeNodeId } from '../../../src/schema/node';
import { CHANNEL, type Kind } from '../../support/caller';
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

/** Returns ids and responses to lookups: every method in every state of the golden bodies, and `ODD`. */
function responsesOf(kind: Kind): [id: string, response: Json][] {
  const methods = [...goldenMethods.values()].map((method) => method[kind]);
  const golden = [
    ...methods.flatMap((method) => method?.lookup ?? []),
    ...methods.flatMap((method) => method?.create ?? []),
  ];
  return [...golden.map(({ answer }) => answer as Json), ...ODD].map((response, place) => [
    idOf(kind === 'payment' ? 1 : 2, place),
    response,
  ]);
}

const tables = { payment: responsesOf('payment'), payout: responsesOf('payout') };
const byId = new Map<string, Json>([...tables.payment, ...tables.payout]);

export const FOUND: Readonly<Record<Kind, readonly string[]>> = {
  payment: tables.payment.map(([id]) => id),
  payout: tables.payout.map(([id]) => id),
};

export const MISSING = idOf(3, 0);

export const FAILING: readonly string[] = FAILURES.map((_, place) => idOf(9, place));

/** Replies like a service that has only these transactions. */
export function lookupReply({ query }: Pick<ReceivedRequest, 'query'>): Reply {
  const { transaction_id: id = '', external_id: externalId } = decodeQuery(query);
  const fault = FAILURES[FAILING.indexOf(id)];
  if (fault) return fault;
  const transaction_id = byId.has(id) || externalId !== 'order-1' ? id : idOf(1, 0);
  const found = byId.get(transaction_id);
  return found ? { status: 200, json: { ...found, transaction_id } } : { status: 404, json: {} };
}

export const nodeId = (kind: Kind, transactionId: string): string =>
  encodeNodeId({ kind, channel: CHANNEL, transactionId });
