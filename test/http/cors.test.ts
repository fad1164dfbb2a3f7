import { closeAfterTests, testSandbox } from '../support/gateway';
import { post, raw, type RawResult } from '../gateway/fixtures/raw';
import { startOpenGateway } from './support/open-gateway';
import { startServer, type Server } from './support/servers';

const SHOP = 'https://shop.example';
const APOLLO = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];
const HELLO = '{"query":"{ __typename }"}';

/** What a browser asks before it lets a page make the call. It sends no credentials along. */
const preflight = (base: string, origin: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${base}/graphql`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
      ...headers,
    },
  });

const ask = (base: string, origin: string): Promise<RawResult> => post(`${base}/graphql`, HELLO, { origin });

const corsHeaders = ({ headers }: Pick<RawResult, 'headers'>): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

let listed: Server;
let unlisted: Server;
let sandboxMode: string;

beforeAll(async () => {
  listed = await startServer({ CORS_ORIGINS: `${SHOP},https://other.example:8443` });
  unlisted = await startServer();
  const sandbox = await testSandbox();
  sandboxMode = closeAfterTests(await startOpenGateway(sandbox.url)).url;
});

describe('Without CORS_ORIGINS, before a real service', () => {
  test.each([SHOP, ...APOLLO, 'null', 'http://localhost:4000'])(
    'a page of %s gets no leave',
    async (origin) => {
      const asked = await preflight(unlisted.base, origin);
      expect(asked.status).toBeGreaterThanOrEqual(400);
      expect(corsHeaders(asked)).toEqual([]);
      expect(corsHeaders(await ask(unlisted.base, origin))).toEqual([]);
    },
  );
});

describe('With CORS_ORIGINS', () => {
  test.each([SHOP, 'https://other.example:8443'])('a page of %s may call', async (origin) => {
    const asked = await preflight(listed.base, origin);
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
    const answer = await ask(listed.base, origin);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/x-request-id/);
  });

  test.each([
    'https://shop.example.evil.example',
    'https://evil-shop.example',
    'https://evil.example',
    'http://shop.example',
    'https://shop.example:444',
    'https://SHOP.example',
    'https://shop.example/',
    'https://shop.example, https://evil.example',
    'https://shop.example\t',
    'https://other.example',
    'null',
    '*',
    '',
    ...APOLLO,
  ])('a page of %j may not', async (origin) => {
    // A tab at the end is no part of a header's value.
    const isOwn = origin.trim() === SHOP;
    for (const answer of [await preflight(listed.base, origin), await ask(listed.base, origin)]) {
      const allowed = answer.headers.get('access-control-allow-origin');
      if (isOwn) expect(allowed).toBe(SHOP);
      else expect(allowed).toBeNull();
    }
  });

  test('what one origin was told is not kept for another', async () => {
    for (const origin of [SHOP, 'https://evil.example']) {
      for (const answer of [await preflight(listed.base, origin), await ask(listed.base, origin)])
        expect(answer.headers.get('vary')).toMatch(/\borigin\b/i);
    }
  });

  test('a page can read why it is refused', async () => {
    const answer = await post(`${listed.base}/graphql`, HELLO, {
      origin: SHOP,
      authorization: 'Bearer nobody',
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP);
  });

  test('health is nothing for pages', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(corsHeaders(await raw(listed.base + path, { headers: { origin: SHOP } }))).toEqual([]);
  });
});

describe('In sandbox mode', () => {
  test.each(APOLLO)('the explorer at %s may call', async (origin) => {
    const asked = await preflight(sandboxMode, origin);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect((await ask(sandboxMode, origin)).headers.get('access-control-allow-origin')).toBe(origin);
  });

  test.each([SHOP, 'null', 'http://localhost:3000', 'https://apollographql.com'])(
    'no other page may: %s',
    async (origin) => {
      expect((await preflight(sandboxMode, origin)).headers.get('access-control-allow-origin')).toBeNull();
      expect((await ask(sandboxMode, origin)).headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  test("CORS_ORIGINS replaces Apollo's origins", async () => {
    const sandbox = await testSandbox();
    const own = closeAfterTests(await startOpenGateway(sandbox.url, { CORS_ORIGINS: SHOP }));
    const allowed = async (origin: string) =>
      (await preflight(own.url, origin)).headers.get('access-control-allow-origin');
    expect([await allowed(SHOP), await allowed(APOLLO[0]!)]).toEqual([SHOP, null]);
  });
});

test('nobody is ever told "*", nor that credentials of the browser may come along', async () => {
  for (const base of [listed.base, unlisted.base, sandboxMode]) {
    for (const origin of [SHOP, 'https://evil.example', 'null', ...APOLLO]) {
      for (const answer of [await preflight(base, origin), await ask(base, origin)]) {
        expect(answer.headers.get('access-control-allow-origin')).not.toBe('*');
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
        expect(answer.headers.get('access-control-allow-private-network')).toBeNull();
      }
    }
  }
});

test('a preflight asks nothing of the service and costs nothing', async () => {
  const strict = await startServer({ CORS_ORIGINS: SHOP, RATE_LIMIT_PER_MINUTE: '1' });
  for (let count = 0; count < 5; count += 1) expect((await preflight(strict.base, SHOP)).status).toBe(204);
  expect((await ask(strict.base, SHOP)).status).toBe(200);
  expect(strict.service.seen).toHaveLength(0);
});
