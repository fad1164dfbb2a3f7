import { createHash } from 'node:crypto';
import { clientKeysFile } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { BothWays, type Told } from './support/both-ways';
import type { Asked } from './support/exchange';
import { FOUND, MISSING } from './support/transactions';

/** Every form of an HTTP request, to an operation that is prepared and to the same one that Apollo has never seen. */

const OTHER_CHANNEL = '11111111-2222-4333-8444-555555555555';
const keyed = (id: string): { authorization: string } => ({
  authorization: `Bearer pgk_${id}-0123456789abcdef0123`,
});
const key = (id: string): string => keyed(id).authorization.slice('Bearer '.length);

const ORIGIN = 'https://shop.example';

let ways: BothWays;

const QUERY = `query Payment($c: UUID!, $id: UUID!, $ids: [UUID!] = [], $e: String = "order-1") {
  payment(channel: $c, transactionId: $id) { __typename ... on PaymentResource { status amount { value } } }
  payments(channel: $c, transactionIds: $ids) { ... on PaymentResource { status } }
  other: payment(channel: $c, externalId: $e) { ... on Node { id } }
}`;
const TWO = `query A { a: __typename } query B { b: __typename }`;
const UNNAMED = '{ __typename }';
const variables = { c: CHANNEL, id: FOUND.payment[0] };
const BODY = { query: QUERY, variables };
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

beforeAll(async () => {
  ways = await BothWays.start({
    CORS_ORIGINS: ORIGIN,
    CLIENT_KEYS_FILE: clientKeysFile(
      { id: 'no-scope', key: key('no-scope'), scopes: ['payouts:read'] },
      { id: 'creator', key: key('creator'), scopes: ['payments:create'] },
      { id: 'elsewhere', key: key('elsewhere'), channels: [OTHER_CHANNEL] },
    ),
  });
  // Who prepared an operation is nobody's affair: here it is a client that may do everything.
  await ways.prepare(BODY);
  await ways.prepare({ query: TWO, operationName: 'A' });
  await ways.prepare({ query: UNNAMED });
  await ways.byPrepared(BODY);
});

/** Asks the same by both ways, and expects that nobody can tell; says whether the second was prepared, and what came. */
async function expectSame(asked: Asked): Promise<Told & { isPrepared: boolean }> {
  // The media type for a header Accept is learned as the operation is: by an answer of Apollo.
  const byApollo = await ways.askApollo(asked);
  const { told, isPrepared } = await ways.ask(asked);
  expect(told).toEqual(byApollo);
  return { ...told, isPrepared };
}

const yes = true;
const no = false;

test.each<[string, Asked['headers'], boolean]>([
  ['none', {}, yes],
  ['an empty one', { accept: '' }, yes],
  ['*/*', { accept: '*/*' }, yes],
  ['application/json', { accept: 'application/json' }, yes],
  ['application/graphql-response+json', { accept: 'application/graphql-response+json' }, yes],
  ['both, weighed', { accept: 'application/json;q=0.5, application/graphql-response+json;q=0.9' }, yes],
  ['application/*', { accept: 'application/*' }, yes],
  ['one with parameters', { accept: 'application/json; charset=utf-8' }, yes],
  ['one for callbacks', { accept: 'application/json; callbackSpec=1.0' }, yes],
  ['a page beside anything', { accept: 'text/html, */*;q=0.1' }, yes],
  ['a multipart one beside JSON', { accept: 'multipart/mixed; deferSpec=20220824, application/json' }, yes],
  ['a page', { accept: 'text/html' }, no],
  ['JSON refused', { accept: 'application/json;q=0, application/graphql-response+json;q=0' }, no],
  ['an image', { accept: 'image/png' }, no],
  ['several headers', { accept: ['text/html', 'application/json'] }, yes],
  ['a very long one', { accept: `application/json, ${'x/y, '.repeat(200)}z/z` }, no],
  ['nonsense', { accept: ';;;,,,' }, no],
])('with the Accept header: %s', async (_what, headers, isPrepared) => {
  expect((await expectSame({ headers, body: BODY })).isPrepared).toBe(isPrepared);
  await expectSame({ headers, body: { ...BODY, variables: {} } });
});

test.each<[string, Asked['headers'], boolean]>([
  ['with a charset', { 'content-type': 'application/json; charset=utf-8' }, yes],
  ['in capitals', { 'content-type': 'APPLICATION/JSON' }, yes],
  ['with parameters', { 'content-type': 'application/json; a=b; boundary=x' }, yes],
  ['of plain text', { 'content-type': 'text/plain' }, no],
  ['of plain text, as if it were JSON', { 'content-type': 'text/plain; application/json' }, no],
  ['of JSON, as if it were plain text', { 'content-type': 'application/json, text/plain' }, no],
  ['of a form', { 'content-type': 'application/x-www-form-urlencoded' }, no],
  ['of several parts', { 'content-type': 'multipart/form-data; boundary=x' }, no],
  ['of GraphQL', { 'content-type': 'application/graphql' }, no],
  ['left out', { 'content-type': undefined }, no],
  ['empty', { 'content-type': '' }, no],
])('with a content-type %s', async (_what, headers, isPrepared) => {
  const answer = await expectSame({ headers, body: BODY });
  // What fastify reads as JSON although it says more is Apollo's to judge.
  expect([answer.isPrepared, answer.status === 200]).toEqual([isPrepared, isPrepared]);
});

