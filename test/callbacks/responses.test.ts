import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import { until } from '../support/latch';
import { testGateway } from '../support/gateway';
import { upgradeLines } from '../subscriptions/support/upgrade';
import { Wire, requestText } from '../support/wire';
import { bare, startListener, withBody, type Listener } from './support/listener';

const tokens = new CallbackTokens('a secret');

const LIMIT_BYTES = 64 * 1024;
const MEGABYTE = 1024 * 1024;

let parsed = 0;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    onCallback: (token) => void tokens.read(token),
    addRoutes: (app) => {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, _body, done) => {
        parsed += 1;
        done(null);
      });
      app.post('/parsed', () => ({}));
      app.get('/broken', () => {
        throw new Error('a bug');
      });
      // Like @fastify/cors, adds a route for every OPTIONS request that no other route accepts.
      void app.register(async (scope) => {
        scope.options('*', (_request, reply) => reply.code(200).send('preflight'));
      });
    },
  });
});

beforeEach(() => {
  for (const list of [listener.tokens, listener.sockets, listener.logLines]) list.length = 0;
});

const PIPELINED = 8;

/** Sends requests on one connection. Resolves with the statuses and all received bytes. */
async function exchange(requests: readonly string[]): Promise<{ statuses: number[]; received: string }> {
  const wire = await Wire.open(listener.base);
  let responses: Awaited<ReturnType<Wire['responses']>> = [];
  for (let sent = 0; sent < requests.length; sent += PIPELINED) {
    const group = requests.slice(sent, sent + PIPELINED);
    responses = await wire.write(group.join('')).responses(sent + group.length);
  }
  wire.close();
  return { statuses: responses.map(({ status }) => status), received: wire.received };
}

/** Sends text on a new connection, and returns the responses until the server ends it. */
async function untilEnd(text: string, base = listener.base) {
  const wire = await Wire.open(base);
  return wire.write(text).end();
}

const serves = async (): Promise<boolean> => (await fetch(`${listener.base}/callbacks/next`)).status === 204;

/** All methods but CONNECT, for which Node.js closes the connection without a response. */
const METHODS_WITH_RESPONSE = METHODS.filter((method) => method !== 'CONNECT');

const BODIES = [
  '',
  '{"status":"success","transaction_id":"7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10"}',
  '{"status":',
  'POST /callbacks/hidden HTTP/1.1\r\nHost: gateway\r\n\r\n',
  'x'.repeat(LIMIT_BYTES),
];

const TYPES = [
  [],
  ['Content-Type: application/json'],
  ['Content-Type: multipart/form-data; boundary=a'],
  ['Content-Type: no type at all;;;='],
  ['Content-Type: '],
];

