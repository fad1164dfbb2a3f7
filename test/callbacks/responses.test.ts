import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import { createApp } from '../../src/http/server/app';
import { addCallbackRoute } from '../../src/http/server/callback-route';
import { Connections } from '../../src/http/server/connections';
import { closeAfterTests, logTo, testGateway } from '../support/gateway';
import { until } from '../support/latch';
import { upgradeLines } from '../subscriptions/support/upgrade';
import { Wire, requestText } from '../support/wire';

const tokens = new CallbackTokens('a secret');

const LIMIT_BYTES = 64 * 1024;
const MEGABYTE = 1024 * 1024;

let base: string;
/** Tokens that the route has read, log lines, and connections, each in order. */
const [read, logLines, sockets]: [string[], string[], Socket[]] = [[], [], []];

/** Starts the web server of the gateway with the callback route. */
beforeAll(async () => {
  const connections = new Connections(
    { maxConnections: 1000, maxConnectionsPerAddress: 0, trustedProxies: [] },
    { onConnectionRefused: () => undefined, onConnectionClosed: () => undefined },
  );
  const app = createApp({ log: logTo(logLines), trustedProxies: [], clientTimeoutMs: 20_000, connections });
  addCallbackRoute(app, (token) => void read.push(token));
  app.get('/broken', () => {
    throw new Error('a bug');
  });
  // Like @fastify/cors, adds a route for every OPTIONS request that no other route accepts.
  void app.register(async (scope) => {
    scope.options('*', (_request, reply) => reply.code(200).send('preflight'));
  });
  app.server.on('connection', (socket: Socket) => sockets.push(socket));
  await app.listen({ host: '127.0.0.1', port: 0 });
  closeAfterTests({ close: () => app.close() });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  for (const list of [read, sockets, logLines]) list.length = 0;
});

const bare = (line: string, headers: readonly string[] = []): string =>
  requestText(`${line} HTTP/1.1`, ['Host: gateway', ...headers]);

const withBody = (line: string, body: string, headers: readonly string[] = []): string =>
  requestText(`${line} HTTP/1.1`, ['Host: gateway', ...headers, `Content-Length: ${body.length}`], body);

/** Sends requests on one connection. Resolves with the statuses and all received bytes. */
async function exchange(requests: readonly string[]): Promise<{ statuses: number[]; received: string }> {
  const wire = await Wire.open(base);
  const responses = await wire.write(requests.join('')).responses(requests.length);
  wire.close();
  return { statuses: responses.map(({ status }) => status), received: wire.received };
}

/** Sends text on a new connection, and returns the responses until the server ends it. */
async function untilEnd(text: string) {
  const wire = await Wire.open(base);
  return wire.write(text).end();
}

