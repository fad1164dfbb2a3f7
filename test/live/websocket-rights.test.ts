import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Issuer, newKey, tokenBy, type SigningKey } from '../access/support/issuer';
import { OURS, THEIRS, bearer, clientOf, keyOf } from '../access/support/rig';
import { until } from '../exactly-once/support/gate';
import { clientKeysFile, clientKeysText, type TestClientKey } from '../support/credentials';
import { graphqlWsClient } from './support/graphql-ws-client';
import {
  connectAs,
  liveRig,
  moveUntil,
  standing,
  subscriptionLines,
  watching,
  type Kind,
  type LiveRig,
} from './support/live-rig';
import { WireClient, type Heard } from './support/wire-client';

interface Told {
  message: string;
  path?: string[];
  extensions: Record<string, unknown>;
}

const toldIn = ({ payload }: Heard): Told[] => payload as Told[];

const LOOKUP = (field: Kind) =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { __typename } }`;

describe('Who may not watch', () => {
  let rig: LiveRig;

  beforeAll(async () => {
    rig = await liveRig({
      clients: [
        clientOf('payouts', { scopes: ['payouts:read', 'payments:create', 'payments:confirm'] }),
        clientOf('payments', { scopes: ['payments:read', 'payouts:create'] }),
        clientOf('ours', { channels: [OURS] }),
        clientOf('nothing', { scopes: [], channels: [] }),
      ],
    });
  });

  const REFUSED: [string, string, Kind, string][] = [
    ['without the scope for payments', 'payouts', 'payment', OURS],
    ['without the scope for payouts', 'payments', 'payout', OURS],
    ["on another merchant's channel", 'ours', 'payment', THEIRS],
    ["on another merchant's channel, written in capitals", 'ours', 'payout', THEIRS.toUpperCase()],
    ['on a channel that nobody has', 'ours', 'payment', randomUUID()],
    ['without any right', 'nothing', 'payment', OURS],
  ];

  test.each(REFUSED)('%s is told so in the words of a query', async (_what, id, kind, channel) => {
    const client = await connectAs(rig, id);
    const asked = watching(randomUUID(), kind, channel);
    client.subscribe('a', asked);
    const refused = await client.next();
    expect(refused).toMatchObject({ type: 'error', id: 'a' });
    const { errors } = await rig.client.ask(LOOKUP(kind), asked.variables, bearer(keyOf(id)));
    const words = ({ message, extensions: { requestId: _, ...extensions } }: Told) => ({
      message,
      extensions,
    });
    expect(toldIn(refused).map(words)).toEqual(errors?.map((error) => words(error as Told)));
    expect(toldIn(refused)).toMatchObject([{ extensions: { code: 'FORBIDDEN', retryable: false } }]);
    expect(rig.service.seen).toHaveLength(0);
    expect(subscriptionLines(rig).at(-1)).toMatchObject({ results: 0, errors: ['FORBIDDEN'] });
  });

  test('is told so where it is: the path names the field', async () => {
    const client = await connectAs(rig, 'nothing');
    client.subscribe('a', watching());
    expect(toldIn(await client.next())).toMatchObject([{ path: ['paymentUpdated'] }]);
  });

  test('may go on to watch what it may', async () => {
    const client = await connectAs(rig, 'ours');
    client.subscribe('a', watching(undefined, 'payment', THEIRS));
    expect((await client.next()).type).toBe('error');
    client.subscribe('a', watching(undefined, 'payment', OURS));
    expect((await client.next()).type).toBe('next');
  });
});

describe('When a token expires', () => {
  let rig: LiveRig;
  let key: SigningKey;

  beforeAll(async () => {
    key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    rig = await liveRig({ env: issuer.settings });
  });

  const LIFE_S = 300;
  const token = (more: object = {}): Promise<string> => {
    const now = Math.floor(rig.clock.now() / 1000);
    return tokenBy(key, { claims: { iat: now, exp: now + LIFE_S, ...more } });
  };

  test('what is watched with it ends with UNAUTHENTICATED, and the next subscription closes the connection', async () => {
    const client = await WireClient.ready(rig.client.url, bearer(await token()));
    const id = randomUUID();
    client.subscribe('a', watching(id));
    expect((await client.next()).payload).toEqual(standing('PENDING'));
    rig.clock.advance((LIFE_S - 2) * 1000);
    expect(await client.settled()).toEqual([]);
    rig.service.set(id, { status: 'completed' });
    rig.clock.advance(3000);
    const ended = await client.next();
    expect(ended).toMatchObject({ type: 'error', id: 'a' });
    expect(toldIn(ended)).toMatchObject([
      { message: expect.stringMatching(/./) as unknown, extensions: { code: 'UNAUTHENTICATED', retryable: false } },
    ]);
    const lookups = rig.service.lookups(id);
    rig.clock.advance(60_000);
    expect(await client.settled()).toEqual([]);
    expect(rig.service.lookups(id)).toBe(lookups);
    client.subscribe('b', watching(id));
    expect(await client.closed).toEqual({
      code: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED: /) as unknown,
    });
    expect(client.heard.map(({ type }) => type)).toEqual(['connection_ack', 'next', 'pong', 'error', 'pong']);
  });

  test('a change that comes at that very moment is not told any more', async () => {
    const client = await WireClient.ready(rig.client.url, bearer(await token()));
    const id = randomUUID();
    client.subscribe('a', watching(id));
    await client.next();
    // Everything that falls due until then goes off at once; the answers come later.
    rig.service.set(id, { status: 'completed' });
    rig.clock.advance(LIFE_S * 1000);
    expect((await client.next()).type).toBe('error');
    expect(JSON.stringify(client.heard)).not.toContain('COMPLETED');
  });

  test('others who watch the same go on', async () => {
    const id = randomUUID();
    const short = await WireClient.ready(rig.client.url, bearer(await token()));
    const long = await WireClient.ready(rig.client.url, bearer(await token({ exp: rig.clock.now() })));
    for (const client of [short, long]) client.subscribe('a', watching(id));
    for (const client of [short, long]) expect((await client.next()).type).toBe('next');
    rig.clock.advance((LIFE_S + 2) * 1000);
    expect((await short.next()).type).toBe('error');
    rig.service.set(id, { status: 'completed' });
    const lookups = rig.service.lookups(id);
    await moveUntil(rig, () => rig.service.lookups(id) > lookups);
    expect((await long.next()).payload).toEqual(standing('COMPLETED'));
  });

  test('a token is good for watching as long as it is good for queries', async () => {
    // Clocks differ: a token that ended a moment ago is taken.
    const credentials = bearer(await token({ exp: Math.floor(rig.clock.now() / 1000) - 5 }));
    const asked = watching();
    expect((await rig.client.ask(LOOKUP('payment'), asked.variables, credentials)).errors).toBeUndefined();
    const client = await WireClient.ready(rig.client.url, credentials);
    client.subscribe('a', asked);
    expect((await client.next()).payload).toEqual(standing('PENDING'));
  });

  test('a client of graphql-ws goes on by itself with the next one', async () => {
    let made = 0;
    const closings: unknown[] = [];
    const client = graphqlWsClient(rig.client.url, {
      connectionParams: async () => {
        made += 1;
        return bearer(await token());
      },
      on: { closed: (event) => void closings.push((event as CloseEvent).code) },
    });
    const kept = client.iterate(watching());
    expect((await kept.next()).value).toEqual(standing('PENDING'));
    rig.clock.advance((LIFE_S + 2) * 1000);
    // The stream has ended; whoever wants to go on subscribes again, and no more than that.
    const again = client.iterate(watching());
    expect((await again.next()).value).toEqual(standing('PENDING'));
    expect({ made, closings: closings.slice(0, 1) }).toMatchObject({ made: 2 });
    expect([1000, 4403]).toContain(closings[0]);
  });

  test('a client whose connection other subscriptions keep goes on with them too', async () => {
    const closings: number[] = [];
    const client = graphqlWsClient(rig.client.url, {
      connectionParams: async () => bearer(await token()),
      on: { closed: (event) => void closings.push((event as CloseEvent).code) },
    });
    const first = client.iterate(watching());
    expect((await first.next()).value).toEqual(standing('PENDING'));
    // Its own check has not been made yet, but the token is over.
    const [second, third] = [client.iterate(watching()), client.iterate(watching())];
    const ends = first.next().then(
      () => 'went on',
      (errors: Told[]) => errors[0]?.extensions['code'],
    );
    rig.clock.advance((LIFE_S + 2) * 1000);
    for (const stream of [second, third]) expect((await stream.next()).value).toEqual(standing('PENDING'));
    expect(await ends).toBe('UNAUTHENTICATED');
  });
});

describe('When a client key is', () => {
  const shop = clientOf('shop', { channels: [OURS] });
  const other = clientOf('other', {});

  async function watched(): Promise<{ rig: LiveRig; client: WireClient; becomes(...clients: TestClientKey[]): void }> {
    const file = clientKeysFile(shop, other);
    const rig = await liveRig({ env: { CLIENT_KEYS_FILE: file } });
    const client = await connectAs(rig, 'shop');
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
    return { rig, client, becomes: (...clients) => writeFileSync(file, clientKeysText(clients)) };
  }

  const hasRead = ({ logLines }: LiveRig): Promise<unknown> =>
    until(
      () => logLines.join(''),
      (lines) => lines.includes('was read again'),
    );

  test.each([
    ['revoked', [other]],
    ['given to another client', [other, { ...shop, id: 'new' }]],
    ['given fewer scopes', [other, { ...shop, scopes: ['payments:read'] }]],
    ['given other channels', [other, { ...shop, channels: [OURS, THEIRS] }]],
  ] as [string, TestClientKey[]][])('%s, what it watches ends, and the next subscription closes', async (_what, clients) => {
    const { rig, client, becomes } = await watched();
    becomes(...clients);
    await hasRead(rig);
    rig.clock.advance(1000);
    expect(toldIn(await client.next())).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    client.subscribe('b', watching());
    expect((await client.closed).code).toBe(4403);
    expect(client.heard.map(({ type }) => type)).toEqual(['connection_ack', 'next', 'error']);
  });

  test('revoked, who comes back with it is not let in, and stays away', async () => {
    const { rig, becomes } = await watched();
    const stream = graphqlWsClient(rig.client.url, { connectionParams: bearer(keyOf('shop')) });
    const first = stream.iterate(watching());
    expect((await first.next()).value).toEqual(standing('PENDING'));
    becomes(other);
    await hasRead(rig);
    rig.clock.advance(1000);
    await expect(first.next()).rejects.toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    await expect(stream.iterate(watching()).next()).rejects.toMatchObject({ code: 4401 });
  });

  test('given other rights, who comes back has those', async () => {
    const { rig, becomes } = await watched();
    becomes(other, { ...shop, channels: [THEIRS] });
    await hasRead(rig);
    const stream = graphqlWsClient(rig.client.url, { connectionParams: bearer(keyOf('shop')) });
    const asked = stream.iterate(watching(undefined, 'payment', THEIRS));
    expect((await asked.next()).value).toEqual(standing('PENDING'));
  });

  test('left as it was while others change, what it watches goes on', async () => {
    const { rig, client, becomes } = await watched();
    becomes(shop);
    await hasRead(rig);
    rig.clock.advance(1500);
    expect((await client.settled()).filter(({ type }) => type !== 'next')).toEqual([]);
    client.subscribe('b', watching());
    expect(await client.next()).toMatchObject({ type: 'next', id: 'b' });
  });
});