describe('A request to /callbacks/<token> gets 204 without a body', () => {
  test('for every method, body and content type, and no body is parsed', async () => {
    for (const method of METHODS_WITH_RESPONSE) {
      listener.tokens.length = 0;
      const token = tokens.of(randomUUID());
      const line = `${method} /callbacks/${token}`;
      const some = [withBody(line, BODIES[1]!, TYPES[1]), withBody(line, BODIES[2]!, TYPES[2])];
      const every = BODIES.flatMap((body) => TYPES.map((type) => withBody(line, body, type)));
      const requests = [bare(line), ...(method === 'POST' ? every : some)];
      const { statuses, received } = await exchange(requests);
      expect([method, statuses]).toEqual([method, requests.map(() => 204)]);
      // Only response heads were received: a body would be between two heads or at the end.
      expect(received.match(/HTTP\/1\.1 204 No Content\r\n(?:[^\r\n]+\r\n)+\r\n/g)?.join('')).toBe(received);
      expect(received).not.toMatch(/^(?:content-length|content-type|transfer-encoding):/im);
      expect(listener.tokens).toEqual(requests.map(() => token));
    }
    expect(parsed).toBe(0);
    await exchange([withBody('POST /parsed', '{}', ['Content-Type: application/json'])]);
    expect(parsed).toBe(1);
  });

  test.each([
    ['expects 100 Continue', ['Expect: 100-continue']],
    [
      'offers an upgrade to HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ],
    ['sends credentials', ['Authorization: Bearer nonsense', 'Cookie: a=b']],
    ['sends a CORS preflight', ['Origin: https://shop.example', 'Access-Control-Request-Method: POST']],
  ])('also when the client %s', async (_what, headers) => {
    for (const method of ['POST', 'OPTIONS']) {
      const { received } = await exchange([withBody(`${method} /callbacks/token`, '', headers)]);
      const lines = received.split('\r\n').filter((text) => text.startsWith('HTTP/'));
      expect(lines.filter((text) => !text.includes(' 100 '))).toEqual(['HTTP/1.1 204 No Content']);
    }
    expect(listener.tokens).toEqual(['token', 'token']);
  });

  test('with the same bytes for a valid token, a forged one and none', async () => {
    const good = tokens.of(randomUUID());
    const forged = `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`;
    expect([tokens.read(good) === null, tokens.read(forged)]).toEqual([false, null]);
    const targets = [good, forged, 'token', '', `${good}/more`, 'A'.repeat(8000), '%zz', `${good}?a=b`];
    const seen = new Set<string>();
    for (const target of targets) {
      const { received } = await exchange([withBody(`POST /callbacks/${target}`, '{}')]);
      seen.add(received.replace(/^(date|x-request-id): .*$/gim, '$1'));
    }
    expect([...seen]).toEqual([expect.stringMatching(/^HTTP\/1\.1 204 /)]);
  });
});

describe('The token of a callback', () => {
  const METHODS_TRIED = ['GET', 'POST', 'OPTIONS', 'PURGE'];

  test.each([
    ['/callbacks/token', 'token'],
    ['/callbacks/token?a=b/c', 'token'],
    ['https://other.example:8443/callbacks/token?a', 'token'],
    ['/callbacks/..', '..'],
    ['/callbacks/%zz', '%zz'],
    [`/callbacks/${'a'.repeat(8000)}`, 'a'.repeat(8000)],
  ])('is the single path segment below /callbacks/, not decoded: %.60s', async (target, token) => {
    const { statuses } = await exchange(METHODS_TRIED.map((method) => bare(`${method} ${target}`)));
    expect(statuses).toEqual([204, 204, 204, 204]);
    expect(listener.tokens).toEqual([token, token, token, token]);
  });

  test.each(['/callbacks/', '/callbacks/token/more', '/callbacks//token', '/callbacks/%zz/token'])(
    'is missing in %s, which gets the same response',
    async (target) => {
      const { statuses } = await exchange(METHODS_TRIED.map((method) => bare(`${method} ${target}`)));
      expect(statuses).toEqual([204, 204, 204, 204]);
      expect(listener.tokens).toEqual([]);
    },
  );

  test.each([
    '/callbacks?/callbacks/token',
    '/callbackstoken',
    '//callbacks/token',
    '/graphql/callbacks/token',
    'http://gateway?/callbacks/token',
  ])('is not read from %s, which is not found', async (target) => {
    expect((await exchange([bare(`POST ${target}`)])).statuses).toEqual([404]);
    expect(listener.tokens).toEqual([]);
  });
});

describe('A client that asks for a WebSocket', () => {
  test('below /callbacks/ gets 204, even if the gateway serves WebSockets', async () => {
    const { gateway } = await testGateway('http://127.0.0.1:9/');
    for (const below of ['token', 'token?a=b', '', 'more/than/that', '%zz'])
      for (const base of [gateway.url, listener.base]) {
        const wire = await Wire.open(base);
        const [line = '', ...headers] = upgradeLines(base, { path: `/callbacks/${below}` });
        await wire.write(requestText(line, headers)).responses(1);
        const responses = await wire.write(bare('GET /callbacks/next')).responses(2);
        wire.close();
        expect([below, ...responses.map(({ status }) => status)]).toEqual([below, 204, 204]);
      }
  });
});

describe('A long body', () => {
  /** Sends text until the server closes the connection, 64 MB at most. Resolves with the number of bytes sent. */
  async function sendWithoutEnd(wire: Wire, piece: string): Promise<number> {
    const bytes = Buffer.from(piece);
    let sent = 0;
    while (wire.isOpen && sent < 64 * MEGABYTE) {
      sent += bytes.length;
      if (wire.socket.write(bytes)) continue;
      await Promise.race([new Promise((resolve) => wire.socket.once('drain', resolve)), wire.closed]);
    }
    return sent;
  }

  const piece = 'x'.repeat(LIMIT_BYTES);

  test.each([
    ['in chunks that never end', 'Transfer-Encoding: chunked', `${LIMIT_BYTES.toString(16)}\r\n${piece}\r\n`],
    ['with a Content-Length of a gigabyte', 'Content-Length: 1000000000', piece],
  ])('%s gets a response at once, and the connection ends', async (_how, header, part) => {
    const wire = await Wire.open(listener.base);
    wire.write(bare('POST /callbacks/token', [header]));
    const sent = await sendWithoutEnd(wire, part);
    const responses = await wire.end();
    expect(responses.map(({ status, headers }) => [status, headers['connection']])).toEqual([[204, 'close']]);
    // Buffers of the operating system count as sent.
    expect(sent).toBeLessThan(64 * MEGABYTE);
    const [socket] = listener.sockets;
    await until(() => socket?.destroyed);
    expect(socket?.bytesRead).toBeLessThan(MEGABYTE);
    expect(listener.tokens).toEqual(['token']);
    expect(await serves()).toBe(true);
  });

  test('of 64 KB keeps the connection open, and one byte more ends it', async () => {
    const kept = await Wire.open(listener.base);
    const two = withBody('POST /callbacks/a', piece) + bare('POST /callbacks/b');
    const both = await kept.write(two).responses(2);
    kept.close();
    const only = await untilEnd(withBody('POST /callbacks/c', `${piece}x`) + bare('POST /callbacks/d'));
    expect([...both, ...only].map(({ status, headers }) => [status, headers['connection']])).toEqual([
      [204, 'keep-alive'],
      [204, 'keep-alive'],
      [204, 'close'],
    ]);
    expect(listener.tokens.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });
});

describe('A client that stops sending', () => {
  let shortTimeout: Listener;

  beforeAll(async () => {
    shortTimeout = await startListener({ clientTimeoutMs: 300 });
  });

  const head = (header: string): string => bare('POST /callbacks/token', [header]);

  test('before or within its body gets a response, and its connection ends', async () => {
    shortTimeout.tokens.length = 0;
    const started = [
      `${head('Content-Length: 1000')}{"a":`,
      `${head('Transfer-Encoding: chunked')}100\r\n{"a":`,
      head('Content-Length: 10'),
    ];
    const all = await Promise.all(started.map((text) => untilEnd(text, shortTimeout.base)));
    for (const [first, ...more] of all) {
      expect(first?.status).toBe(204);
      // A connection that waits for the rest of the body may also get 408.
      expect([[], [408]]).toContainEqual(more.map(({ status }) => status));
    }
    expect(shortTimeout.tokens).toEqual(started.map(() => 'token'));
  });

  test('and disconnects does not delay others', async () => {
    const wires = await Promise.all(Array.from({ length: 50 }, () => Wire.open(listener.base)));
    for (const wire of wires) {
      wire.write(`${bare('POST /callbacks/token', ['Content-Length: 50'])}half`);
      wire.socket.resetAndDestroy();
    }
    await until(() => listener.sockets.every((socket) => socket.destroyed));
    expect(await serves()).toBe(true);
  });
});

const BOTH = ['Content-Length: 1', 'Transfer-Encoding: chunked'];

test.each([
  ['both a length and chunks', bare('POST /callbacks/token', BOTH), [400]],
  ['noise after a whole request', `${bare('POST /callbacks/token')}\0\xff noise\r\n\r\n`, [204, 400]],
])('Malformed HTTP ends its own connection only: %s', async (_name, text, statuses) => {
  const responses = await untilEnd(text);
  expect(responses.length).toBeLessThanOrEqual(statuses.length);
  for (const { status } of responses) expect(statuses).toContain(status);
  if (!statuses.includes(204)) expect(listener.tokens).toEqual([]);
  expect(await serves()).toBe(true);
});

describe('The log', () => {
  const CARD = '4111111111111111';
  const token = tokens.of(randomUUID());
  const close = 'Connection: close';
  const line = `POST /callbacks/${token}`;
  const card = JSON.stringify({ card: { number: CARD, security_code: '737' } });

  test.each([
    ['a valid callback', withBody(line, '{}', [close])],
    ['a callback with a card number', withBody(line, card, [close, 'Content-Type: application/json'])],
    ['a callback in chunks', `${bare(line, ['Transfer-Encoding: chunked'])}10\r\n${CARD}\r\n0\r\n\r\n`],
    ['a callback with a malformed chunk', `${bare(line, ['Transfer-Encoding: chunked'])}${CARD}x\r\n`],
    ['a callback with a body that is too long', withBody(line, card.repeat(3000), [close])],
    ['a callback with a card number in its address', bare(`GET /callbacks/${CARD}?number=${CARD}`, [close])],
    ['a callback with a card number in a header', bare(line, [close, `User-Agent: ${CARD}`])],
    ['a callback with a card number as its id', bare(line, [close, `X-Request-Id: ${CARD}`])],
    ['a callback that is not HTTP', `${line} ${CARD}\r\n\r\n`],
  ])('has no line for %s', async (_name, text) => {
    await untilEnd(text);
    expect(listener.logLines).toEqual([]);
  });

  test('has a line for an error of a request to another path', async () => {
    await untilEnd(bare('GET /broken', [close]));
    expect(listener.logLines).toHaveLength(1);
  });
});
