import { createInput } from '../support/caller';
import { DOCUMENTS, validCall } from '../support/calls';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, closeAfterTests, testSandbox } from '../support/gateway';
import { post, raw, type RawResult } from '../support/raw';
import { newKey } from '../support/harness';
import { Wire, postText } from '../support/wire';
import { startOpenGateway } from './support/open-gateway';
import { startServer, type Server } from './support/servers';

const SHOP = 'https://shop.example';
const APOLLO = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];
const HELLO = '{"query":"{ __typename }"}';
const PAGE = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;
const LOOKUP = `query ($c: UUID!) { payment(channel: $c, externalId: "order-1") { __typename } }`;

let server: Server;
/** A gateway with CORS_ORIGINS and trusted proxies. */
let listed: Server;
/** URL of a gateway in sandbox mode: without authentication, and with a page for browsers. */
let sandboxMode: string;

beforeAll(async () => {
  server = await startServer();
  listed = await startServer({
    CORS_ORIGINS: `${SHOP},https://other.example:8443`,
    TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8',
  });
  sandboxMode = closeAfterTests(await startOpenGateway((await testSandbox()).url)).url;
});

describe('A response', () => {
  const RESPONSES: [string, status: number, () => Promise<RawResult>][] = [
    ['to an operation', 200, () => post(server.client.url, HELLO)],
    ['to a body that is not JSON', 400, () => post(server.client.url, '{')],
    ['to a body that is too large', 413, () => post(server.client.url, ' '.repeat(102_401))],
    ['to an unknown caller', 401, () => post(server.client.url, HELLO, { authorization: 'Bearer nobody' })],
    ['to a browser where no page is served', 400, () => raw(server.client.url, { headers: PAGE })],
    ['to an unknown path', 404, () => raw(`${server.base}/nosuch`)],
    ['to a malformed path', 404, () => raw(`${server.base}/%`)],
    ['of the liveness check', 200, () => raw(`${server.base}/healthz`)],
    ['with the page for browsers', 200, () => raw(`${sandboxMode}/graphql`, { headers: PAGE })],
  ];
  const match = (pattern: RegExp): unknown => expect.stringMatching(pattern) as unknown;

  test.each(RESPONSES)('%s has status %d and the security headers', async (what, status, ask) => {
    const response = await ask();
    expect(response.status).toBe(status);
    const isPage = what === 'with the page for browsers';
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': match(/^deny$/i),
      'content-security-policy': match(
        /(?=.*frame-ancestors 'none')(?=.*object-src 'none')(?=.*base-uri 'none')/,
      ),
      'referrer-policy': 'no-referrer',
      'strict-transport-security': match(/max-age=\d{8}/),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': match(/^same-(origin|site)$/),
      'cache-control': match(/\bno-store\b/),
      'x-request-id': match(/^[0-9a-f-]{36}$/),
      'content-type': match(isPage ? /^text\/html/ : /^application\/(\S+\+)?json\b/),
    });
    for (const name of ['server', 'x-powered-by', 'via', 'set-cookie', 'access-control-allow-origin', 'etag'])
      expect([name, response.headers.get(name)]).toEqual([name, null]);
    if (!isPage) expect(response.text).not.toMatch(/<\w/);
  });
});

/** Sends a preflight and an operation, neither of which may allow every origin, cookies or private networks. */
async function both(base: string, origin: string): Promise<RawResult[]> {
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const responses = await Promise.all([
    raw(`${base}/graphql`, { method: 'OPTIONS', headers: { origin, ...preflight } }),
    post(`${base}/graphql`, HELLO, { origin }),
  ]);
  for (const { headers } of responses) {
    expect(headers.get('access-control-allow-origin')).not.toBe('*');
    for (const name of ['credentials', 'private-network'])
      expect(headers.get(`access-control-allow-${name}`)).toBeNull();
  }
  return responses;
}

const corsHeaders = ({ headers }: RawResult): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  test.each([SHOP, APOLLO[0]!, 'null'])(
    'does not allow the origin %s if CORS_ORIGINS is not set',
    async (origin) => {
      const responses = await both(server.base, origin);
      expect(responses[0]?.status).toBeGreaterThanOrEqual(400);
      expect(responses.flatMap(corsHeaders)).toEqual([]);
    },
  );

  test.each([SHOP, 'https://other.example:8443'])('allows the origin %s of CORS_ORIGINS', async (origin) => {
    const [request, response] = await both(listed.base, origin);
    const vary: unknown = expect.stringMatching(/\borigin\b/i);
    expect([request?.status, response?.status]).toEqual([204, 200]);
    expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization',
      vary,
    });
    expect(Object.fromEntries(response?.headers ?? [])).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': expect.stringMatching(/x-request-id/) as unknown,
      vary,
    });
  });

  test.each([
    ...['https://shop.example.evil.example', 'https://evil-shop.example', 'http://shop.example', '*', ''],
    ...['https://shop.example:444', `${SHOP}/`, `${SHOP}, https://evil.example`, 'null', APOLLO[0]!],
  ])('does not allow the origin %j, which is not in CORS_ORIGINS', async (origin) => {
    for (const { headers } of await both(listed.base, origin)) {
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('vary')).toMatch(/\borigin\b/i);
    }
  });

  test('lets a page of an allowed origin read a response with 401, but no health check', async () => {
    const headers = { origin: SHOP, authorization: 'Bearer nobody' };
    const response = await post(listed.client.url, HELLO, headers);
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([401, SHOP]);
    for (const path of ['/healthz', '/readyz'])
      expect(corsHeaders(await raw(listed.base + path, { headers }))).toEqual([]);
  });

  test('allows only Apollo’s explorers in sandbox mode, or only CORS_ORIGINS if that is set', async () => {
    const { url } = await testSandbox();
    const own = closeAfterTests(await startOpenGateway(url, { CORS_ORIGINS: SHOP }));
    const bases: [string, string[]][] = [
      [sandboxMode, APOLLO],
      [own.url, [SHOP]],
    ];
    for (const [base, allowed] of bases)
      for (const origin of [...APOLLO, SHOP, 'https://apollographql.com'])
        for (const { headers } of await both(base, origin))
          expect(headers.get('access-control-allow-origin')).toBe(allowed.includes(origin) ? origin : null);
  });
});

