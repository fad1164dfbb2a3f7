import { CHANNEL, clear, type LoggedGateway } from '../support/gateway';
import { sha256 } from '../support/manifests';
import { expectErrors, post, raw } from '../support/raw';
import { startRuleHarness } from './fixtures/rig';

let harness: LoggedGateway;
let base: string;

beforeAll(async () => {
  harness = await startRuleHarness();
  base = harness.client.gateway.url;
});

beforeEach(() => clear(harness));

const HELLO = '{ __typename }';
const query = (text: string): string => JSON.stringify({ query: text });
const NO_ID = `{ payment(channel: "${CHANNEL}") { __typename } }`;
const PREFLIGHT = { 'apollo-require-preflight': 'true' };
const BAD = 'BAD_REQUEST';

test.each(['/healthz', '/readyz'])(
  '%s responds with 200 although the payment service is down',
  async (path) => {
    const alone = await startRuleHarness();
    await alone.service.close();
    expect((await raw(alone.client.gateway.url + path)).status).toBe(200);
  },
);

const byGet = (text: string): string => `/graphql?query=${encodeURIComponent(text)}`;

const sent = (body: string, type = 'application/json'): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
});

/** Description, path, request, status and code. */
const REFUSED: [string, string, RequestInit, number[], string | RegExp][] = [
  // Requests that a page of another origin could send without a preflight request.
  [
    'a form',
    '/graphql',
    sent('query=%7B__typename%7D', 'application/x-www-form-urlencoded'),
    [400, 415],
    BAD,
  ],
  ['a multipart form', '/graphql', sent('--x--', 'multipart/form-data; boundary=x'), [400, 415], BAD],
  ['plain text', '/graphql', sent(query(HELLO), 'text/plain'), [400, 415], BAD],
  ['no content type', '/graphql', { method: 'POST', body: new Blob([query(HELLO)]) }, [400, 415], BAD],
  ['a GET without the preflight header', byGet(HELLO), {}, [400], BAD],
  [
    'a batch of operations',
    '/graphql',
    sent(JSON.stringify([{ query: HELLO }, { query: HELLO }])),
    [400],
    BAD,
  ],
  ['broken JSON', '/graphql', sent('{"query": '), [400], BAD],
  ['an empty document', '/graphql', sent(query('')), [400], /^(BAD_REQUEST|GRAPHQL_PARSE_FAILED)$/],
  ['a syntax error', '/graphql', sent(query('{')), [400], 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '/graphql', sent(query('{ nosuch }')), [400], 'GRAPHQL_VALIDATION_FAILED'],
  [
    'two operations without an operation name',
    '/graphql',
    sent(query('query A { a: __typename } query B { __typename }')),
    [400],
    'OPERATION_RESOLUTION_FAILURE',
  ],
  ['a lookup without an id', '/graphql', sent(query(NO_ID)), [200], 'BAD_USER_INPUT'],
  ['an unknown path', '/nosuch', {}, [404, 405], BAD],
  ['a path below the endpoint', '/graphql/nosuch', { method: 'POST' }, [404, 405], BAD],
  ['an unknown method', '/graphql', { method: 'PUT' }, [404, 405], BAD],
];

test.each(REFUSED)(
  '%s gets the documented status and code, and a request id that the caller cannot choose',
  async (...[, path, init, statuses, code]) => {
    const headers = { ...(init.headers as Record<string, string>), 'x-request-id': 'chosen-by-the-caller' };
    const response = await raw(base + path, { ...init, headers });
    expect(statuses).toContain(response.status);
    expectErrors(response, code);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.data ?? { payment: null }).toEqual({ payment: null });
  },
);

describe('The GraphQL endpoint', () => {
  test('refuses a mutation by GET', async () => {
    const text = `mutation { confirmPayment(input: { channel: "${CHANNEL}", transactionId: "${CHANNEL}", confirmation: { upi: { utr: "1" } } }) { __typename } }`;
    const response = await raw(base + byGet(text), { headers: PREFLIGHT });
    expect(response.status).toBe(405);
    expectErrors(response, BAD);
    expect(response.headers.get('allow')).toBe('POST');
    expect(harness.service.requests).toHaveLength(0);
  });

  test('accepts a body of 100 KB and refuses a larger one', async () => {
    const filler = (size: number): string => `# ${'x'.repeat(size)}\n${HELLO}`;
    const overhead = Buffer.byteLength(query(filler(0)));
    const largest = await post(harness.client.url, query(filler(100 * 1024 - overhead)));
    expect(largest).toMatchObject({ status: 200, data: { __typename: 'Query' } });
    const larger = await post(harness.client.url, query(filler(100 * 1024 - overhead + 1)));
    expect(larger.status).toBe(413);
    expectErrors(larger, /^(BAD_REQUEST|OPERATION_TOO_LARGE)$/);
  });

  test('gives each request a new id, also when many run at once', async () => {
    const requests = Array.from({ length: 50 }, () => post(harness.client.url, query(NO_ID)));
    const responses = await Promise.all(requests);
    responses.forEach((response) => expectErrors(response, 'BAD_USER_INPUT'));
    const ids = new Set(responses.map(({ headers }) => headers.get('x-request-id')));
    expect(ids.size).toBe(50);
    const logged = harness.logLines.flatMap((line) => {
      const { msg, requestId } = JSON.parse(line) as { msg: string; requestId: string };
      return msg === 'operation' ? [requestId] : [];
    });
    expect(new Set(logged)).toEqual(ids);
  });
});

test('Introspection is off with a real service unless it is switched on', async () => {
  const ask = query('{ __schema { queryType { name } } }');
  expect((await post(harness.client.url, ask)).errors).toBeUndefined();
  const { client } = await startRuleHarness({ INTROSPECTION: '' });
  const response = await post(client.url, ask);
  expect(response.status).toBe(400);
  expectErrors(response, 'GRAPHQL_VALIDATION_FAILED');
});

test('An automatic persisted query is found by its hash after its text was sent, and refused under another hash', async () => {
  const text = '{ persisted: __typename }';
  const extensionsOf = (hashed: string) => ({
    persistedQuery: { version: 1, sha256Hash: sha256(hashed) },
  });
  const extensions = extensionsOf(text);
  const unknown = await post(harness.client.url, JSON.stringify({ extensions }));
  expectErrors(unknown, 'PERSISTED_QUERY_NOT_FOUND');
  // Clients compare the message.
  expect(unknown.errors?.[0]?.message).toBe('PersistedQueryNotFound');
  expect(
    (await post(harness.client.url, JSON.stringify({ query: text, extensions }))).errors,
  ).toBeUndefined();
  const search = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
  const byHash = await raw(harness.client.url + search, { headers: PREFLIGHT });
  expect(byHash).toMatchObject({ status: 200, data: { persisted: 'Query' } });
  const other = { query: HELLO, extensions: extensionsOf('something else') };
  expectErrors(await post(harness.client.url, JSON.stringify(other)), 'BAD_REQUEST');
});
