import { until } from '../exactly-once/support/gate';
import { closeAfterTests } from '../support/gateway';
import { scriptedService } from '../support/scripted-service';
import { startOpenGateway } from '../http/support/open-gateway';
import { AUTHORIZED } from '../support/credentials';
import { liveRig, watching, type LiveRig } from './support/live-rig';
import { Silent, upgradeLines } from './support/upgrade';
import { WireClient } from './support/wire-client';

const SHOP = 'https://shop.example';

let rig: LiveRig;
let url: string;
let listed: LiveRig;

beforeAll(async () => {
  rig = await liveRig();
  url = rig.client.url;
  listed = await liveRig({ env: { CORS_ORIGINS: `${SHOP},https://other.example:8443` } });
});

/** The status that an opening gets, with headers like these. */
async function statusOf(changed: Record<string, string | undefined>, at = url): Promise<number> {
  const silent = await Silent.open(at, upgradeLines(at, changed));
  const status = await until(
    () => silent.status,
    (now) => !Number.isNaN(now),
  );
  silent.socket.destroy();
  return status;
}

const own = (at: string): string => new URL(at).origin;

describe('A page', () => {
  test.each(['https://evil.example', 'null', 'http://localhost:1', SHOP, '', '*', 'file://'])(
    'of %j may not connect where no origin is listed',
    async (Origin) => expect(await statusOf({ Origin })).toBe(403),
  );

  test.each([SHOP, 'https://other.example:8443'])('of %s may connect where it is listed', async (Origin) =>
    expect(await statusOf({ Origin }, listed.client.url)).toBe(101),
  );

  test.each([
    `${SHOP}.evil.example`,
    'https://evil-shop.example',
    'http://shop.example',
    `${SHOP}:444`,
    'https://SHOP.example',
    `${SHOP}/`,
    `${SHOP}, ${SHOP}`,
    'https://other.example',
    'null',
  ])('of %j may not connect where others are listed', async (Origin) =>
    expect(await statusOf({ Origin }, listed.client.url)).toBe(403),
  );

  test('of the gateway itself may connect', async () => {
    expect(await statusOf({ Origin: own(url) })).toBe(101);
    expect(await statusOf({ Origin: own(listed.client.url) }, listed.client.url)).toBe(101);
  });

  test('of the same machine on another port is another page', async () => {
    expect(await statusOf({ Origin: own(listed.client.url) })).toBe(403);
  });

  test("of Apollo's explorers may connect with the embedded sandbox, and no other", async () => {
    const service = await scriptedService();
    const open = closeAfterTests(await startOpenGateway(service.url));
    const at = `${open.url}/graphql`;
    for (const Origin of [
      'https://studio.apollographql.com',
      'https://sandbox.embed.apollographql.com',
      own(at),
    ])
      expect(await statusOf({ Origin }, at)).toBe(101);
    for (const Origin of [SHOP, 'null', 'https://apollographql.com'])
      expect(await statusOf({ Origin }, at)).toBe(403);
  });
});

test('A client that is no browser names no origin, and may connect', async () => {
  expect(await statusOf({})).toBe(101);
});

describe('An opening', () => {
  test.each([
    '/',
    '/graphql/',
    '/graphql/stream',
    '/GRAPHQL',
    '/graphqlx',
    '/nosuch',
    '//graphql',
    '/graphql%2f',
  ])('at %s gets no WebSocket', async (path) =>
    expect([400, 401, 404, 406]).toContain(await statusOf({ path })),
  );

  test('at the health of the process is a question about its health', async () => {
    expect(await statusOf({ path: '/healthz' })).toBe(200);
  });

  test('may have parameters', async () => {
    expect(await statusOf({ path: '/graphql?x=1' })).toBe(101);
  });

  test.each([
    ['of another version', { 'Sec-WebSocket-Version': '12' }],
    ['without a version', { 'Sec-WebSocket-Version': undefined }],
    ['without a key', { 'Sec-WebSocket-Key': undefined }],
    ['with a key that is none', { 'Sec-WebSocket-Key': 'x' }],
  ])('%s is refused', async (_what, changed) => {
    expect([400, 426]).toContain(await statusOf(changed));
  });

  test('offers compression in vain', async () => {
    const silent = await Silent.open(
      url,
      upgradeLines(url, { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' }),
    );
    await until(
      () => silent.body.length + silent.bytes.length,
      (length) => length > 0,
    );
    expect(silent.status).toBe(101);
    expect(silent.bytes.toString('latin1')).not.toMatch(/sec-websocket-extensions/i);
    silent.socket.destroy();
  });

  test('that is refused leaves no connection behind, although the client does not leave', async () => {
    const silent = await Silent.open(url, upgradeLines(url, { Origin: 'https://evil.example' }));
    await silent.ended;
    expect(silent.status).toBe(403);
    await until(
      () => {
        // Whoever is gone answers with a reset.
        silent.write(Buffer.from('x'));
        return silent.isGone;
      },
      Boolean,
      10_000,
    );
  });
});

describe('Another offer to upgrade is not taken', () => {
  const post = (headers: Record<string, string>, body: string): string[] => [
    'POST /graphql HTTP/1.1',
    ...Object.entries({
      Host: new URL(url).host,
      Authorization: AUTHORIZED.authorization,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ];

  test.each([
    [
      'h2c, as HTTP clients of Java make it',
      { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA' },
    ],
    ['h2c and nothing else', { Connection: 'Upgrade', Upgrade: 'h2c' }],
    ['TLS', { Connection: 'Upgrade', Upgrade: 'TLS/1.0' }],
    ['several', { Connection: 'Upgrade', Upgrade: 'h2c, foo/2' }],
  ])('%s: the request is answered as it is', async (_what, headers) => {
    const silent = await Silent.open(url, post(headers, '{"query":"{ __typename }"}'));
    const text = await until(
      () => silent.bytes.toString('latin1'),
      (answer) => answer.includes('}'),
    );
    silent.socket.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('{"data":{"__typename":"Query"}}');
  });
});

describe('The subprotocol', () => {
  /** Code and reason of the first frame, which closes. */
  async function closing(protocol: string | undefined): Promise<{ code: number; reason: string }> {
    const silent = await Silent.open(url, upgradeLines(url, { 'Sec-WebSocket-Protocol': protocol }));
    await until(
      () => silent.body.length,
      (length) => length >= 4,
    );
    const [kind = 0, length = 0] = silent.body;
    expect(silent.status).toBe(101);
    expect(kind).toBe(0x88);
    const frame = silent.body.subarray(2, 2 + length);
    silent.socket.destroy();
    return { code: frame.readUInt16BE(0), reason: frame.subarray(2).toString() };
  }

  test.each([['graphql-ws'], ['soap'], ['GRAPHQL-TRANSPORT-WS'], [undefined]])(
    '%s is not acceptable',
    async (protocol) => expect(await closing(protocol)).toMatchObject({ code: 4406 }),
  );

  test('is taken where it is one of several', async () => {
    const client = await WireClient.ready(url, AUTHORIZED, {
      protocols: ['graphql-ws', 'graphql-transport-ws'],
    });
    expect(client.socket.protocol).toBe('graphql-transport-ws');
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
  });
});
