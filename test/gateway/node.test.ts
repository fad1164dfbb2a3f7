import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { sendCall, validCall } from '../support/calls';

const NODE = `query Q($id: ID!) { node(id: $id) { __typename id
  ... on PaymentResource { transactionId channel method } ... on PayoutResource { transactionId channel } } }`;

interface NodeAnswer {
  node: { __typename: string; id: string; transactionId: string; channel: string } | null;
}

let client: TestClient;
let sandboxUrl: string;

beforeAll(async () => {
  const sandbox = await testSandbox();
  sandboxUrl = sandbox.url;
  client = await testGateway(sandbox.url);
});

async function madeOf(kind: 'payment' | 'payout'): Promise<{ id: string; transactionId: string }> {
  const call =
    kind === 'payment' ? validCall('createPayment', 'ewallet') : validCall('createPayout', 'jazzCash');
  const { result } = await sendCall(client, call);
  const transactionId = result?.[kind]?.transactionId ?? '';
  const type = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
  const query = `query Q($c: UUID!, $t: UUID!) { ${kind}(channel: $c, transactionId: $t) { ... on ${type} { id } } }`;
  const { data } = await client.request<Record<string, { id: string }>>(query, {
    c: CHANNEL,
    t: transactionId,
  });
  return { id: data[kind]?.id ?? '', transactionId };
}

test.each([
  ['payment', 'EwalletPayment'],
  // The service returns the method of a payout only if it failed; otherwise the method is read from the journal.
  ['payout', 'JazzCashPayout'],
] as const)('node finds a %s by its id', async (kind, __typename) => {
  const { id, transactionId } = await madeOf(kind);
  const { data, errors } = await client.request<NodeAnswer>(NODE, { id });
  expect(errors).toBeUndefined();
  expect(data.node).toMatchObject({ __typename, id, transactionId, channel: CHANNEL });
});

test('node finds a payout through another gateway too, which does not know its method', async () => {
  const { id, transactionId } = await madeOf('payout');
  const another = await testGateway(sandboxUrl);
  const { data, errors } = await another.request<NodeAnswer>(NODE, { id });
  expect(errors).toBeUndefined();
  expect(data.node).toMatchObject({ __typename: 'OtherPayout', id, transactionId, channel: CHANNEL });
});

test('An id of an earlier version is still valid', async () => {
  const known = 'AQB8G9HgaxtMip1-D1pKPCsQC3ocUmpVTQ6cVW8fPg0qEQ';
  const later = await client.request(NODE, { id: known });
  expect(later.errors).toBeUndefined();
  expect(later.data).toEqual({ node: null });
});

test('A create and a lookup return the same id', async () => {
  const { mutation, input } = validCall('createPayment', 'ewallet');
  const query = `mutation M($input: CreatePaymentInput!) { ${mutation}(input: $input) { ... on PaymentSuccess { payment {
    ... on PaymentResource { id } } } } }`;
  const { data } = await client.request<{ createPayment: { payment: { id: string } } }>(query, { input });
  const { id } = data.createPayment.payment;
  expect((await client.request<NodeAnswer>(NODE, { id })).data.node?.id).toBe(id);
});

// test/properties/values.test.ts also changes every character of a valid id.
const GARBAGE = ['', '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11', '😀', 'x'.repeat(10_000)];

test.each(GARBAGE)('An invalid id is BAD_USER_INPUT: case %#', async (id) => {
  const { data, errors, text } = await client.request<NodeAnswer>(NODE, { id });
  expect(data).toEqual({ node: null });
  expect(errors).toMatchObject([
    { path: ['node'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
  ]);
  if (id.length > 5) expect(text).not.toContain(id);
});