test.each<[string, object, boolean]>([
  ['operationName null', { ...BODY, operationName: null }, yes],
  ['its own operationName', { ...BODY, operationName: 'Payment' }, no],
  ['an empty operationName', { ...BODY, operationName: '' }, no],
  ['another operationName', { ...BODY, operationName: 'Payout' }, no],
  ['a number as operationName', { ...BODY, operationName: 1 }, no],
  ['an object as operationName', { ...BODY, operationName: {} }, no],
  ['an operationName of the other', { query: TWO, operationName: 'B' }, no],
  ['the operationName of one of two', { query: TWO, operationName: 'A' }, yes],
  ['no operationName, of two', { query: TWO }, no],
  ['variables null', { query: UNNAMED, variables: null }, yes],
  ['variables null where some are needed', { query: QUERY, variables: null }, no],
  ['no variables where some are needed', { query: QUERY }, no],
  ['variables as a list', { ...BODY, variables: [] }, no],
  ['variables as text', { ...BODY, variables: JSON.stringify(variables) }, no],
  ['variables as a number', { ...BODY, variables: 5 }, no],
  ['variables as true', { ...BODY, variables: true }, no],
  ['variables that nobody knows', { ...BODY, variables: { ...variables, more: { a: [1] } } }, yes],
  [
    'variables named as what every object has',
    { ...BODY, variables: { ...variables, toString: 1, hasOwnProperty: 2 } },
    yes,
  ],
  ['a null for a list with a default', { ...BODY, variables: { ...variables, ids: null } }, yes],
  ['a null for a text with a default', { ...BODY, variables: { ...variables, e: null } }, yes],
  ['one value where a list is meant', { ...BODY, variables: { ...variables, ids: MISSING } }, yes],
  ['an id in capitals', { ...BODY, variables: { ...variables, c: CHANNEL.toUpperCase() } }, yes],
  ['a number for an id', { ...BODY, variables: { ...variables, id: 5 } }, no],
  ['a list for an id', { ...BODY, variables: { ...variables, id: [MISSING] } }, no],
  ['extensions null', { ...BODY, extensions: null }, yes],
  ['extensions of nothing', { ...BODY, extensions: {} }, yes],
  [
    'extensions of the client library',
    { ...BODY, extensions: { clientLibrary: { name: '@apollo/client', version: '4' } } },
    yes,
  ],
  ['extensions as text', { ...BODY, extensions: '{}' }, no],
  ['extensions as a list', { ...BODY, extensions: [] }, no],
  ['extensions as a number', { ...BODY, extensions: 5 }, no],
  ['a persisted query of null', { ...BODY, extensions: { persistedQuery: null } }, yes],
  ['a persisted query of text', { ...BODY, extensions: { persistedQuery: 'x' } }, no],
  [
    'a persisted query of another version',
    { ...BODY, extensions: { persistedQuery: { version: 2, sha256Hash: sha(QUERY) } } },
    no,
  ],
  [
    'a persisted query, registered',
    { ...BODY, extensions: { persistedQuery: { version: 1, sha256Hash: sha(QUERY) } } },
    no,
  ],
  [
    'a persisted query, by its hash',
    { variables, extensions: { persistedQuery: { version: 1, sha256Hash: sha(QUERY) } } },
    no,
  ],
  [
    'a persisted query with a wrong hash',
    { ...BODY, extensions: { persistedQuery: { version: 1, sha256Hash: sha('x') } } },
    no,
  ],
  [
    'a persisted query that nobody registered',
    { variables, extensions: { persistedQuery: { version: 1, sha256Hash: sha('y') } } },
    no,
  ],
  ['keys that mean nothing', { ...BODY, more: 1, id: 'x', batched: true }, yes],
  ['a documentId beside it', { ...BODY, documentId: 'x' }, yes],
  ['a list of operations', [BODY, BODY], no],
  ['an empty list', [], no],
  ['an empty object', {}, no],
  ['an empty query', { query: '' }, no],
  ['a query of null', { query: null, variables }, no],
  ['a query of a number', { query: 5 }, no],
  ['a parsed query', { query: { kind: 'Document' } }, no],
  [
    'a subscription',
    {
      query: `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${MISSING}") { __typename } }`,
    },
    no,
  ],
  [
    'more lookups than one operation may make',
    { ...BODY, variables: { ...variables, ids: Array.from({ length: 499 }, () => MISSING) } },
    no,
  ],
  [
    'as many as it may make, but more than one batch',
    { ...BODY, variables: { ...variables, ids: Array.from({ length: 498 }, () => MISSING) } },
    yes,
  ],
])('a body with %s', async (_what, body, isPrepared) => {
  expect((await expectSame({ body })).isPrepared).toBe(isPrepared);
  expect((await expectSame({ body })).isPrepared).toBe(
    // Its own name is another way to ask the same, learned by being asked.
    isPrepared || _what === 'its own operationName' || _what === 'an operationName of the other',
  );
});

