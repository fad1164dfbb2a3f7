import { createHash } from 'node:crypto';
import { CHANNEL } from '../support/gateway';
import { expectErrors, post, raw } from './fixtures/raw';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;
let base: string;

beforeAll(async () => {
  rig = await newRig();
  base = rig.client.gateway.url;
});

beforeEach(() => clear(rig));

const HELLO = '{ __typename }';
const query = (text: string): string => JSON.stringify({ query: text });
const PREFLIGHT = { 'apollo-require-preflight': 'true' };

describe('Health', () => {
  test.each([
    ['/healthz', { status: 'ok' }],
    [
      '/readyz',
      { status: 'ready', checks: { journal: 'up', service: 'up', clock: 'steady', draining: false } },
    ],
  ])('%s says that all is well', async (path, body) => {
    const { status, text } = await raw(base + path);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual(body);
  });

  test('needs no service', async () => {
    const alone = await newRig();
    await alone.service.close();
    expect((await raw(`${alone.client.gateway.url}/readyz`)).status).toBe(200);
  });
});

describe('A request that a foreign page could make without asking is refused', () => {
  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'query=%7B__typename%7D'],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
    ['plain text', 'text/plain', query(HELLO)],
  ])('%s', async (_what, type, body) => {
    const answer = await post(rig.client.url, body, { 'content-type': type });
    expect([400, 415]).toContain(answer.status);
    expectErrors(answer, 'BAD_REQUEST');
    expect(answer.data).toBeUndefined();
  });

  test('a POST without a content type', async () => {
    const body = new Blob([query(HELLO)]);
    const answer = await raw(rig.client.url, { method: 'POST', body });
    expect([400, 415]).toContain(answer.status);
    expectErrors(answer, 'BAD_REQUEST');
  });

  test('a GET without a header that needs preflight', async () => {
    const answer = await raw(`${rig.client.url}?query=${encodeURIComponent(HELLO)}`);
    expect(answer.status).toBe(400);
    expectErrors(answer, 'BAD_REQUEST');
  });

  test('and says which headers would help', async () => {
    const answer = await raw(`${rig.client.url}?query=${encodeURIComponent(HELLO)}`);
    expect(answer.errors?.[0]?.message).toMatch(/preflight/i);
  });
});

describe('GraphQL over HTTP', () => {
  test('a GET with a preflight header may look things up', async () => {
    const answer = await raw(`${rig.client.url}?query=${encodeURIComponent(HELLO)}`, { headers: PREFLIGHT });
    expect(answer).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  });

  test('a GET moves no money', async () => {
    const text = `mutation { confirmPayment(input: { channel: "${CHANNEL}", transactionId: "${CHANNEL}", confirmation: { upi: { utr: "1" } } }) { __typename } }`;
    const answer = await raw(`${rig.client.url}?query=${encodeURIComponent(text)}`, { headers: PREFLIGHT });
    expect(answer.status).toBe(405);
    expectErrors(answer, 'BAD_REQUEST');
    expect(answer.headers.get('allow')).toBe('POST');
    expect(rig.service.seen).toHaveLength(0);
  });

  test('several operations in one request are refused', async () => {
    const answer = await post(rig.client.url, JSON.stringify([{ query: HELLO }, { query: HELLO }]));
    expect(answer.status).toBe(400);
    expectErrors(answer, 'BAD_REQUEST');
  });

  test.each([
    ['nothing', ''],
    ['broken JSON', '{"query": '],
    ['a number', '1'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['an empty document', query('')],
    ['a query that is a number', '{"query": 1}'],
    ['variables that are a list', '{"query": "{ __typename }", "variables": []}'],
  ])('a body that is %s is the fault of the caller', async (_what, body) => {
    const answer = await post(rig.client.url, body);
    expect(answer.status).toBe(400);
    expectErrors(answer, /^(BAD_REQUEST|GRAPHQL_PARSE_FAILED)$/);
  });

  test.each([
    ['a syntax error', '{', 400, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nosuch }', 400, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'two operations and no name',
      'query A { __typename } query B { __typename }',
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
  ])('%s has a status and a code', async (_what, text, status, code) => {
    const answer = await post(rig.client.url, query(text));
    expect(answer.status).toBe(status);
    expectErrors(answer, code);
  });

  test('a body of 100 KB is read, a larger one is refused', async () => {
    const filler = (size: number): string => `# ${'x'.repeat(size)}\n${HELLO}`;
    const overhead = Buffer.byteLength(query(filler(0)));
    const largest = await post(rig.client.url, query(filler(100 * 1024 - overhead)));
    expect(largest).toMatchObject({ status: 200, data: { __typename: 'Query' } });
    const larger = await post(rig.client.url, query(filler(100 * 1024 - overhead + 1)));
    expect(larger.status).toBe(413);
    expectErrors(larger, /^(BAD_REQUEST|OPERATION_TOO_LARGE)$/);
  });

  test('a persisted query is found by its hash once it has been sent', async () => {
    const text = '{ persisted: __typename }';
    const sha256Hash = createHash('sha256').update(text).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const unknown = await post(rig.client.url, JSON.stringify({ extensions }));
    expectErrors(unknown, 'PERSISTED_QUERY_NOT_FOUND');
    expect(unknown.errors?.[0]?.message).toBe('PersistedQueryNotFound');
    const sent = await post(rig.client.url, JSON.stringify({ query: text, extensions }));
    expect(sent).toMatchObject({ status: 200, data: { persisted: 'Query' } });
    const byHash = await post(rig.client.url, JSON.stringify({ extensions }));
    expect(byHash).toMatchObject({ status: 200, data: { persisted: 'Query' } });
    const search = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    const byGet = await raw(rig.client.url + search, { headers: PREFLIGHT });
    expect(byGet).toMatchObject({ status: 200, data: { persisted: 'Query' } });
  });

  test('a persisted query under the hash of another text is refused', async () => {
    const sha256Hash = createHash('sha256').update('something else').digest('hex');
    const answer = await post(
      rig.client.url,
      JSON.stringify({ query: HELLO, extensions: { persistedQuery: { version: 1, sha256Hash } } }),
    );
    expect(answer.status).toBe(400);
    expectErrors(answer, 'BAD_REQUEST');
  });

  test('no answer says how it may be cached by others', async () => {
    const answer = await post(rig.client.url, query(HELLO));
    expect(answer.headers.get('cache-control') ?? 'no-store').toMatch(/no-store/);
  });
});

describe('An address where nothing is', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/nosuch'],
    ['POST', '/graphql/nosuch'],
    ['PUT', '/graphql'],
    ['DELETE', '/graphql'],
  ])('%s %s is told where the gateway is', async (method, path) => {
    const answer = await raw(base + path, { method });
    expect([404, 405]).toContain(answer.status);
    expectErrors(answer, 'BAD_REQUEST');
  });
});

