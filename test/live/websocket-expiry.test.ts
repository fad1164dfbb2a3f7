import { randomUUID } from 'node:crypto';
import { Issuer, newKey, tokenBy, type SigningKey } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { until } from '../exactly-once/support/gate';
import { graphqlWsClient } from './support/graphql-ws-client';
import { liveRig, moveUntil, standing, watching, type LiveRig } from './support/live-rig';
import { WireClient, toldIn, type Told } from './support/wire-client';

const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

describe('When a token expires', () => {
  let rig: LiveRig;
  let key: SigningKey;
  let issuer: Issuer;

  beforeAll(async () => {
    key = await newKey('ES256');
    issuer = await Issuer.start(key);
    rig = await liveRig({ env: issuer.settings });
  });

  const LIFE_S = 300;
  /** Clocks differ: a token is good for half a minute longer than it says. */
  const OVER_MS = (LIFE_S + 32) * 1000;
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
    rig.clock.advance(34_000);
    const ended = await client.next();
    expect(ended).toMatchObject({ type: 'error', id: 'a' });
    expect(toldIn(ended)).toMatchObject([
      {
        message: expect.stringMatching(/./) as unknown,
        extensions: { code: 'UNAUTHENTICATED', retryable: false },
      },
    ]);
    // A look that was on its way when the token expired has arrived by then.
    expect(await client.settled()).toEqual([]);
    const lookups = rig.service.lookups(id);
    rig.clock.advance(60_000);
    expect(await client.settled()).toEqual([]);
    expect(rig.service.lookups(id)).toBe(lookups);
    client.subscribe('b', watching(id));
    expect(await client.closed).toEqual({
      code: 4403,
      reason: expect.stringMatching(/^UNAUTHENTICATED: /) as unknown,
    });
    expect(client.heard.map(({ type }) => type)).toEqual([
      'connection_ack',
      'next',
      'pong',
      'error',
      'pong',
      'pong',
    ]);
  });

  test('a change that comes at that very moment is not told any more', async () => {
    const client = await WireClient.ready(rig.client.url, bearer(await token()));
    const id = randomUUID();
    client.subscribe('a', watching(id));
    await client.next();
    // Everything that falls due until then goes off at once; the answers come later.
    rig.service.set(id, { status: 'completed' });
    rig.clock.advance(OVER_MS);
    expect((await client.next()).type).toBe('error');
    expect(JSON.stringify(client.heard)).not.toContain('COMPLETED');
  });

  test('others who watch the same go on', async () => {
    const id = randomUUID();
    const short = await WireClient.ready(rig.client.url, bearer(await token()));
    const long = await WireClient.ready(
      rig.client.url,
      bearer(await token({ exp: Math.floor(rig.clock.now() / 1000) + 3600 })),
    );
    for (const client of [short, long]) client.subscribe('a', watching(id));
    for (const client of [short, long]) expect((await client.next()).type).toBe('next');
    rig.clock.advance(OVER_MS);
    expect((await short.next()).type).toBe('error');
    rig.service.set(id, { status: 'completed' });
    const lookups = rig.service.lookups(id);
    await moveUntil(rig, () => rig.service.lookups(id) > lookups);
    expect((await long.next()).payload).toEqual(standing('COMPLETED'));
  });

  test('the leeway that single calls have is none for what lasts', async () => {
    const credentials = bearer(await token({ exp: Math.floor(rig.clock.now() / 1000) - 5 }));
    const asked = watching();
    expect((await rig.client.ask(LOOKUP, asked.variables, credentials)).errors).toBeUndefined();
    const client = await WireClient.open(rig.client.url);
    client.say({ type: 'connection_init', payload: credentials });
    expect(await client.closed).toMatchObject({ code: 4401 });
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
    rig.clock.advance(OVER_MS);
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
    rig.clock.advance(OVER_MS);
    for (const stream of [second, third]) expect((await stream.next()).value).toEqual(standing('PENDING'));
    expect(await ends).toBe('UNAUTHENTICATED');
  });

  test('its seats are free again for the next one', async () => {
    const small = await liveRig({
      env: { ...issuer.settings, MAX_WATCHERS_PER_CLIENT: '2' },
      clock: rig.clock,
    });
    const before = await WireClient.ready(small.client.url, bearer(await token()));
    for (const id of ['a', 'b']) {
      before.subscribe(id, watching());
      expect((await before.next()).type).toBe('next');
    }
    rig.clock.advance(OVER_MS);
    for (let count = 0; count < 2; count += 1) expect((await before.next()).type).toBe('error');
    const after = await WireClient.ready(small.client.url, bearer(await token()));
    for (const id of ['a', 'b']) {
      after.subscribe(id, watching());
      expect((await after.next()).type).toBe('next');
    }
  });

  test('before the first result has come, there is none', async () => {
    const client = await WireClient.ready(rig.client.url, bearer(await token()));
    const id = randomUUID();
    const release = rig.service.hold();
    client.subscribe('a', watching(id));
    await until(
      () => rig.service.lookups(id),
      (count) => count === 1,
    );
    rig.clock.advance(OVER_MS);
    const first = await client.next();
    expect(toldIn(first)).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    release();
    expect(await client.settled()).toEqual([]);
  });
});
