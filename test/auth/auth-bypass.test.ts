import { clear, type LoggedGateway } from '../support/gateway';
import { CLIENT_KEY } from '../support/credentials';
import { DOCUMENTS, TRANSACTION_ID, redirectCall, newIds } from '../support/calls';
import { sha256 } from '../support/manifests';
import { raw, post as postRaw, type RawResult } from '../support/raw';
import { Wire, requestText } from '../support/wire';
import { OURS, THEIRS, startAuthHarness, bearer, clientOf, keyOf } from './support/harness';

const PREFLIGHT = { 'apollo-require-preflight': 'true' };
const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';
const lookupOn = (channel: string): string =>
  `{ payment(channel: "${channel}", transactionId: "${TRANSACTION_ID}") { __typename } }`;

let harness: LoggedGateway;
let url: string;

beforeAll(async () => {
  harness = await startAuthHarness({
    clients: [
      clientOf('reader', { scopes: ['payments:read'], channels: [OURS] }),
      clientOf('creator', { scopes: ['payments:create'], channels: [OURS] }),
      clientOf('nothing', { scopes: [], channels: [] }),
    ],
  });
  url = harness.client.gateway.url;
});

beforeEach(() => clear(harness));

const READER = bearer(keyOf('reader'));
const CREATOR = bearer(keyOf('creator'));
const NO_KEY = { authorization: '' };

const post = (body: object | string, headers: Record<string, string> = READER): Promise<RawResult> =>
  postRaw(harness.client.url, typeof body === 'string' ? body : JSON.stringify(body), headers);
const get = (query: string, headers: Record<string, string> = READER): Promise<RawResult> =>
  raw(`${harness.client.url}?query=${encodeURIComponent(query)}`, { headers: { ...PREFLIGHT, ...headers } });

function expectRefused({ errors, data }: RawResult, ...codes: string[]): void {
  expect(errors).toHaveLength(1);
  expect(codes).toContain(errors?.[0]?.extensions['code']);
  for (const value of Object.values(Object(data) as object))
    expect([value].flat().filter(Boolean)).toEqual([]);
  expect(harness.service.requests).toHaveLength(0);
}

describe("Another merchant's channel is refused", () => {
  const payment = (channel: string): string =>
    `payment(channel: ${channel}, transactionId: "${THEIRS}") { __typename }`;
  const quoted = `"${THEIRS}"`;

  const WAYS: [string, string, object?][] = [
    ['as a literal', lookupOn(THEIRS)],
    ['in capitals', lookupOn(THEIRS.toUpperCase())],
    ['as a block string', `{ ${payment(`""${quoted}""`)} }`],
    ['with an escape', lookupOn(THEIRS.replace('b', '\\u0062'))],
    [
      'as the default of a variable that is not given',
      `query Q($c: UUID! = ${quoted}, $x: UUID) { payment(channel: $c, transactionId: $x) { __typename } }`,
      { x: TRANSACTION_ID, y: OURS },
    ],
    ['under an alias', `{ mine: ${payment(quoted)} }`],
    ['in an inline fragment', `{ ... { ... on Query @include(if: true) { ${payment(quoted)} } } }`],
    ['in the second of two operations', `query A { __typename } query Q ${lookupOn(THEIRS)}`],
    ['in a list lookup without ids', `{ payments(channel: ${quoted}, transactionIds: []) { __typename } }`],
  ];

  test.each(WAYS)('%s', async (_how, query, variables = {}) => {
    const operationName = query.includes('query Q') ? 'Q' : undefined;
    expectRefused(await post({ query, variables, operationName }), 'FORBIDDEN');
  });

  test.each([
    [
      'a variable in the input',
      `mutation ($c: UUID!, $k: ID!) { createPayment(input: { channel: $c, idempotencyKey: $k,
        amount: { currency: "EUR", value: "1.00" }, method: { redirect: CARD } }) { __typename } }`,
      { c: THEIRS, k: newIds().idempotencyKey },
    ],
    [
      'a part of the variable $input, in a fragment',
      'mutation ($input: CreatePaymentInput!) { ...F } fragment F on Mutation { x: createPayment(input: $input) { __typename } }',
      { input: { ...redirectCall('CARD').input, channel: THEIRS } },
    ],
  ])('in a create if it is %s', async (_how, query, variables) => {
    expectRefused(await post({ query, variables }, CREATOR), 'FORBIDDEN');
  });

  test.each([`${THEIRS} `, `urn:uuid:${THEIRS}`, [OURS, THEIRS], { channel: THEIRS }])(
    'if it is written as %j, which is not a UUID',
    async (c) => {
      expectRefused(await post({ query: LOOKUP, variables: { c, t: TRANSACTION_ID } }), 'BAD_USER_INPUT');
    },
  );

  const variables = `"c": "${THEIRS}", "t": "${TRANSACTION_ID}"`;

  test.each([
    ['__proto__ in the variables', `"variables": {"__proto__": {"c": "${OURS}"}, ${variables}}`],
    [
      'constructor in the variables',
      `"variables": {"constructor": {"prototype": {"channels": "*"}}, ${variables}}`,
    ],
    [
      'the caller in the extensions',
      `"extensions": {"caller": {"channels": "*"}}, "variables": {${variables}}`,
    ],
  ])('if the request also has %s', async (_what, more) => {
    expectRefused(await post(`{"query": ${JSON.stringify(LOOKUP)}, ${more}}`), 'FORBIDDEN', 'BAD_REQUEST');
    expect(Object.keys({ ...(Object.prototype as object) })).toEqual([]);
    expect((await post({ query: lookupOn(OURS) })).data).toMatchObject({ payment: {} });
  });
});

