import { AUTHORIZED } from '../support/credentials';
import { exchange } from '../support/wire';
import { startHarness, statusResult, subscription, type SubscriptionHarness } from './support/harness';
import { upgradeLines } from './support/upgrade';
import { WireClient } from './support/wire-client';

const SHOP = 'https://shop.example';
const INIT = { type: 'connection_init', payload: AUTHORIZED };
const CANARY = 'CANARY4111111111111111';

let harness: SubscriptionHarness;
let url: string;
let listed: string;
let payment: string;

beforeAll(async () => {
  harness = await startHarness();
  url = harness.url;
  listed = (await startHarness({ env: { CORS_ORIGINS: `${SHOP},https://other.example:8443` } })).client.url;
  payment = harness.addPayment();
});

const ready = (): Promise<WireClient> => WireClient.ready(url, AUTHORIZED);

describe('The upgrade to a WebSocket', () => {
  async function statusOf(changed: Record<string, string | undefined>, at = url): Promise<number> {
    return (await exchange(at, upgradeLines(at, changed))).status;
  }

  test.each([
    ['without an Origin header', undefined],
    ["from the gateway's own origin", 'own'],
  ])('is accepted %s', async (_what, origin) => {
    for (const at of [url, listed])
      expect(await statusOf({ Origin: origin && new URL(at).origin }, at)).toBe(101);
  });

  test.each([SHOP, 'https://other.example:8443'])('is accepted from the listed origin %s', async (Origin) => {
    expect(await statusOf({ Origin }, listed)).toBe(101);
    expect(await statusOf({ Origin })).toBe(403);
  });

  test.each(['null', '', `${SHOP}.evil.example`, 'http://shop.example', `${SHOP}:444`])(
    'is refused from the origin %j',
    async (Origin) => {
      for (const at of [url, listed]) expect(await statusOf({ Origin }, at)).toBe(403);
    },
  );

  test('is accepted at /graphql, also with query parameters, and at no other path', async () => {
    expect(await statusOf({ path: '/graphql?x=1' })).toBe(101);
    for (const path of ['/', '/graphql/stream', '/graphqlx', '//graphql'])
      expect([200, 400, 401, 404, 406]).toContain(await statusOf({ path }));
  });

  test('does not negotiate compression', async () => {
    const extensions = { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' };
    const { status, headers } = await exchange(url, upgradeLines(url, extensions));
    expect([status, headers['sec-websocket-extensions']]).toEqual([101, undefined]);
  });

  test('without a subprotocol is accepted, then closed with 4406', async () => {
    const client = await WireClient.open(url, { protocols: [] });
    expect((await client.closed).code).toBe(4406);
  });
});

describe('A WebSocket', () => {
  test('sends each result and the completion as separate messages, after which the subscription id can be used again', async () => {
    const client = await ready();
    const id = harness.addPayment({ status: 'completed' });
    for (let round = 0; round < 3; round += 1) {
      client.subscribe('a', subscription(id));
      expect([await client.next(), await client.next()]).toEqual([
        { type: 'next', id: 'a', payload: statusResult('COMPLETED') },
        { type: 'complete', id: 'a' },
      ]);
    }
  });

  test('sends no results after a complete message, and ignores a complete message with an unknown id', async () => {
    const client = await ready();
    const id = harness.addPayment();
    client.subscribe('a', subscription(id));
    await client.next();
    for (const name of ['b', '__proto__', 'a']) client.complete(name);
    await client.settled();
    await harness.expectNotPolled(id);
    expect(await client.settled()).toEqual([]);
  });

  test('accepts any subscription id of up to 256 characters, and messages of 100 KB', async () => {
    const client = await ready();
    const { query, variables } = subscription(payment);
    for (const id of ['__proto__', '\u0000', '💸', 'x'.repeat(256)]) {
      client.subscribe(id, { query, variables: { ...variables, filler: 'x'.repeat(99 * 1024) } });
      expect(await client.next()).toMatchObject({ type: 'next', id });
    }
    client.subscribe('x'.repeat(257), subscription(payment));
    expect(await client.closed).toMatchObject({ code: 4400 });
  });

  test('is closed with 4401 if it subscribes before the acknowledgement', async () => {
    const client = await WireClient.open(url);
    client.subscribe('a', subscription(payment));
    expect((await client.closed).code).toBe(4401);
    expect(client.messages).toEqual([]);
  });

  test('is closed with 4409 if it uses one id for two subscriptions at a time', async () => {
    const client = await ready();
    client.subscribe('a', subscription(payment));
    await client.next();
    const ended = harness.subscriptionLines().length;
    client.subscribe('a', subscription(payment));
    expect((await client.closed).code).toBe(4409);
    await harness.subscriptionsEnded(ended + 1);
  });

  test('is closed with 4408 if it is not initialised within 5 s, even if it sends pings', async () => {
    const set = globalThis.setTimeout;
    // The timer belongs to the graphql-ws library.
    const timers = jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((run: () => void, ms?: number) =>
        set(run, ms === 5000 ? 100 : ms)) as typeof setTimeout);
    const clients = [await WireClient.open(url), await WireClient.open(url)];
    clients[1]!.say({ type: 'ping' });
    for (const client of clients) expect((await client.closed).code).toBe(4408);
    timers.mockRestore();
  });

  const INVALID: [code: number, what: string, message: string | Buffer][] = [
    [4400, 'that is not JSON', CANARY],
    [4400, 'of an unknown type', `{"type":"${CANARY}"}`],
    [4400, 'without an id', `{"type":"subscribe","payload":{"query":"${CANARY}"}}`],
    [4400, 'of binary data', Buffer.from([0xff, 0xfe, 0xc0, 0x80])],
    [4429, 'that initialises it again', JSON.stringify(INIT)],
  ];

  test.each(INVALID)(
    'is closed with %i after a message %s; the text of the message is in neither the close reason nor the log',
    async (code, _what, message) => {
      const client = await ready();
      client.socket.send(message);
      const closed = await client.closed;
      expect(closed.code).toBe(code);
      expect(closed.reason + harness.logLines.join('')).not.toMatch(/CANARY|41111111/);
      expect(client.messages).toHaveLength(1);
    },
  );

  test.each([true, false])(
    'is closed with 1009 after a message over 100 KB (initialised: %s)',
    async (isReady) => {
      const [whole, parts] = [1, 2].map(() => (isReady ? ready() : WireClient.open(url)));
      (await whole)!.say({ ...INIT, payload: { filler: 'x'.repeat(100 * 1024) } });
      for (let part = 0; part < 11; part += 1)
        (await parts)!.socket.send('x'.repeat(10 * 1024), { fin: false }, () => undefined);
      for (const client of [whole, parts]) expect((await (await client)!.closed).code).toBe(1009);
    },
  );

  test('works after invalid messages of other clients, for which no error was logged', async () => {
    const client = await ready();
    client.subscribe('a', subscription(payment));
    expect((await client.next()).type).toBe('next');
    expect(harness.logLines.join('')).not.toMatch(/"level":[56]0/);
  });
});
