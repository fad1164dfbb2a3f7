import { readdirSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { greeting } from '../../src/greeting';
import { closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { startOpenGateway } from '../http/support/open-gateway';
import { BUILT, buildIfStale } from './support/built';

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Asks for exactly that path, which fetch would tidy up, and takes the bytes as they come. */
const get = (base: string, path: string, headers = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(base, { path, headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });

let sandboxUrl: string;
let url: string;
let assets: string[];

const open = async (env: Record<string, string> = {}): Promise<string> =>
  closeAfterTests(await startOpenGateway(sandboxUrl, env)).url;

beforeAll(async () => {
  buildIfStale();
  assets = readdirSync(BUILT).filter((name) => !/\.(html|br|gz)$/.test(name));
  sandboxUrl = (await testSandbox()).url;
  url = await open();
}, 240_000);

describe('The page', () => {
  test('is there where nothing is configured, and says that it stands before the sandbox', async () => {
    const { status, headers, body } = await get(url, '/explorer');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(String(body)).toContain('data-service="sandbox" data-callers="anybody"');
  });

  test('names nothing that another host would have to serve', async () => {
    const { body } = await get(url, '/explorer');
    const names = [...String(body).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name = '']) => name);
    expect(
      names.map((name) => name.replace(/^explorer\//, '')).filter((name) => assets.includes(name)),
    ).toEqual(names.map((name) => name.replace(/^explorer\//, '')));
    const style = names.find((name) => name.endsWith('.css')) ?? '';
    const loaded = [...String((await get(url, `/${style}`)).body).matchAll(/url\((['"]?)([^)]{0,12})/g)];
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter(([, , address = '']) => !/^(data:|#)/.test(address))).toEqual([]);
  });

  test('allows scripts, workers and connections of this gateway alone, and evaluates nothing', async () => {
    const { headers } = await get(url, '/explorer');
    const policy = String(headers['content-security-policy']).split(';');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "object-src 'none'",
      ]),
    );
    expect(policy.join()).not.toMatch(/unsafe-eval|script-src[^,]*unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test('is asked for again every time, and not sent again while it is the same', async () => {
    const first = await get(url, '/explorer');
    expect(first.headers['cache-control']).toBe('no-cache');
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const second = await get(url, '/explorer', { 'if-none-match': known });
      expect([second.status, second.body.length, second.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await get(url, '/explorer', { 'if-none-match': '"other"' })).status).toBe(200);
  });
});

describe('Its assets', () => {
  test('are all served, safe to keep for ever where the name says what is in them', async () => {
    expect(assets.filter((name) => /^(editor|json|graphql)\.worker-\w+\.js$/.test(name))).toHaveLength(3);
    for (const name of assets) {
      const { status, headers } = await get(url, `/explorer/${name}`);
      const hashed = name !== 'licences.txt';
      expect({ name, status, ...headers }).toMatchObject({
        status: 200,
        'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        'content-type': expect.stringMatching(/^(text\/(javascript|css|plain)|image\/svg\+xml)/) as unknown,
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        etag: expect.stringMatching(/^"[^"]+"$/) as unknown,
      });
    }
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
    ['br; q=0', undefined],
  ])('who accepts %s gets the same bytes as %s', async (accepted, encoding) => {
    const name = assets.find((one) => one.startsWith('main-') && one.endsWith('.js'));
    const plain = await get(url, `/explorer/${name}`);
    const { headers, body } = await get(url, `/explorer/${name}`, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    const decoded = encoding === 'br' ? brotliDecompressSync(body) : encoding ? gunzipSync(body) : body;
    expect(decoded.equals(plain.body)).toBe(true);
    expect(headers.etag === plain.headers.etag).toBe(encoding === undefined);
  });

  test('come with the licences of everything in the bundle', async () => {
    const { body } = await get(url, '/explorer/licences.txt');
    for (const name of ['graphiql', 'monaco-editor', 'react', 'graphql', 'graphql-ws'])
      expect(String(body)).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
  });
});

test.each(['/explorer', '/explorer/licences.txt'])(
  'HEAD %s is answered as GET is, without a body',
  async (path) => {
    const [whole, head] = [await get(url, path), await get(url, path, {}, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
      expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
  },
);

test.each([
  '/explorer/',
  '/explorer/index.html',
  '/explorer/main.js',
  '/explorer/licences.txt.br',
  '/explorer/licences.txt/',
  '/explorer/a/b.js',
  '/explorer/../http/app.js',
  '/explorer/..%2fserver.js',
  '/explorer/%2e%2e/server.js',
  '/explorer/..%5cserver.js',
  '/explorer/%2e%2e%2f%2e%2e%2fpackage.json',
  '/explorer/%00.js',
  '/explorers',
])('there is nothing at %s', async (path) => {
  const { status, headers } = await get(url, path);
  expect(status).toBe(404);
  expect(headers['content-type']).toMatch(/^application\/json/);
});

test('an address that is too long is not told back', async () => {
  const { status, headers, body } = await get(url, `/explorer/${'secret'.repeat(30)}`);
  expect(status).toBe(414);
  expect(headers['x-request-id']).toBeDefined();
  expect(headers['cache-control']).toBe('no-store');
  expect(JSON.parse(String(body))).toMatchObject({ errors: [{ message: 'The request cannot be served.' }] });
  expect(String(body)).not.toContain('secret');
});

test('nothing can be sent to it', async () => {
  expect((await get(url, '/explorer', {}, 'POST')).status).toBe(404);
});

describe('The setting EXPLORER', () => {
  const statusOf = async (base: string) => [
    (await get(base, '/explorer')).status,
    (await get(base, '/explorer/licences.txt')).status,
  ];

  test('on or off, the greeting says where it is only where it is', () => {
    const [gatewayUrl, sandboxUrl] = ['http://127.0.0.1:4000', 'http://127.0.0.1:4001/'];
    const said = (hasExplorer: boolean): string =>
      greeting({ gatewayUrl, sandboxUrl, hasExplorer, wantsKey: hasExplorer });
    expect(said(true)).toContain(`${gatewayUrl}/explorer`);
    expect(said(false)).not.toContain('explorer');
    // What is to be pasted has a place for a key only where one is asked for.
    expect(said(true)).toContain('authorization: Bearer <key>');
    expect(said(false)).not.toContain('authorization');
  });

  test('off: there is none, though there is a sandbox', async () => {
    expect(await statusOf(await open({ EXPLORER: 'off' }))).toEqual([404, 404]);
  });

  test('not set: there is none before a real service', async () => {
    const { gateway } = await testGateway(sandboxUrl);
    expect(await statusOf(gateway.url)).toEqual([404, 404]);
  });

  test('on: there is one before a real service, which says so and asks for credentials', async () => {
    const { gateway } = await testGateway(sandboxUrl, { env: { EXPLORER: 'on' } });
    const { status, body } = await get(gateway.url, '/explorer');
    expect(status).toBe(200);
    expect(String(body)).toContain('data-service="real" data-callers="known"');
  });
});