test.each<[string, string]>([
  ['no JSON', '{'],
  ['nothing', ''],
  ['null', 'null'],
  ['a text', '"a"'],
  ['a prototype of its own', `{"query":"{ __typename }","__proto__":{"variables":{}}}`],
  ['a prototype of its variables', `{"query":"{ __typename }","variables":{"__proto__":{"c":1}}}`],
  ['a constructor', `{"query":"{ __typename }","variables":{"constructor":{"prototype":{"c":1}}}}`],
  ['a key twice', `{"query":"{ __typename }","query":"{ nosuch }"}`],
])('a body that is %s', async (_what, body) => {
  await expectSame({ body });
});

test.each<[string, Asked]>([
  [
    'GET',
    {
      method: 'GET',
      search: `?${new URLSearchParams({ query: UNNAMED })}`,
      headers: { 'apollo-require-preflight': '1', 'content-type': undefined },
    },
  ],
  [
    'GET without a header that no form can send',
    {
      method: 'GET',
      search: `?${new URLSearchParams({ query: UNNAMED })}`,
      headers: { 'content-type': undefined },
    },
  ],
  [
    'HEAD',
    {
      method: 'HEAD',
      search: `?${new URLSearchParams({ query: UNNAMED })}`,
      headers: { 'apollo-require-preflight': '1', 'content-type': undefined },
    },
  ],
  ['OPTIONS', { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'POST' } }],
  ['PUT', { method: 'PUT', body: BODY }],
  [
    'POST with parameters in the address',
    { search: `?${new URLSearchParams({ query: '{ nosuch }' })}`, body: BODY },
  ],
])('by %s', async (_what, asked) => {
  await expectSame(asked);
});

test.each<[string, Asked['headers'], boolean]>([
  ['from a page that may', { origin: ORIGIN }, yes],
  ['from a page that may not', { origin: 'https://evil.example' }, yes],
  ['with wrong credentials', { authorization: 'Bearer nobody' }, no],
  ['without credentials', { authorization: undefined }, no],
  ['with credentials twice', { authorization: ['Bearer a', 'Bearer b'] }, no],
  ['without the scope', keyed('no-scope'), yes],
  ['with another scope', keyed('creator'), yes],
  ['of another channel', keyed('elsewhere'), yes],
  ['for a host of another name', { host: 'evil.example' }, yes],
])('a caller %s', async (_what, headers, isPrepared) => {
  const told = await expectSame({ headers, body: BODY });
  expect(told.isPrepared).toBe(isPrepared);
  if (Object.keys(headers ?? {}).includes('authorization')) {
    expect(told.calls).toEqual([]);
    expect(told.body).not.toContain('"status"');
  }
});

test('what does not fit is not repeated, though the operation is prepared', async () => {
  const PAN = '4111111111111111';
  for (const wrong of [PAN, [PAN], { pan: PAN }, Number(PAN)])
    for (const name of ['c', 'id', 'ids', 'e', 'more', PAN]) {
      const told = await expectSame({ body: { ...BODY, variables: { ...variables, [name]: wrong } } });
      expect(JSON.stringify(told)).not.toContain(PAN);
    }
});

test.each([
  ['a card number among its names', '{ a4111111111111111: __typename }'],
  ['99 KB', `{ __typename } # ${'x'.repeat(99 * 1024)}`],
  ['more than 100 KB', `{ __typename } # ${'x'.repeat(100 * 1024)}`],
  ['more tokens than a document may have', `{ ${'__typename '.repeat(5001)} }`],
  ['two operations and no name for them', TWO],
  ['no such field', '{ nosuch }'],
  ['no end', '{'],
  ['introspection', '{ __schema { queryType { name } } }'],
])('a document with %s, asked again and again', async (_what, query) => {
  for (let count = 0; count < 4; count += 1) await expectSame({ body: { query } });
});

describe('An input of which exactly one field must be given', () => {
  const CREATE = `mutation Create($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;
  const input = { idempotencyKey: 'one', channel: CHANNEL, amount: { currency: 'INR', value: '1.00' } };

  beforeAll(async () => {
    // Refused by a rule, before anything is sent: known to be valid as a document all the same.
    const method = { redirect: 'UPI' };
    const wrong = { ...input, amount: { currency: 'xx', value: '1.00' }, method };
    await ways.prepare({ query: CREATE, variables: { input: wrong } });
  });

  test.each<[string, unknown]>([
    ['none', {}],
    ['two', { redirect: 'UPI', upi: { email: 'ann@example.com' } }],
    ['a null', { redirect: null }],
    ['one and a null', { redirect: 'UPI', upi: null }],
    ['an unknown one', { nosuch: 1 }],
    ['null itself', null],
  ])('is refused with %s, both ways the same, and nothing is sent', async (_what, method) => {
    const told = await expectSame({ body: { query: CREATE, variables: { input: { ...input, method } } } });
    expect(told.body).toContain('BAD_USER_INPUT');
    expect(told.calls).toEqual([]);
  });
});
