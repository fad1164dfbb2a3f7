import { confirmPayment, createPayment, createPayout, lookUpPayment, lookUpPayout } from './selection';
import { expectSigned } from '../support/signatures';
import { openHarness, type MethodHarness } from './harness';
import { rowsOf, type GoldenConfirm, type GoldenCreate, type GoldenMethod } from './golden-bodies';
import { readDrawings } from './qr-image';

/** The request to the service and all result fields, for every method and flow. */

let harness: MethodHarness;

beforeAll(async () => {
  harness = await openHarness();
});

const MUTATIONS = [
  ['createPayment', '/api/v1/payment/', createPayment(), ({ payment }: GoldenMethod) => payment?.create],
  [
    'confirmPayment',
    '/api/v1/payment/confirm/',
    confirmPayment(),
    ({ payment }: GoldenMethod) => payment?.confirm,
  ],
  ['createPayout', '/api/v1/payout/', createPayout(), ({ payout }: GoldenMethod) => payout?.create],
] as const;

const mutations = MUTATIONS.flatMap(([root, path, document, casesOf]) =>
  rowsOf<GoldenCreate | GoldenConfirm>(casesOf).map(
    ([name, golden]) => [root, name, { path, document, golden }] as const,
  ),
);

test.each(mutations)(
  '%s sends the request and returns the result of the golden file: %s',
  async (root, _name, { path, document, golden }) => {
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
    const method = post?.json['payment_method'] ?? post?.json['payout_method'] ?? {};
    expect(Object.keys(method)[0]).toBe(isConfirm ? undefined : 'type');

    const [member, field] =
      root === 'createPayout' ? ['PayoutSuccess', 'payout'] : ['PaymentSuccess', 'payment'];
    expect(errors).toBeUndefined();
    expect(readDrawings(data)).toStrictEqual({
      [root]: { __typename: member, replayed: false, [field]: golden.data },
    });
    expect(harness.sent('GET')).toHaveLength(isConfirm ? 1 : 0);
  },
);

const lookupsOf = (kind: 'payment' | 'payout') =>
  rowsOf((method) => method[kind]?.lookup).map(([name, golden]) => [kind, name, golden] as const);

test.each([...lookupsOf('payment'), ...lookupsOf('payout')])(
  'A lookup by transaction id and external id returns the %s of the golden file: %s',
  async (kind, _name, golden) => {
    const { channel, transactionId } = golden.data;
    const externalId = 'order 7 & co';
    // A lookup of a payout contains the client's external id (spec 2.6), one of a payment does not.
    const json = { ...golden.answer, ...(kind === 'payout' && { external_id: externalId }) };
    harness.respond({ get: { status: 200, json } });
    const document = kind === 'payment' ? lookUpPayment() : lookUpPayout();
    const { data, errors } = await harness.gateway.request(document, { channel, transactionId, externalId });
    expect(errors).toBeUndefined();
    expect(readDrawings(data)).toStrictEqual({ [kind]: { ...golden.data, externalId } });
    const [get, ...more] = harness.service.requests;
    expect(more).toEqual([]);
    const query = `channel=${channel}&transaction_id=${transactionId}&external_id=order%207%20%26%20co`;
    expect(get).toMatchObject({ method: 'GET', path: `/api/v1/${kind}/`, query, body: '' });
    expectSigned(get!);
  },
);