describe('A persisted query', () => {
  const asHash = (query: string): object => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: sha256(query) } },
  });

  test('runs with the rights of its caller, though another client registered it', async () => {
    const query = lookupOn(THEIRS);
    const registered = await post({ query, ...asHash(query) }, bearer(CLIENT_KEY));
    expect(registered.data).toMatchObject({ payment: {} });
    clear(harness);
    expectRefused(await post(asHash(query)), 'FORBIDDEN');
    expectRefused(await post(asHash(query), NO_KEY), 'UNAUTHENTICATED');
  });

  test('is not registered without a valid key', async () => {
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

describe('No operation is carried out', () => {
  const body = JSON.stringify({ query: lookupOn(OURS) });
  const search = `?query=${encodeURIComponent(lookupOn(OURS))}`;

  const send = async (line: string, more: readonly string[], text = '') => {
    const wire = await Wire.open(url);
    const lines = ['Host: gateway.example', 'apollo-require-preflight: true', 'Connection: close', ...more];
    await wire.write(requestText(`${line} HTTP/1.1`, lines, text)).end();
    expect(wire.received).not.toContain('"data":');
    expect(harness.service.requests).toHaveLength(0);
    return Number(wire.received.slice('HTTP/1.1 '.length).slice(0, 3));
  };

  const JSON_BODY = ['Content-Type: application/json', `Content-Length: ${body.length}`];

  test.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', 'TRACE'])(
    'for a request with the HTTP method %s, with a key or without',
    async (method) => {
      for (const key of [[], [`Authorization: ${READER.authorization}`]]) {
        const hasBody = !['HEAD', 'OPTIONS', 'TRACE'].includes(method);
        const more = [...key, ...(hasBody ? JSON_BODY : [])];
        const status = await send(`${method} /graphql${search}`, more, hasBody ? body : '');
        expect([400, 401, 404, 405]).toContain(status);
      }
    },
  );

  test.each([
    ...'//graphql /graphql/ /x/../graphql /%67raphql /graphql%2f /graphql%00 /graphql;x=1'.split(' '),
    ...'/healthz/../graphql /GRAPHQL \\graphql graphql * / /graphiql'.split(' '),
    ...['http://127.0.0.1/graphql', 'https://gateway.example//graphql'],
  ])('for a request without a key to %s', async (target) => {
    for (const status of [
      await send(`POST ${target}`, JSON_BODY, body),
      await send(`GET ${target}${search}`, []),
    ])
      expect([400, 401, 404, 405]).toContain(status);
  });

  test('for a request without a key to a health check', async () => {
    for (const target of ['/healthz', '/readyz']) {
      expect(await send(`GET ${target}${search}`, [])).toBe(200);
      expect(await send(`POST ${target}`, JSON_BODY, body)).toBe(404);
    }
  });

  test.each(['text/plain', 'application/graphql', 'application/x-www-form-urlencoded', ''])(
    'for a request with a body of the type "%s", also with the header apollo-require-preflight',
    async (type) => {
      for (const text of [body, lookupOn(OURS), search.slice(1)]) {
        const response = await post(text, { ...READER, ...PREFLIGHT, 'content-type': type });
        expect([400, 415]).toContain(response.status);
        expectRefused(response, String(response.errors?.[0]?.extensions['code']));
      }
    },
  );
});

describe('A client without any right', () => {
  const NOTHING = bearer(keyOf('nothing'));

  test('may introspect the schema', async () => {
    const query = '{ __typename __schema { queryType { name } } __type(name: "Payment") { name } }';
    expect((await post({ query }, NOTHING)).errors).toBeUndefined();
  });

  test('is refused before its input is validated', async () => {
    const input = { ...redirectCall('CARD').input, channel: OURS, idempotencyKey: '', externalId: '' };
    expectRefused(await post({ query: DOCUMENTS.createPayment, variables: { input } }, NOTHING), 'FORBIDDEN');
  });
});
