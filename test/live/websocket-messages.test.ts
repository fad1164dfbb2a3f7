import { AUTHORIZED } from '../support/credentials';
import { liveRig, subscriptionLines, watching, type LiveRig } from './support/live-rig';
import { until } from '../exactly-once/support/gate';
import { WireClient } from './support/wire-client';

let rig: LiveRig;
let url: string;

beforeAll(async () => {
  rig = await liveRig();
  url = rig.client.url;
});

const INIT = { type: 'connection_init', payload: AUTHORIZED };
const CANARY = 'CANARY4111111111111111';

describe('A connection is closed', () => {
  test('by a subscription before it was acknowledged', async () => {
    const client = await WireClient.open(url);
    client.subscribe('a', watching());
    expect(await client.closed).toEqual({ code: 4401, reason: 'Unauthorized' });
    expect(client.heard).toEqual([]);
  });

  test('by a subscription that comes together with the opening', async () => {
    const client = await WireClient.open(url);
    client.say(INIT);
    client.subscribe('a', watching());
    // Both are right where the credentials were checked before the subscription was read.
    const first = await client.next().catch(() => undefined);
    if (first) expect(client.heard.map(({ type }) => type)).toEqual(['connection_ack']);
    else expect((await client.closed).code).toBe(4401);
  });

  test('by a second opening', async () => {
    const client = await WireClient.ready(url, AUTHORIZED);
    client.say(INIT);
    expect((await client.closed).code).toBe(4429);
  });

  test('by two openings at once, of which none wins by being the second', async () => {
    const client = await WireClient.open(url);
    client.say({ type: 'connection_init', payload: { authorization: 'Bearer nobody' } });
    client.say(INIT);
    expect([4401, 4429]).toContain((await client.closed).code);
    expect(client.heard).toEqual([]);
  });

  test('by an id that is in use, and what it watched ends', async () => {
    const client = await WireClient.ready(url, AUTHORIZED);
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
    const lines = subscriptionLines(rig).length;
    client.subscribe('a', watching());
    expect((await client.closed).code).toBe(4409);
    await until(
      () => subscriptionLines(rig).length,
      (count) => count === lines + 1,
    );
  });

  test('by silence: who does not say who it is, is let go', async () => {
    const client = await WireClient.open(url);
    expect(await client.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  test('by pings alone as well', async () => {
    const client = await WireClient.open(url);
    const pinging = setInterval(() => client.say({ type: 'ping' }), 200);
    expect((await client.closed).code).toBe(4408);
    clearInterval(pinging);
  });

  const GARBAGE: [string, string][] = [
    ['no JSON', CANARY],
    ['nothing', ''],
    ['a list', `["${CANARY}"]`],
    ['a number', '4111111111111111'],
    ['null', 'null'],
    ['no type', `{"id":"${CANARY}"}`],
    ['an unknown type', `{"type":"${CANARY}"}`],
    ['a type of another protocol', '{"type":"start","id":"1","payload":{"query":"{ a }"}}'],
    ['a name of every object as its type', '{"type":"constructor"}'],
    ['no id', `{"type":"subscribe","payload":{"query":"${CANARY}"}}`],
    ['an empty id', `{"type":"subscribe","id":"","payload":{"query":"${CANARY}"}}`],
    ['a number as its id', '{"type":"subscribe","id":7,"payload":{"query":"{ a }"}}'],
    ['no payload', '{"type":"subscribe","id":"1"}'],
    ['a query that is no text', `{"type":"subscribe","id":"1","payload":{"query":["${CANARY}"]}}`],
    [
      'variables that are a list',
      '{"type":"subscribe","id":"1","payload":{"query":"{ a }","variables":[1]}}',
    ],
    [
      'extensions that are a text',
      '{"type":"subscribe","id":"1","payload":{"query":"{ a }","extensions":"x"}}',
    ],
    ['a name that is no text', '{"type":"subscribe","id":"1","payload":{"query":"{ a }","operationName":7}}'],
  ];

  test.each(GARBAGE)('by a message that is %s, of which nothing is repeated', async (_what, text) => {
    const client = await WireClient.ready(url, AUTHORIZED);
    client.say(text);
    const { code, reason } = await client.closed;
    expect(code).toBe(4400);
    expect(reason + rig.logLines.join('')).not.toMatch(/CANARY|4111/);
    expect(client.heard).toHaveLength(1);
  });

  test.each(['next', 'error', 'connection_ack'])(
    'by a message that only a gateway sends: %s',
    async (type) => {
      const client = await WireClient.ready(url, AUTHORIZED);
      client.say({ type, id: 'a', payload: type === 'error' ? [{ message: CANARY }] : {} });
      const { code, reason } = await client.closed;
      expect([4400, 4500]).toContain(code);
      expect(reason).not.toContain(CANARY);
    },
  );

  test('by bytes that are no message', async () => {
    const client = await WireClient.ready(url, AUTHORIZED);
    client.socket.send(Buffer.from([0, 255, 254, 1, 2, 3, 200]));
    expect((await client.closed).code).toBe(4400);
  });

  test('by text that is no text', async () => {
    const client = await WireClient.ready(url, AUTHORIZED);
    client.socket.send(Buffer.from([0xff, 0xfe, 0xc0, 0x80]), { binary: false });
    expect((await client.closed).code).toBe(1007);
  });

  test.each([true, false])(
    'by a message that is too large, also before it is acknowledged (%s)',
    async (isReady) => {
      const client = isReady ? await WireClient.ready(url, AUTHORIZED) : await WireClient.open(url);
      client.say({ ...INIT, payload: { filler: 'x'.repeat(100 * 1024) } });
      expect((await client.closed).code).toBe(1009);
    },
  );

  test('by a message that is too large in pieces', async () => {
    const client = await WireClient.ready(url, AUTHORIZED);
    for (let piece = 0; piece < 11; piece += 1)
      client.socket.send('x'.repeat(10 * 1024), { fin: false }, () => undefined);
    expect((await client.closed).code).toBe(1009);
  });
});

test('A message of the largest size is read', async () => {
  const client = await WireClient.ready(url, AUTHORIZED);
  const { query, variables } = watching();
  client.subscribe('a', { query, variables: { ...variables, filler: 'x'.repeat(99 * 1024) } });
  expect((await client.next()).type).toBe('next');
});

test('An id may be any text of up to 256 characters, as it comes back with every result', async () => {
  const client = await WireClient.ready(url, AUTHORIZED);
  for (const id of ['__proto__', 'constructor', 'toString', ' ', '\u0000', '💸', 'x'.repeat(256)]) {
    client.subscribe(id, watching());
    expect(await client.next()).toMatchObject({ type: 'next', id });
  }
  client.subscribe('x'.repeat(257), watching());
  expect(await client.closed).toMatchObject({ code: 4400 });
});

test('To complete what is not there does nothing', async () => {
  const client = await WireClient.ready(url, AUTHORIZED);
  client.subscribe('a', watching());
  await client.next();
  for (const id of ['b', '__proto__', 'constructor']) client.complete(id);
  expect(await client.settled()).toEqual([]);
});

test('Whatever clients did, the gateway goes on and has no bug to report', async () => {
  const client = await WireClient.ready(url, AUTHORIZED);
  client.subscribe('a', watching());
  expect((await client.next()).type).toBe('next');
  const levels = rig.logLines.map((line) => (JSON.parse(line) as { level: number }).level);
  expect(levels.filter((level) => level >= 50)).toEqual([]);
});
