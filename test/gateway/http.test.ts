import { createHash } from 'node:crypto';
import { CHANNEL, clear, type LoggedGateway } from '../support/gateway';
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
const PREFLIGHT = { 'apollo-require-preflight': 'true' };

test.each(['/healthz', '/readyz'])(
  '%s responds with 200 although the payment service is down',
  async (path) => {
    const alone = await startRuleHarness();
    await alone.service.close();
    expect((await raw(alone.client.gateway.url + path)).status).toBe(200);
  },
);

describe('A request that a page of another origin could send without preflight', () => {
  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'query=%7B__typename%7D'],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
    ['plain text', 'text/plain', query(HELLO)],
    ['no content type', undefined, new Blob([query(HELLO)])],
  ])('is refused: %s', async (_what, type, body) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const response = await raw(harness.client.url, { method: 'POST', body, headers });
    expect([400, 415]).toContain(response.status);
    expectErrors(response, 'BAD_REQUEST');
    expect(response.data).toBeUndefined();
  });

  test('is refused: a GET without the preflight header', async () => {
    const response = await raw(`${harness.client.url}?query=${encodeURIComponent(HELLO)}`);
    expect(response.status).toBe(400);
    expectErrors(response, 'BAD_REQUEST');
  });
});

describe('The GraphQL endpoint', () => {
  test('accepts a query by GET with a preflight header', async () => {
    const response = await raw(`${harness.client.url}?query=${encodeURIComponent(HELLO)}`, {
      headers: PREFLIGHT,
    });
    expect(response).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  });

  test('refuses a mutation by GET', async () => {
    const text = `mutation { confirmPayment(input: { channel: "${CHANNEL}", transactionId: "${CHANNEL}", confirmation: { upi: { utr: "1" } } }) { __typename } }`;
    const response = await raw(`${harness.client.url}?query=${encodeURIComponent(text)}`, {
      headers: PREFLIGHT,
    });
    expect(response.status).toBe(405);
    expectErrors(response, 'BAD_REQUEST');
    expect(response.headers.get('allow')).toBe('POST');
    expect(harness.service.requests).toHaveLength(0);
  });

  test.each([
    ['a batch of operations', JSON.stringify([{ query: HELLO }, { query: HELLO }]), 'BAD_REQUEST'],
    ['broken JSON', '{"query": ', 'BAD_REQUEST'],
    ['an empty document', query(''), /^(BAD_REQUEST|GRAPHQL_PARSE_FAILED)$/],
    ['a syntax error', query('{'), 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', query('{ nosuch }'), 'GRAPHQL_VALIDATION_FAILED'],
    [
      'two operations without an operation name',
      query('query A { a: __typename } query B { __typename }'),
      /^OPERATION_RESOLUTION_FAILURE$/,
    ],
  ])('responds to %s with 400 and a code', async (_what, body, code) => {
    const response = await post(harness.client.url, body);
    expect(response.status).toBe(400);
    expectErrors(response, code);
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
});

describe('A path or method that does not exist', () => {
  test.each([
    ['GET', '/nosuch'],
    ['POST', '/graphql/nosuch'],
    ['PUT', '/graphql'],
  ])('gets 404 or 405 and a code: %s %s', async (method, path) => {
    const response = await raw(base + path, { method });
    expect([404, 405]).toContain(response.status);
    expectErrors(response, 'BAD_REQUEST');
  });
});

describe('The request id of a response', () => {
  test.each([
    ['a syntax error', '/graphql', query('{')],
    ['broken JSON', '/graphql', '{'],
    ['a lookup that fails', '/graphql', query(`{ payment(channel: "${CHANNEL}") { __typename } }`)],
    ['an unknown path', '/nosuch', '{}'],
  ])('is also in its errors, and cannot be chosen by the caller: %s', async (_what, path, body) => {
    const response = await post(base + path, body, { 'x-request-id': 'chosen-by-the-caller' });
    expectErrors(response, /./);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is new for each request, also when many run at once', async () => {
    const request = Array.from({ length: 50 }, () =>
      post(harness.client.url, query(`{ payment(channel: "${CHANNEL}") { __typename } }`)),
    );
    const responses = await Promise.all(request);
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
    persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(hashed).digest('hex') },
  });
  const extensions = extensionsOf(text);
  const unknown = await post(harness.client.url, JSON.stringify({ extensions }));
  expectErrors(unknown, 'PERSISTED_QUERY_NOT_FOUND');
  // Clients compare the message.
  expect(unknown.errors?.[0]?.message).toBe('PersistedQueryNotFound');
  for (const body of [{ query: text, extensions }, { extensions }])
    expect(await post(harness.client.url, JSON.stringify(body))).toMatchObject({
      data: { persisted: 'Query' },
    });
  const search = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
  const byGet = await raw(harness.client.url + search, { headers: PREFLIGHT });
  expect(byGet).toMatchObject({ status: 200, data: { persisted: 'Query' } });
  const other = { query: HELLO, extensions: extensionsOf('something else') };
  expectErrors(await post(harness.client.url, JSON.stringify(other)), 'BAD_REQUEST');
});
