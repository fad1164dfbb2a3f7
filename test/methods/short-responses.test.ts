import type { Reply } from '../support/payment-service/fake-payment-service';
import { rowsOf, type GoldenConfirm, type GoldenCreate, type Json } from './golden-bodies';
import { openHarness, type MethodHarness } from './harness';
import { readDrawings } from './qr-image';
import { confirmPayment, createPayment } from './selection';

let harness: MethodHarness;

beforeAll(async () => {
  harness = await openHarness();
});

const creates = rowsOf(({ payment }) => payment?.create);
const confirms = rowsOf(({ payment }) => payment?.confirm);

function named<C>(rows: [string, C][], name: string): C {
  const [, found] = rows.find(([row]) => row === name) ?? [];
  if (!found) throw new Error(`There is no golden case "${name}".`);
  return found;
}

/** The shortest response to a create (spec 4.4). */
const shortestResponse = ({ status, transaction_id }: Json): Json => ({ status, transaction_id });

interface Options {
  selection?: string;
  /** The response to the create or confirm. Default: the shortest one, or that of the golden case. */
  post?: Json;
  get?: Reply;
}

/** Sends a mutation and returns the selected fields of the payment; expects success. */
async function call(document: string, input: Json, { post, get }: Options): Promise<Json> {
  type Success = { __typename: string; payment: Json };
  harness.respond({ post: { status: 200, json: post }, get });
  const { data, errors } = await harness.gateway.request<Record<string, Success>>(document, { input });
  expect(errors).toBeUndefined();
  const [result] = Object.values(data);
  expect(result?.__typename).toBe('PaymentSuccess');
  return result?.payment ?? {};
}

const create = ({ input, answer }: GoldenCreate, { selection, ...more }: Options = {}): Promise<Json> =>
  call(createPayment(selection), input, { post: shortestResponse(answer), ...more });

const confirm = ({ input, answer }: GoldenConfirm, { selection, ...more }: Options): Promise<Json> =>
  call(confirmPayment(selection), input, { post: answer, ...more });

const lookups = (): string[] => harness.sent('GET').map(({ path, query }) => `${path}?${query}`);

const GOLDEN_LOOKUP =
  '/api/v1/payment/?channel=7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10&transaction_id=3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01';

/** A create may get only status and transaction_id, a confirm no amount and method (spec 2.3, 4.4, 4.5). */

const amountSent = (body: Json): Json => ({ ...(body['amount'] as Json), received: null });

describe('A create whose response has only status and transaction_id', () => {
  test.each(creates)('returns all fields, from its request and one lookup: %s', async (_name, golden) => {
    const found = await create(golden, { get: { status: 200, json: golden.answer } });
    expect(readDrawings(found)).toStrictEqual({ ...golden.data, amount: amountSent(golden.body) });
    expect(lookups()).toEqual([GOLDEN_LOOKUP]);
  });

  test.each(creates)('needs no lookup for the fields that all methods have: %s', async (_name, golden) => {
    const selection = `{ __typename ... on PaymentResource {
      id transactionId channel externalId method status rawStatus amount { currency value received } error { code } } }`;
    const found = await create(golden, { selection });
    expect({ ...golden.data, amount: amountSent(golden.body) }).toMatchObject(found);
    expect(lookups()).toEqual([]);
  });

  const knownFromRequest: [string, string, string][] = [
    ['card, server-to-server, required fields only', 'CardPayment', 'cardholder'],
    ['upi, server-to-server', 'UpiPayment', 'email firstName lastName phone'],
    ['virtual_account, server-to-server', 'VirtualAccountPayment', 'bankCode accountNumber'],
    [
      'bkash, server-to-server, account both in payment_method and at the top level',
      'BkashPayment',
      'firstName surname phone email',
    ],
  ];

  test.each(knownFromRequest)('needs no lookup for fields of its request: %s', async (name, type, fields) => {
    const golden = named(creates, name);
    const selection = `{ ... on ${type} { ${fields} } }`;
    const found = await create(golden, { selection });
    expect(found).toEqual(Object.fromEntries(fields.split(' ').map((field) => [field, golden.data[field]])));
    expect(lookups()).toEqual([]);
  });

  const looksUp: [string, string, string][] = [
    ['card, redirect flow', 'CardPayment', 'redirectUrl'],
    ['card, redirect flow', 'CardPayment', 'nextAction { ... on RedirectAction { url } }'],
    ['card, server-to-server, required fields only', 'CardPayment', 'cardMask'],
    [
      'upi, server-to-server',
      'UpiPayment',
      'state nextAction { ... on ProvideUtrAction { upiId upiLink confirmWith } }',
    ],
    [
      'bkash, server-to-server, account both in payment_method and at the top level',
      'BkashPayment',
      'account',
    ],
    ['other, fields beside type', 'OtherPayment', 'type fields'],
  ];

  test.each(looksUp)(
    'needs one lookup for fields that only the service knows: create "%s", fields %s { %s }',
    async (name, type, fields) => {
      const golden = named(creates, name);
      const get = { status: 200, json: golden.answer };
      const selection = `{ ... on ${type} { ${fields} } }`;
      const found = await create(golden, { selection, get });
      expect(golden.data).toMatchObject(found);
      expect(Object.values(found)).not.toContain(null);
      expect(lookups()).toEqual([GOLDEN_LOOKUP]);
    },
  );

  test('returns the error of a failed payment with one lookup', async () => {
    const golden = named(creates, 'card, redirect flow');
    const error = { code: 'DECLINED_GENERIC', message: 'No' };
    const failed = { ...golden.answer, status: 'failed', error };
    const selection =
      '{ ... on PaymentResource { status error { code message } nextAction { __typename } } }';
    const get = { status: 200, json: failed };
    const found = await create(golden, { selection, post: shortestResponse(failed), get });
    expect(found).toEqual({ status: 'FAILED', error, nextAction: null });
    expect(lookups()).toEqual([GOLDEN_LOOKUP]);
  });
});

