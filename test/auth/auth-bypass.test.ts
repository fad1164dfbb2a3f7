import { clear, type LoggedGateway } from '../support/gateway';
import { CLIENT_KEY } from '../support/credentials';
import { TRANSACTION_ID, redirectCall } from '../support/calls';
import { sha256 } from '../support/manifests';
import { raw, post as postRaw, type RawResult } from '../support/raw';
import { Wire, requestText } from '../support/wire';
import { OURS, THEIRS, startAuthHarness, bearer, clientOf, keyOf } from './support/harness';

const PREFLIGHT = { 'apollo-require-preflight': 'true' };
const lookupOn = (channel: string): string =>
  `{ payment(channel: "${channel}", transactionId: "${TRANSACTION_ID}") { __typename } }`;

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startAuthHarness({ clients: [clientOf('shop', { channels: [OURS] })] });
});

beforeEach(() => clear(harness));

const SHOP = bearer(keyOf('shop'));
const NO_KEY = { authorization: '' };

const post = (body: object | string, headers: Record<string, string> = SHOP): Promise<RawResult> =>
  postRaw(harness.client.url, typeof body === 'string' ? body : JSON.stringify(body), headers);
const get = (query: string, headers: Record<string, string> = SHOP): Promise<RawResult> =>
  raw(`${harness.client.url}?query=${encodeURIComponent(query)}`, { headers: { ...PREFLIGHT, ...headers } });

function expectRefused({ errors, data }: RawResult, ...codes: string[]): void {
  expect(errors).toHaveLength(1);
  expect(codes).toContain(errors?.[0]?.extensions['code']);
  for (const value of Object.values(Object(data) as object))
    expect([value].flat().filter(Boolean)).toEqual([]);
  expect(harness.service.requests).toHaveLength(0);
}

describe("A request for another merchant's channel", () => {
  const { input } = redirectCall('CARD');

  test.each<[string, string, object?]>([
    ['as a literal in capitals with an escape', lookupOn(THEIRS.toUpperCase().replace('B', '\\u0042'))],
    [
      'as the default value of a variable',
      `query Q($c: UUID! = "${THEIRS}", $x: UUID) { payment(channel: $c, transactionId: $x) { __typename } }`,
      { x: TRANSACTION_ID, y: OURS },
    ],
    [
      'under an alias in an inline fragment',
      `{ ... { ... on Query @include(if: true) { mine: payment(channel: "${THEIRS}", transactionId: "${THEIRS}") { __typename } } } }`,
    ],
    ['in the second of two operations', `query A { __typename } query Q ${lookupOn(THEIRS)}`],
    ['in a list lookup without ids', `{ payments(channel: "${THEIRS}", transactionIds: []) { __typename } }`],
    [
      'as a variable in the input of a create',
      `mutation Q($c: UUID!, $k: ID!) { createPayment(input: { channel: $c, idempotencyKey: $k,
        amount: { currency: "EUR", value: "1.00" }, method: { redirect: CARD } }) { __typename } }`,
      { c: THEIRS, k: input['idempotencyKey'] },
    ],
    [
      'as a part of the variable $input of a create in a fragment',
      'mutation Q($input: CreatePaymentInput!) { ...F } fragment F on Mutation { x: createPayment(input: $input) { __typename } }',
      { input: { ...input, channel: THEIRS } },
    ],
  ])('is refused when the channel is given %s', async (_how, query, variables = {}) => {
    const operationName = / Q\b/.test(query) ? 'Q' : undefined;
    expectRefused(await post({ query, variables, operationName }), 'FORBIDDEN');
  });
});

describe('A persisted query', () => {
  const asHash = (query: string): object => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: sha256(query) } },
  });

  test('runs with the rights of its caller, not with those of the client that registered it', async () => {
    const query = lookupOn(THEIRS);
    const registered = await post({ query, ...asHash(query) }, bearer(CLIENT_KEY));
    expect(registered.data).toMatchObject({ payment: {} });
    clear(harness);
    expectRefused(await post(asHash(query)), 'FORBIDDEN');
    expectRefused(await post(asHash(query), NO_KEY), 'UNAUTHENTICATED');
  });

  test('is not registered by a request without a valid client key', async () => {
    const query = `${lookupOn(OURS)} # registered by nobody`;
    for (const headers of [NO_KEY, bearer('pgk_wrong')])
      expect((await post({ query, ...asHash(query) }, headers)).status).toBe(401);
    expectRefused(await post(asHash(query)), 'PERSISTED_QUERY_NOT_FOUND');
  });
});

test('A GET request has exactly the rights of its caller', async () => {
  expect((await get(lookupOn(OURS))).data).toMatchObject({ payment: {} });
  clear(harness);
  expectRefused(await get(lookupOn(THEIRS)), 'FORBIDDEN');
  expectRefused(await get(lookupOn(OURS), NO_KEY), 'UNAUTHENTICATED');
});

describe('The gateway executes no operation', () => {
  const body = JSON.stringify({ query: lookupOn(OURS) });
  const search = `?query=${encodeURIComponent(lookupOn(OURS))}`;

  async function expectNoOperation(line: string, more: readonly string[], text = ''): Promise<void> {
    const wire = await Wire.open(harness.client.gateway.url);
    const lines = ['Host: gateway.example', 'apollo-require-preflight: true', 'Connection: close', ...more];
    await wire.write(requestText(`${line} HTTP/1.1`, lines, text)).end();
    expect(wire.received).toMatch(/^HTTP\/1\.1 (200|40[0145]) /);
    expect(wire.received).not.toContain('"data":');
    expect(harness.service.requests).toHaveLength(0);
  }

  const JSON_BODY = ['Content-Type: application/json', `Content-Length: ${body.length}`];

  test.each([false, true])('for an HTTP method other than GET and POST (with a key: %j)', async (hasKey) => {
    const key = hasKey ? [`Authorization: ${SHOP.authorization}`] : [];
    for (const method of ['HEAD', 'OPTIONS', 'TRACE'])
      await expectNoOperation(`${method} /graphql${search}`, key);
    for (const method of ['PUT', 'DELETE', 'QUERY'])
      await expectNoOperation(`${method} /graphql${search}`, [...key, ...JSON_BODY], body);
  });

  test.each([
    ...'//graphql /graphql/ /x/../graphql /%67raphql /graphql%2f /graphql%00 /graphql;x=1'.split(' '),
    ...'/healthz/../graphql /healthz /readyz /GRAPHQL \\graphql graphql * / /graphiql'.split(' '),
    ...['http://127.0.0.1/graphql', 'https://gateway.example//graphql'],
  ])('for a request without a client key to the target %s', async (target) => {
    await expectNoOperation(`POST ${target}`, JSON_BODY, body);
    await expectNoOperation(`GET ${target}${search}`, []);
  });

  test.each(['text/plain', 'application/graphql', 'application/x-www-form-urlencoded', ''])(
    'for a request with the content type "%s", even with the header apollo-require-preflight',
    async (type) => {
      for (const text of [body, lookupOn(OURS), search.slice(1)]) {
        const response = await post(text, { ...SHOP, ...PREFLIGHT, 'content-type': type });
        expect([400, 415]).toContain(response.status);
        expectRefused(response, 'BAD_REQUEST');
      }
    },
  );
});
