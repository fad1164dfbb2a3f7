import { bearer } from '../auth/support/harness';
import { CLIENT_KEY } from '../support/credentials';
import { post, raw } from '../support/raw';
import { EventStream, parametersOf } from './support/event-stream';
import { startHarness, subscription, type SubscriptionHarness } from './support/harness';

const SHOP = 'https://shop.example';
const EVENTS = { accept: 'text/event-stream' };
const METHODS = ['GET', 'POST'] as const;

let harness: SubscriptionHarness;
let url: string;
let id: string;

beforeAll(async () => {
  harness = await startHarness({ env: { CORS_ORIGINS: SHOP } });
  url = `${harness.url}/stream`;
  id = harness.addPayment();
});

const safe = (headers: Iterable<[string, unknown]>): string[] =>
  [...headers]
    .filter(([name]) =>
      /^(x-(?!request-id|accel)|content-security|cross-origin|referrer|strict|origin-agent)/.test(name),
    )
    .map(([name, value]) => `${name}: ${String(value)}`)
    .sort();

describe.each(METHODS)('A request by %s to /graphql/stream', (method) => {
  const open = (payload: object, headers?: Record<string, string>): Promise<EventStream> =>
    EventStream.open(url, payload, { method, headers });

  test('gets a comment, an event for each state, and a completion event', async () => {
    const watched = harness.addPayment();
    const stream = await open(subscription(watched));
    expect(await stream.nextData()).toEqual({ status: 'PENDING' });
    for (const status of ['processing', 'mispaid', 'completed']) {
      await harness.change(watched, { status });
      expect(await stream.nextData()).toEqual({ status: status.toUpperCase() });
    }
    expect(await stream.rest()).toEqual([{ event: 'complete' }]);
    expect(stream.text).toMatch(/^:\n\nevent: next\ndata: \{/);
  });

  test('without a valid document and variables gets an error event with the request id of the response header, then a completion event', async () => {
    for (const payload of [
      { query: 'subscription {' },
      { query: subscription(id).query, variables: { channel: id } },
      { variables: {} },
    ]) {
      const stream = await open(payload);
      const requestId = stream.headers['x-request-id'];
      expect(await stream.rest()).toMatchObject([
        { event: 'next', data: { errors: [{ extensions: { requestId } }] } },
        { event: 'complete' },
      ]);
    }
  });

  test('gets the headers of an event stream, and the same security headers as a query', async () => {
    const stream = await open(subscription(id));
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    const query = await harness.client.request('{ __typename }');
    expect(safe(Object.entries(stream.headers))).toEqual(safe(query.headers));
    expect(stream.headers['content-encoding']).toBeUndefined();
    stream.disconnect();
  });

  test('gets CORS headers only if its origin is allowed', async () => {
    const own = await open(subscription(id), { origin: SHOP });
    expect(own.headers).toMatchObject({
      'access-control-allow-origin': SHOP,
      'access-control-expose-headers': 'x-request-id, retry-after',
      vary: expect.stringMatching(/\bOrigin\b/) as unknown,
    });
    const foreign = await open(subscription(id), { origin: 'https://evil.example' });
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
    own.disconnect();
    foreign.disconnect();
  });

  test.each([
    ['text/event-stream', 200],
    ['application/json, text/event-stream', 200],
    ['application/json', 406],
  ])('with the header accept: %s gets %i', async (accept, status) => {
    const stream = await open(subscription(id), { accept }).catch(() => undefined);
    expect(stream?.status).toBe(status);
    stream?.disconnect();
  });
});

describe('An invalid request to /graphql/stream', () => {
  const body = JSON.stringify(subscription('00000000-0000-4000-8000-000000000000'));
  const INVALID: [what: string, status: number, body: string, headers?: Record<string, string>][] = [
    ['an unknown key', 401, body, bearer('nobody')],
    ['a body that is not JSON', 400, '{"query":'],
    ['a list as body', 400, `[${body}]`],
    ['a number as query', 400, '{"query":5}'],
    ['a string as variables', 400, '{"query":"{ a }","variables":"x"}'],
    ['a form as body', 415, 'query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body that is too large', 413, JSON.stringify({ query: 'x'.repeat(200_000) })],
  ];

  test.each(INVALID)('with %s gets %i, like a query', async (_what, status, text, headers = {}) => {
    const code = status === 401 ? 'UNAUTHENTICATED' : 'BAD_REQUEST';
    const stream = await post(url, text, { ...EVENTS, ...headers });
    const query = await post(harness.url, text, headers);
    for (const response of [stream, query]) {
      const requestId = response.headers.get('x-request-id');
      expect(response.status).toBe(status);
      expect(response.errors).toMatchObject([{ extensions: { code, retryable: false, requestId } }]);
    }
    expect(safe(stream.headers)).toEqual(safe(query.headers));
    expect(safe(stream.headers)).toHaveLength(7);
    for (const [name, value] of [
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['www-authenticate', query.headers.get('www-authenticate')],
    ] as const)
      expect(stream.headers.get(name)).toBe(value);
  });

  test('by GET with variables that are not an object gets 400', async () => {
    for (const variables of ['{', '[]']) {
      const tail = new URLSearchParams({ query: subscription(id).query, variables }).toString();
      const response = await raw(`${url}?${tail}`, { headers: EVENTS });
      expect(response).toMatchObject({ status: 400, errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
    }
  });

  test('with a token in its URL gets 401', async () => {
    const tail = `authorization=Bearer%20${CLIENT_KEY}&access_token=${CLIENT_KEY}`;
    const response = await fetch(`${url}?${parametersOf(subscription(id))}&${tail}`, { headers: EVENTS });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });
});
