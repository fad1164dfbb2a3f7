import { CHANNEL, type LoggedGateway } from '../support/gateway';
import { expectErrors, post, raw } from '../support/raw';
import { startRuleHarness } from './fixtures/rig';

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

const HELLO = '{ __typename }';
const query = (text: string): string => JSON.stringify({ query: text });
const NO_ID = `{ payment(channel: "${CHANNEL}") { __typename } }`;
const BAD = 'BAD_REQUEST';

test('The health checks respond with 200 even if the payment service is down', async () => {
  const { service, client } = await startRuleHarness();
  await service.close();
  for (const path of ['/healthz', '/readyz']) expect((await raw(client.gateway.url + path)).status).toBe(200);
});

const sent = (body: string | Blob, type?: string): RequestInit => ({
  method: 'POST',
  body,
  ...(type && { headers: { 'content-type': type } }),
});
const json = (body: string): RequestInit => sent(body, 'application/json');

const PREFLIGHT = { 'apollo-require-preflight': '1' };
const MUTATION = 'mutation { __typename }';

/** Description, request, statuses, code, and the path if it is not /graphql. */
const REFUSED: [string, RequestInit, number[], string, path?: string][] = [
  // Requests that a page of another origin could send without a preflight request.
  ['a form as body', sent('query=%7B__typename%7D', 'application/x-www-form-urlencoded'), [400, 415], BAD],
  ['plain text as body', sent(query(HELLO), 'text/plain'), [400, 415], BAD],
  ['no content type', sent(new Blob([query(HELLO)])), [400, 415], BAD],
  ['the method GET and no preflight header', {}, [400], BAD, `/graphql?query=${encodeURIComponent(HELLO)}`],
  ['a batch of operations', json(JSON.stringify([{ query: HELLO }, { query: HELLO }])), [400], BAD],
  ['broken JSON', json('{"query": '), [400], BAD],
  ['an empty document', json(query('')), [400], '(BAD_REQUEST|GRAPHQL_PARSE_FAILED)'],
  ['a syntax error', json(query('{')), [400], 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', json(query('{ nosuch }')), [400], 'GRAPHQL_VALIDATION_FAILED'],
  [
    'two operations without an operation name',
    json(query('query A { a: __typename } query B { __typename }')),
    [400],
    'OPERATION_RESOLUTION_FAILURE',
  ],
  ['a lookup without an id', json(query(NO_ID)), [200], 'BAD_USER_INPUT'],
  ['a mutation by GET', { headers: PREFLIGHT }, [405], BAD, `/graphql?query=${encodeURIComponent(MUTATION)}`],
  ['an unknown path', {}, [404, 405], BAD, '/nosuch'],
];

test.each(REFUSED)(
  'A request with %s gets the documented status and error code, and a request id from the gateway',
  async (...[, init, statuses, code, path = '/graphql']) => {
    const headers = { ...(init.headers as Record<string, string>), 'x-request-id': 'chosen-by-the-caller' };
    const response = await raw(harness.client.gateway.url + path, { ...init, headers });
    expect(statuses).toContain(response.status);
    expectErrors(response, code);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.data ?? { payment: null }).toEqual({ payment: null });
  },
);

test('A request body of 100 KB is accepted, and a larger body gets 413', async () => {
  const filler = (size: number): string => `# ${'x'.repeat(size)}\n${HELLO}`;
  const most = 100 * 1024 - Buffer.byteLength(query(filler(0)));
  const largest = await post(harness.client.url, query(filler(most)));
  expect(largest).toMatchObject({ status: 200, data: { __typename: 'Query' } });
  const larger = await post(harness.client.url, query(filler(most + 1)));
  expect(larger.status).toBe(413);
  expectErrors(larger, /^(BAD_REQUEST|OPERATION_TOO_LARGE)$/);
});

test('Introspection of a gateway with a real service is refused unless INTROSPECTION=on', async () => {
  const ask = query('{ __schema { queryType { name } } }');
  expect((await post(harness.client.url, ask)).errors).toBeUndefined();
  const { client } = await startRuleHarness({ INTROSPECTION: '' });
  const response = await post(client.url, ask);
  expect(response.status).toBe(400);
  expectErrors(response, 'GRAPHQL_VALIDATION_FAILED');
});