describe('A request to /callbacks/<token>', () => {
  // Node.js closes the connection without a response to CONNECT.
  test.each(METHODS.filter((method) => method !== 'CONNECT'))('by %s gets an empty 204', async (method) => {
    const line = `${method} /callbacks/token`;
    const requests = [
      bare(line),
      withBody(line, '{"status":', ['Content-Type: application/json']),
      withBody(line, bare('POST /callbacks/hidden'), ['Content-Type: no type at all;;;=']),
    ];
    const { statuses, received } = await exchange(requests);
    expect(statuses).toEqual([204, 204, 204]);
    // Only response heads were received: a body would be between two heads or at the end.
    expect(received.match(/HTTP\/1\.1 204 No Content\r\n(?:[^\r\n]+\r\n)+\r\n/g)?.join('')).toBe(received);
    expect(received).not.toMatch(/^(?:content-length|content-type|transfer-encoding):/im);
    expect(read).toEqual(['token', 'token', 'token']);
  });

  test.each([
    ['expects 100 Continue', ['Expect: 100-continue']],
    [
      'offers an upgrade to HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ],
    ['sends a CORS preflight', ['Origin: https://shop.example', 'Access-Control-Request-Method: POST']],
  ])('gets 204 when the client %s', async (_what, headers) => {
    for (const method of ['POST', 'OPTIONS']) {
      const { received } = await exchange([withBody(`${method} /callbacks/token`, '', headers)]);
      const lines = received.split('\r\n').filter((text) => text.startsWith('HTTP/'));
      expect(lines.filter((text) => !text.includes(' 100 '))).toEqual(['HTTP/1.1 204 No Content']);
    }
    expect(read).toEqual(['token', 'token']);
  });

  test('gets the same response for a valid, a forged and a missing token', async () => {
    const good = tokens.encode(randomUUID());
    const forged = `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`;
    expect([tokens.decode(good) === null, tokens.decode(forged)]).toEqual([false, null]);
    const targets = [good, forged, 'token', '', `${good}/more`, 'A'.repeat(8000), '%zz', `${good}?a=b`];
    const seen = new Set<string>();
    for (const target of targets) {
      const { received } = await exchange([withBody(`POST /callbacks/${target}`, '{}')]);
      seen.add(received.replace(/^(date|x-request-id): .*$/gim, '$1'));
    }
    expect([...seen]).toEqual([expect.stringMatching(/^HTTP\/1\.1 204 /)]);
  });
});

describe('The token in the path of a callback', () => {
  test.each<[string, string[]]>([
    ['/callbacks/token?a=b/c', ['token']],
    ['https://other.example:8443/callbacks/token?a', ['token']],
    ['/callbacks/%zz', ['%zz']],
    ['/callbacks/', []],
    ['/callbacks/token/more', []],
    ['/callbacks//token', []],
  ])('is read undecoded from the only segment after /callbacks/: %s gives %j', async (target, expected) => {
    for (const method of ['GET', 'OPTIONS', 'PURGE']) {
      expect((await exchange([bare(`${method} ${target}`)])).statuses).toEqual([204]);
      expect(read.splice(0)).toEqual(expected);
    }
  });

  test.each([
    '/callbacks?/callbacks/token',
    '/callbackstoken',
    '//callbacks/token',
    '/graphql/callbacks/token',
    'http://gateway?/callbacks/token',
  ])('is not read from %s, which gets 404', async (target) => {
    expect((await exchange([bare(`POST ${target}`)])).statuses).toEqual([404]);
    expect(read).toEqual([]);
  });
});

describe('A WebSocket upgrade request', () => {
  test('below /callbacks/ gets 204 and no WebSocket', async () => {
    const { gateway } = await testGateway('http://127.0.0.1:9/');
    for (const below of ['token?a=b', '', 'more/than/that', '%zz'])
      for (const url of [gateway.url, base]) {
        const wire = await Wire.open(url);
        const [line = '', ...headers] = upgradeLines(url, { path: `/callbacks/${below}` });
        await wire.write(requestText(line, headers)).responses(1);
        const responses = await wire.write(bare('GET /callbacks/next')).responses(2);
        wire.close();
        expect([below, ...responses.map(({ status }) => status)]).toEqual([below, 204, 204]);
      }
  });
});

describe('A large callback body', () => {
  const piece = 'x'.repeat(LIMIT_BYTES);

  test.each([
    ['in chunks that never end', 'Transfer-Encoding: chunked', `${LIMIT_BYTES.toString(16)}\r\n${piece}\r\n`],
    ['with a Content-Length of a gigabyte', 'Content-Length: 1000000000', piece],
  ])('%s gets a response at once, and the connection is closed', async (_how, header, part) => {
    const wire = await Wire.open(base);
    wire.write(bare('POST /callbacks/token', [header]));
    let sent = 0;
    for (; wire.isOpen && sent < 64 * MEGABYTE; sent += part.length)
      await new Promise((resolve) => wire.socket.write(part, resolve));
    const responses = await wire.end();
    expect(responses.map(({ status, headers }) => [status, headers['connection']])).toEqual([[204, 'close']]);
    // Buffers of the operating system count as sent.
    expect(sent).toBeLessThan(64 * MEGABYTE);
    const [socket] = sockets;
    await until(() => socket?.destroyed);
    expect(socket?.bytesRead).toBeLessThan(MEGABYTE);
    expect(read).toEqual(['token']);
  });

  test('of 64 KB keeps the connection open, and a larger body closes it', async () => {
    const kept = await Wire.open(base);
    const two = withBody('POST /callbacks/a', piece) + bare('POST /callbacks/b');
    const both = await kept.write(two).responses(2);
    kept.close();
    const only = await untilEnd(withBody('POST /callbacks/c', `${piece}x`) + bare('POST /callbacks/d'));
    expect([...both, ...only].map(({ status, headers }) => [status, headers['connection']])).toEqual([
      [204, 'keep-alive'],
      [204, 'keep-alive'],
      [204, 'close'],
    ]);
    expect(read.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });
});

describe('The log of the gateway', () => {
  const CARD = '4111111111111111';
  const line = `POST /callbacks/${tokens.encode(randomUUID())}`;
  const close = 'Connection: close';

  test.each([
    ['a card number in its body', withBody(line, `{"card":"${CARD}"}`, [close])],
    ['a malformed chunk', `${bare(line, ['Transfer-Encoding: chunked'])}${CARD}x\r\n`],
    ['a card number in its address', bare(`GET /callbacks/${CARD}?number=${CARD}`, [close])],
    ['a card number in its headers', bare(line, [close, `User-Agent: ${CARD}`, `X-Request-Id: ${CARD}`])],
    ['a line that is not HTTP', `${line} ${CARD}\r\n\r\n`],
  ])('has no entry for a callback with %s', async (_name, text) => {
    await untilEnd(text);
    expect(logLines).toEqual([]);
  });

  test('has an entry for an internal error on a path outside /callbacks/', async () => {
    await untilEnd(bare('GET /broken', [close]));
    expect(logLines).toHaveLength(1);
  });
});