test('A gateway in sandbox mode without authentication serves only host names of its own machine', async () => {
  const statuses: number[] = [];
  for (const host of ['localhost', 'evil.example']) {
    const wire = (await Wire.open(sandboxMode)).write(
      postText(HELLO, [`Host: ${host}`, 'Connection: close']),
    );
    statuses.push(...(await wire.end()).map(({ status }) => status));
  }
  expect(statuses).toEqual([200, 403]);
});

test('A gateway in sandbox mode without authentication opens no event stream for a page of a foreign origin', async () => {
  const parameters = new URLSearchParams({ query: 'subscription { nosuch }' }).toString();
  const statusFor = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(`${sandboxMode}/graphql/stream?${parameters}`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  expect(await statusFor({})).toBe(200);
  expect(await statusFor({ origin: sandboxMode })).toBe(200);
  expect(await statusFor({ origin: APOLLO[0]! })).toBe(200);
  for (const origin of ['https://evil.example', 'null']) expect(await statusFor({ origin })).toBe(403);
});

describe('Headers of a caller', () => {
  /** Headers that proxies and frameworks interpret. */
  const STRANGE: Record<string, string> = {
    cookie: 'session=evil',
    'idempotency-key': 'evil',
    origin: 'https://evil.example',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'user-agent': 'evil/1.0',
    'x-api-key': 'evil',
    'x-forwarded-for': '1.2.3.4',
    'x-request-id': 'evil',
    'x-signature': 'evil',
    'x-timestamp': '1',
  };
  const ALWAYS = ['accept', 'connection', 'host', 'x-api-key', 'x-signature', 'x-timestamp'];

  test.each([
    ['a lookup of a payment', LOOKUP, { c: CHANNEL }, 'GET payment/'],
    ['a lookup of a payout', LOOKUP.replace('payment', 'payout'), { c: CHANNEL }, 'GET payout/'],
    ['a payment create', CREATE, { input: createInput('payment', newKey()) }, 'POST payment/'],
    ['a payout create', DOCUMENTS.createPayout, { input: createInput('payout', newKey()) }, 'POST payout/'],
    ['a confirm', DOCUMENTS.confirmPayment, validCall('confirmPayment', 'upi'), 'POST payment/confirm/'],
  ])('are not forwarded to the service with %s', async (_what, query, variables, sent) => {
    const { requests } = server.service;
    requests.length = 0;
    await server.client.request(query, { ...variables }, { ...STRANGE, ...AUTHORIZED });
    expect(requests.map((request) => `${request.method} ${request.path}`)).toContain(
      `${sent.replace(' ', ' /api/v1/')}`,
    );
    for (const { method, headers } of requests) {
      const names = method === 'GET' ? ALWAYS : [...ALWAYS, 'content-length', 'content-type'];
      expect(Object.keys(headers).sort()).toEqual(names.sort());
      expect(JSON.stringify(headers)).not.toMatch(/evil|1\.2\.3\.4/);
    }
  });
});

describe('X-Forwarded-For', () => {
  async function addressOf(gateway: Server, forwardedFor: string): Promise<string | undefined> {
    const key = newKey();
    const headers = { ...AUTHORIZED, 'x-forwarded-for': forwardedFor };
    await gateway.client.request(CREATE, { input: createInput('payment', key) }, headers);
    const lines = gateway.auditText().split('\n');
    const calls = lines.filter((line) => line.includes('"event":"call"') && line.includes(key));
    expect(calls).toHaveLength(1);
    return (JSON.parse(calls[0] ?? '') as { ip?: string }).ip;
  }

  test('is ignored without TRUSTED_PROXIES', async () => {
    for (const header of ['203.0.113.7', '203.0.113.7, 127.0.0.1'])
      expect(await addressOf(server, header)).toBe('127.0.0.1');
  });

  test('is ignored when its sender is not a trusted proxy', async () => {
    const other = await startServer({ TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.1' });
    expect(await addressOf(other, '203.0.113.7')).toBe('127.0.0.1');
  });

  test.each([
    ['names the caller', '2001:db8::7', '2001:db8::7'],
    ['is read from the right: forged entries are ignored', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['may list several trusted proxies', '203.0.113.7, 10.1.2.3', '203.0.113.7'],
  ])('of a trusted proxy %s', async (_what, header, ip) => {
    expect(await addressOf(listed, header)).toBe(ip);
  });
});
