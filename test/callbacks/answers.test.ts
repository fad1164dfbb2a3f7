import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import { CallbackTokens } from '../../src/operations/callback-tokens';
import { Wire } from '../attack/wire';
import { testGateway } from '../support/gateway';
import { bare, startListener, withBody, type Listener } from './support/listener';

const tokens = new CallbackTokens('a secret');

let parsed = 0;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    hint: (token) => void tokens.read(token),
    more: (app) => {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', (_request, _body, done) => {
        parsed += 1;
        done(null);
      });
      app.post('/parsed', () => ({}));
      // What @fastify/cors adds: it takes every OPTIONS that no other route takes.
      void app.register(async (scope) => {
        scope.options('*', (_request, reply) => reply.code(200).send('preflight'));
      });
    },
  });
});

beforeEach(() => {
  listener.hints.length = 0;
});

/** Sends requests on one connection, all at once, and returns what came back, byte for byte. */
/** How many requests are sent at once: a connection on which more wait is closed. */
const PIPELINED = 8;

async function exchange(requests: readonly string[]): Promise<{ statuses: number[]; received: string }> {
  const wire = await Wire.open(listener.base);
  let answers: Awaited<ReturnType<Wire['answers']>> = [];
  for (let sent = 0; sent < requests.length; sent += PIPELINED) {
    const group = requests.slice(sent, sent + PIPELINED);
    answers = await wire.write(group.join('')).answers(sent + group.length);
  }
  wire.close();
  return { statuses: answers.map(({ status }) => status), received: wire.received };
}

const all = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

/** CONNECT asks for a tunnel, and Node ends such a connection without a word. */
const ANSWERED = METHODS.filter((method) => method !== 'CONNECT');

const BODIES = [
  '',
  '{}',
  '{"status":"success","transaction_id":"7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10"}',
  '{"status":',
  'null',
  '{"__proto__":{"a":1}}',
  'status=success&id=1',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  '\0\xff\xfe\r\n\r\n',
  'POST /callbacks/hidden HTTP/1.1\r\nHost: gateway\r\n\r\n',
  'x'.repeat(64 * 1024),
];

const TYPES = [
  [],
  ['Content-Type: application/json'],
  ['Content-Type: application/x-www-form-urlencoded'],
  ['Content-Type: multipart/form-data; boundary=a'],
  ['Content-Type: text/xml; charset=utf-16'],
  ['Content-Type: application/json', 'Content-Encoding: gzip'],
  ['Content-Type: no type at all;;;='],
  ['Content-Type: '],
];

