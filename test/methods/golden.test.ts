import { confirmPayment, createPayment, createPayout, lookUpPayment, lookUpPayout } from './selection';
import { expectSigned } from '../support/signatures';
import { openHarness, type MethodHarness } from './harness';
import { rowsOf, type GoldenConfirm, type GoldenCreate, type GoldenLookup, type Json } from './golden-bodies';
import { readDrawings } from './qr-image';

/** For every method and flow: the request to the service (byte for byte where this matters) and all result fields. */

interface MoneyCase {
  document: string;
  root: 'createPayment' | 'confirmPayment' | 'createPayout';
  path: string;
  golden: GoldenCreate | GoldenConfirm;
}

let harness: MethodHarness;

beforeAll(async () => {
  harness = await openHarness();
});

async function expectGoldenMutation({ document, root, path, golden }: MoneyCase): Promise<void> {
  const isConfirm = 'lookup' in golden;
  harness.respond({
    post: { status: isConfirm ? 200 : 201, json: golden.answer },
    ...(isConfirm && { get: { status: 200, json: golden.lookup } }),
  });
  const { data, errors } = await harness.gateway.request(document, { input: golden.input });

  const [post, ...more] = harness.sent('POST');
  expect(more).toEqual([]);
  expect(post).toMatchObject({ path, query: '', headers: { 'x-timestamp': '1717146765' } });
  expectSigned(post!);
  expect(post?.json).toStrictEqual(golden.body);
  expect(Object.keys(post?.json ?? {})).toEqual(Object.keys(golden.body));
  expect(keysOf(post?.json['payment_method'] ?? post?.json['payout_method'])[0]).toBe(
    isConfirm ? undefined : 'type',
  );

  const [member, field] =
    root === 'createPayout' ? ['PayoutSuccess', 'payout'] : ['PaymentSuccess', 'payment'];
  expect(errors).toBeUndefined();
  expect(readDrawings(data)).toStrictEqual({
    [root]: { __typename: member, replayed: false, [field]: golden.data },
  });
}

const keysOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : [];

test.each(rowsOf(({ payment }) => payment?.create))(
  'A create of a payment sends and returns the golden bodies: %s',
  async (_name, golden) => {
    await expectGoldenMutation({
      document: createPayment(),
      root: 'createPayment',
      path: '/api/v1/payment/',
      golden,
    });
    expect(harness.sent('GET')).toEqual([]);
  },
);

test.each(rowsOf(({ payment }) => payment?.confirm))(
  'A confirm sends and returns the golden bodies: %s',
  async (_name, golden) => {
    const path = '/api/v1/payment/confirm/';
    await expectGoldenMutation({ document: confirmPayment(), root: 'confirmPayment', path, golden });
    expect(harness.sent('GET')).toHaveLength(1);
  },
);

test.each(rowsOf(({ payout }) => payout?.create))(
  'A create of a payout sends and returns the golden bodies: %s',
  async (_name, golden) => {
    await expectGoldenMutation({
      document: createPayout(),
      root: 'createPayout',
      path: '/api/v1/payout/',
      golden,
    });
    expect(harness.sent('GET')).toEqual([]);
  },
);

const EXTERNAL_ID = 'заказ 7 & co = 100% +#😀';
const EXTERNAL_ID_SENT =
  'external_id=%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7%207%20%26%20co%20%3D%20100%25%20%2B%23%F0%9F%98%80';

/** The three ways to look a transaction up (spec 4.1, 4.3), with the expected query string. */
function waysToLookUp({ data }: GoldenLookup): { ids: Json; query: string; externalId: string | null }[] {
  const { channel, transactionId } = data;
  const [sentChannel, sentId] = [`channel=${channel}`, `transaction_id=${transactionId}`];
  return [
    { ids: { channel, transactionId }, query: `${sentChannel}&${sentId}`, externalId: null },
    {
      ids: { channel: channel.toUpperCase(), externalId: EXTERNAL_ID },
      query: `${sentChannel}&${EXTERNAL_ID_SENT}`,
      externalId: EXTERNAL_ID,
    },
    {
      ids: { channel, transactionId: transactionId.toUpperCase(), externalId: EXTERNAL_ID },
      query: `${sentChannel}&${sentId}&${EXTERNAL_ID_SENT}`,
      externalId: EXTERNAL_ID,
    },
  ];
}

async function expectOneLookup(path: string, query: string, ask: () => Promise<unknown>): Promise<void> {
  await ask();
  const [get, ...more] = harness.service.requests;
  expect(more).toEqual([]);
  expect(get).toMatchObject({ method: 'GET', path, query, body: '' });
  expectSigned(get!);
}

test.each(rowsOf(({ payment }) => payment?.lookup))(
  'A lookup by transaction id, external id or both returns the golden payment: %s',
  async (_name, golden) => {
    for (const { ids, query, externalId } of waysToLookUp(golden)) {
      harness.respond({ get: { status: 200, json: golden.answer } });
      await expectOneLookup('/api/v1/payment/', query, async () => {
        const { data, errors } = await harness.gateway.request(lookUpPayment(), ids);
        expect(errors).toBeUndefined();
        expect(readDrawings(data)).toStrictEqual({ payment: { ...golden.data, externalId } });
      });
    }
  },
);

test.each(rowsOf(({ payout }) => payout?.lookup))(
  'A lookup by transaction id, external id or both returns the golden payout: %s',
  async (_name, golden) => {
    for (const { ids, query, externalId } of waysToLookUp(golden)) {
      // A lookup of a payout contains the client's external id (spec 2.6).
      const responded = externalId ?? golden.data['externalId'];
      harness.respond({ get: { status: 200, json: { ...golden.answer, external_id: responded } } });
      await expectOneLookup('/api/v1/payout/', query, async () => {
        const { data, errors } = await harness.gateway.request(lookUpPayout(), ids);
        expect(errors).toBeUndefined();
        expect(data).toStrictEqual({ payout: { ...golden.data, externalId: responded } });
      });
    }
  },
);