describe('The request id', () => {
  test.each([
    ['a syntax error', '/graphql', query('{')],
    ['broken JSON', '/graphql', '{'],
    ['a lookup that fails', '/graphql', query(`{ payment(channel: "${CHANNEL}") { __typename } }`)],
    ['nothing here', '/nosuch', '{}'],
  ])('in the head is that in the error, and never one of the caller: %s', async (_what, path, body) => {
    const answer = await post(base + path, body, { 'x-request-id': 'chosen-by-the-caller' });
    expectErrors(answer, /./);
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is never that of another request, also when many run at once', async () => {
    const asked = Array.from({ length: 50 }, () =>
      post(rig.client.url, query(`{ payment(channel: "${CHANNEL}") { __typename } }`)),
    );
    const answers = await Promise.all(asked);
    answers.forEach((answer) => expectErrors(answer, 'BAD_USER_INPUT'));
    const ids = new Set(answers.map(({ headers }) => headers.get('x-request-id')));
    expect(ids.size).toBe(50);
    const logged = rig.logLines.flatMap((line) => {
      const { msg, requestId } = JSON.parse(line) as { msg: string; requestId: string };
      return msg === 'operation' ? [requestId] : [];
    });
    expect(new Set(logged)).toEqual(ids);
  });
});

describe('Introspection', () => {
  const ASK = query('{ __schema { queryType { name } } }');

  test('is answered where it is on', async () => {
    expect(await post(rig.client.url, ASK)).toMatchObject({
      data: { __schema: { queryType: { name: 'Query' } } },
    });
  });

  test('is refused where it is off', async () => {
    const { client } = await newRig({ INTROSPECTION: 'off' });
    const answer = await post(client.url, ASK);
    expect(answer.status).toBe(400);
    expectErrors(answer, 'GRAPHQL_VALIDATION_FAILED');
    expect(await post(client.url, query(HELLO))).toMatchObject({ data: { __typename: 'Query' } });
  });

  test('is off before a real service unless it was asked for, and so is the page for browsers', async () => {
    const { client } = await newRig({ INTROSPECTION: '' });
    expectErrors(await post(client.url, ASK), 'GRAPHQL_VALIDATION_FAILED');
    const page = await raw(client.url, { headers: { accept: 'text/html' } });
    expect(page.text).not.toMatch(/<html/i);
  });
});