describe('A confirm', () => {
  test.each(confirms)('needs no lookup for fields of its short response: %s', async (_name, golden) => {
    const fromAnswer = 'amount' in golden.answer ? 'amount { currency value received } createDate' : 'state';
    const selection = `{ __typename ... on ${String(golden.data['__typename'])} {
      id transactionId channel method status rawStatus error { code } ${fromAnswer}
      nextAction { __typename ... on AwaitProviderAction { pollAfterMs } } } }`;
    const found = await confirm(golden, { selection });
    expect(golden.data).toMatchObject(found);
    expect(lookups()).toEqual([]);
  });

  test.each([
    ['amount', 'amount { value }'],
    ['create_date', 'createDate'],
    ['payment_method', 'upiId'],
  ])('needs one lookup when the response lacks only %s', async (wireName, field) => {
    const golden = named(confirms, 'upi, approval pending at the provider');
    const get = { status: 200, json: golden.lookup };
    const post = { ...golden.lookup, [wireName]: undefined };
    const selection = `{ ... on UpiPayment { ${field} } }`;
    const found = await confirm(golden, { selection, post, get });
    expect(golden.data).toMatchObject(found);
    expect(Object.values(found)).not.toContain(null);
    expect(lookups()).toEqual([GOLDEN_LOOKUP]);
  });
});

describe('A failed lookup after a create or confirm', () => {
  const golden = named(creates, 'upi, server-to-server');
  const failures: [string, Reply][] = [
    ['responds with 500', { status: 500, body: 'oops' }],
    [
      'responds with another payment',
      { status: 200, json: { ...golden.answer, transaction_id: 'b1a9e0c4-52d7-4c36-8a1f-0c9d2e7b6f02' } },
    ],
    ['cuts the connection', (connection) => void connection.socket.destroy()],
  ];

  test.each(failures)(
    'leaves fields null and does not fail the create when the service %s',
    async (_what, get) => {
      const found = await create(golden, { get });
      expect(found).toStrictEqual({
        ...golden.data,
        redirectUrl: null,
        createDate: null,
        state: null,
        upiId: null,
        upiLink: null,
        nextAction: { __typename: 'AwaitProviderAction', pollAfterMs: 2000 },
      });
      // Some failures are retried, always with the same request.
      expect(lookups().length).toBeLessThanOrEqual(3);
      expect(new Set(lookups())).toEqual(new Set([GOLDEN_LOOKUP]));
    },
  );

  test('leaves fields null and does not fail the confirm when the service responds with 500', async () => {
    const completed = named(confirms, 'upi, completed');
    const selection = '{ ... on UpiPayment { status amount { value } redirectUrl upiId } }';
    const found = await confirm(completed, { selection, get: { status: 500, body: 'oops' } });
    const known = { status: 'COMPLETED', amount: { value: '100.00' } };
    expect(found).toEqual({ ...known, redirectUrl: null, upiId: null });
  });
});