describe('Whatever is sent, the answer is 204 without a body', () => {
  test.each(ANSWERED)('by %s', async (method) => {
    const line = `${method} /callbacks/${tokens.of(randomUUID())}`;
    const requests = [
      bare(line),
      ...BODIES.flatMap((body) => TYPES.map((type) => withBody(line, body, type))),
    ];
    const { statuses, received } = await exchange(requests);
    expect(statuses).toEqual(all(requests.length, 204));
    // Nothing but heads: a body would stand between two of them, or at the end.
    expect(received.match(/HTTP\/1\.1 204 No Content\r\n(?:[^\r\n]+\r\n)+\r\n/g)?.join('')).toBe(received);
    expect(received).not.toMatch(/^(?:content-length|content-type|transfer-encoding):/im);
    expect(listener.hints).toEqual(requests.map(() => line.split('/').at(-1)));
    expect(parsed).toBe(0);
  });

  test('and where a body is read, these parsers read it', async () => {
    await exchange([withBody('POST /parsed', '{}', ['Content-Type: application/json'])]);
    expect(parsed).toBe(1);
    parsed = 0;
  });

  test.each([
    ['asks whether it may send its body', ['Expect: 100-continue']],
    [
      'offers to speak HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ],
    ['sends credentials', ['Authorization: Bearer nonsense', 'Cookie: a=b']],
    ['comes from a browser', ['Origin: https://shop.example', 'Access-Control-Request-Method: POST']],
    ['accepts nothing', ['Accept: image/png;q=0', 'Accept-Version: 7']],
    ['claims to be another method', ['X-HTTP-Method-Override: DELETE']],
  ])('also when the client %s', async (_what, headers) => {
    for (const method of ['POST', 'OPTIONS']) {
      const { received } = await exchange([withBody(`${method} /callbacks/token`, '', headers)]);
      const lines = received.split('\r\n').filter((text) => text.startsWith('HTTP/'));
      expect(lines.filter((text) => !text.includes(' 100 '))).toEqual(['HTTP/1.1 204 No Content']);
    }
    expect(listener.hints).toEqual(['token', 'token']);
  });

  test('also to a client that speaks HTTP/1.0', async () => {
    const wire = await Wire.open(listener.base);
    const answers = await wire.write('POST /callbacks/token HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}').end();
    expect(answers.map(({ status }) => status)).toEqual([204]);
  });
});

test('the answer says the same of a token that is good, forged, or none', async () => {
  const good = tokens.of(randomUUID());
  const forged = `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`;
  expect([tokens.read(good) === null, tokens.read(forged)]).toEqual([false, null]);
  const targets = [good, forged, 'token', '', `${good}/more`, 'A'.repeat(8000), '%zz', `${good}?a=b`];
  const seen = new Set<string>();
  for (const target of targets) {
    const { received } = await exchange([withBody(`POST /callbacks/${target}`, '{}')]);
    seen.add(received.replace(/^(date|x-request-id): .*$/gim, '$1'));
  }
  expect([...seen]).toHaveLength(1);
  expect([...seen][0]).toMatch(/^HTTP\/1\.1 204 /);
});

test('the answer has the headers that every answer has', async () => {
  const answer = await fetch(`${listener.base}/callbacks/token`, { method: 'POST', body: '{}' });
  const other = await fetch(`${listener.base}/nowhere`);
  const names = [...other.headers.keys()].filter((name) => !/^(content-(type|length)|date)$/.test(name));
  expect(names).toEqual(
    expect.arrayContaining([
      'cache-control',
      'content-security-policy',
      'x-content-type-options',
      'x-request-id',
    ]),
  );
  for (const name of names.filter((one) => one !== 'x-request-id'))
    expect([name, answer.headers.get(name)]).toEqual([name, other.headers.get(name)]);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

describe('What counts as a token is what stands alone below /callbacks/', () => {
  test.each([
    ['/callbacks/token', 'token'],
    ['/callbacks/token?a=b/c', 'token'],
    ['/callbacks/token?', 'token'],
    ['/callbacks/token#a', 'token'],
    ['http://gateway/callbacks/token', 'token'],
    ['https://other.example:8443/callbacks/token?a', 'token'],
    ['/callbacks/..', '..'],
    ['/callbacks/token;a=b', 'token;a=b'],
    ['/callbacks/a%2Fb', 'a%2Fb'],
    ['/callbacks/%74oken', '%74oken'],
    ['/callbacks/%zz', '%zz'],
    [`/callbacks/${'a'.repeat(8000)}`, 'a'.repeat(8000)],
  ])('%.60s', async (target, token) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'PURGE']) {
      listener.hints.length = 0;
      expect((await exchange([bare(`${method} ${target}`)])).statuses).toEqual([204]);
      expect(listener.hints).toEqual([token]);
    }
  });

  test.each([
    '/callbacks/',
    '/callbacks/?token',
    '/callbacks/token/',
    '/callbacks/token/more',
    '/callbacks//token',
    '/callbacks/../callbacks/token',
    '/callbacks/%zz/token',
  ])('more than that or less has the same answer and counts for nothing: %s', async (target) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'PURGE'])
      expect((await exchange([bare(`${method} ${target}`)])).statuses).toEqual([204]);
    expect(listener.hints).toEqual([]);
  });

  test.each([
    '/',
    '/callbacks',
    '/callbacks?/callbacks/token',
    '/callbackstoken',
    '/CALLBACKS/token',
    '//callbacks/token',
    '/graphql/callbacks/token',
    '/graphql?to=/callbacks/token',
    'http://gateway/graphql/callbacks/token',
    'http://gateway?/callbacks/token',
    '/%zz/callbacks/token',
  ])('nothing else does: %s', async (target) => {
    expect((await exchange([bare(`POST ${target}`)])).statuses).toEqual([404]);
    expect(listener.hints).toEqual([]);
  });
});

test('requests sent all at once are answered one by one, each with its own token', async () => {
  const given = Array.from({ length: 200 }, () => tokens.of(randomUUID()));
  const { statuses } = await exchange(given.map((token) => withBody(`POST /callbacks/${token}`, '{"a":1}')));
  expect(statuses).toEqual(all(given.length, 204));
  expect(listener.hints).toEqual(given);
});

test('a request that stands in a body is not carried out, and the next one is', async () => {
  const hidden = bare('POST /callbacks/hidden');
  const { statuses } = await exchange([
    withBody('POST /callbacks/first', hidden),
    bare('GET /callbacks/next'),
  ]);
  expect(statuses).toEqual([204, 204]);
  expect(listener.hints).toEqual(['first', 'next']);
});

describe('A client that asks for a WebSocket', () => {
  const UPGRADE = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: graphql-transport-ws',
  ];

  /** Asks for it, and for something else on the same connection afterwards. */
  async function askTwice(base: string, target: string) {
    const wire = await Wire.open(base);
    await wire.write(bare(`GET ${target}`, UPGRADE)).answers(1);
    const answers = await wire.write(bare('GET /callbacks/next')).answers(2);
    wire.close();
    return answers.map(({ status }) => status);
  }

  test.each(['token', 'token?a=b', '', 'more/than/that', '%zz'])(
    'at /callbacks/%s is answered as all others are, also where there are WebSockets',
    async (below) => {
      const { gateway } = await testGateway('http://127.0.0.1:9/');
      expect(await askTwice(gateway.url, `/callbacks/${below}`)).toEqual([204, 204]);
      expect(await askTwice(listener.base, `/callbacks/${below}`)).toEqual([204, 204]);
    },
  );

  test('at /graphql is answered as all others are where there is none, and the server closes', async () => {
    const { app, base } = await startListener();
    expect(await askTwice(base, '/graphql')).toEqual([404, 204]);
    const left = await Wire.open(base);
    expect(await left.write(bare('GET /graphql', UPGRADE)).answers(1)).toMatchObject([{ status: 404 }]);
    await app.close();
    expect(app.server.listening).toBe(false);
    await left.end();
  });
});
