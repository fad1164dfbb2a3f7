import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy } from '../support/issuer';
import { Wire, requestText } from '../support/wire';
import { parametersOf } from './support/event-stream';
import { startHarness, subscription, type SubscriptionHarness } from './support/harness';
import { TRANSPORTS, Watching, firstOf, watchStatus } from './support/subscriptions';
import { WireClient, type Closing } from './support/wire-client';

const ids = ['one', 'two', 'three'];
const of = (id: string) => bearer(keyOf(id));

const limited = (perClient: number, all = 1000): Promise<SubscriptionHarness> =>
  startHarness({
    clients: ids.map((id) => clientOf(id, {})),
    env: { MAX_SUBSCRIPTIONS_PER_CLIENT: String(perClient), MAX_SUBSCRIPTIONS: String(all) },
  });

describe.each(TRANSPORTS)('Subscriptions over %s', (_name, connect) => {
  test('are limited per client and in total', async () => {
    const harness = await limited(3, 4);
    const [one, two] = [connect(harness, of('one')), connect(harness, of('two'))];
    const id = harness.addPayment();
    for (let count = 0; count < 3; count += 1) expect((await watchStatus(one, id)).errors).toBeUndefined();
    const before = harness.service.requests.length;
    const { errors } = await watchStatus(one, harness.addPayment());
    const requestId = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;
    const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 10_000, requestId };
    expect(errors).toEqual([{ message: expect.any(String) as unknown, extensions }]);
    expect(harness.service.requests.length).toBe(before);
    expect((await watchStatus(two, id)).statuses).toEqual(['PENDING']);
    expect((await watchStatus(two, id)).codes).toEqual(['RATE_LIMITED']);
  });

  test('release their quota however they end, and use no quota if they are refused', async () => {
    const harness = await limited(1);
    const client = () => connect(harness, of('one'));
    const done = harness.addPayment({ status: 'completed' });
    let count = 0;
    const ended = (): Promise<unknown> => harness.subscriptionsEnded((count += 1));
    for (let round = 0; round < 5; round += 1) {
      const left = await watchStatus(client(), harness.addPayment());
      expect(left.statuses).toEqual(['PENDING']);
      left.leave();
      await ended();
      expect((await watchStatus(client(), done)).statuses).toEqual(['COMPLETED']);
      await ended();
      expect((await watchStatus(client(), CHANNEL)).codes).toEqual(['NOT_FOUND']);
      await ended();
      for (const query of ['{', '{ __typename }', 'subscription { nosuch }', subscription(done).query]) {
        const { codes } = await firstOf(client(), { query });
        expect(codes.length).toBeGreaterThan(0);
        expect(codes).not.toContain('RATE_LIMITED');
        await ended();
      }
      const held = harness.service.hold();
      const early = new Watching(client(), subscription(harness.addPayment()));
      await held.arrived;
      early.leave();
      await ended();
      held.release();
    }
  });

  test('count against the rate limit, even if refused, but their results do not', async () => {
    const env = { RATE_LIMIT_PER_MINUTE: '3' };
    const harness = await startHarness({ clients: [clientOf('one', {})], env });
    const id = harness.addPayment();
    const watching = await watchStatus(connect(harness), id);
    expect((await firstOf(connect(harness), { query: '{' })).codes).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect((await watchStatus(connect(harness), harness.addPayment())).errors).toBeUndefined();
    const { errors: [error] = [] } = await watchStatus(connect(harness), harness.addPayment());
    expect(error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    const wait = Number(error?.extensions['retryAfterMs']);
    expect(wait > 0 && wait <= 60_000).toBe(true);
    expect((await harness.client.request('{ __typename }')).errors?.[0]?.message).toBe(error?.message);
    // As over HTTP, rate-limited requests are not logged.
    expect(JSON.stringify(harness.subscriptionLines())).not.toContain('RATE_LIMITED');
    for (const [place, status] of ['processing', 'pending', 'completed'].entries()) {
      harness.service.update(id, { status });
      await harness.lookedUp(id);
      await watching.received(place + 2);
    }
    expect((await watchStatus(connect(harness, of('one')), id)).statuses).toEqual(['COMPLETED']);
  });

  test('do not begin if the client disconnects while its token is being verified', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    let answer: (() => void) | undefined;
    issuer.respondWith = (response) => {
      answer = () => response.end(JSON.stringify({ keys: [key.jwk] }));
    };
    const harness = await startHarness({ env: { ...issuer.settings, MAX_SUBSCRIPTIONS_PER_CLIENT: '1' } });
    const claims = { ...goodClaims(harness.clock.now()), channels: [CHANNEL] };
    const token = bearer(await tokenBy(key, { claims }));
    const id = harness.addPayment();
    const closed = new Watching(connect(harness, token), subscription(id));
    await until(() => answer);
    closed.leave();
    // When the gateway responds to this, it has noticed the disconnect.
    await fetch(new URL('/healthz', harness.url));
    answer?.();
    await until(async () => (await watchStatus(connect(harness, token), harness.addPayment())).data.length);
    expect(harness.lookups(id)).toBe(0);
  });
});

test('Event streams that were pipelined on one connection end their polling when the connection is closed', async () => {
  const harness = await startHarness();
  const transactions = [1, 2, 3].map(() => harness.addPayment());
  const wire = await Wire.open(harness.url);
  const authorization = `Authorization: ${AUTHORIZED.authorization}`;
  const headers = [`Host: ${new URL(harness.url).host}`, authorization, 'Accept: text/event-stream'];
  for (const id of transactions)
    wire.write(requestText(`GET /graphql/stream?${parametersOf(subscription(id))} HTTP/1.1`, headers));
  await until(() => harness.lookups(transactions[0]!));
  wire.close();
  await harness.subscriptionsEnded(1);
  for (const id of transactions) await harness.expectNotPolled(id);
});

describe('WebSocket connections', () => {
  const connectAs = (harness: SubscriptionHarness, id: string): Promise<WireClient> =>
    WireClient.ready(harness.url, of(id));

  const connectWhenAllowed = (harness: SubscriptionHarness): Promise<WireClient | undefined> =>
    until(() => connectAs(harness, 'one').catch(() => undefined));

  const closing = async (harness: SubscriptionHarness, id: string): Promise<Closing> => {
    const client = await WireClient.open(harness.url);
    client.say({ type: 'connection_init', payload: of(id) });
    return client.closed;
  };

  test('are limited per client and in total, and closed with 1013 above the limit', async () => {
    const harness = await limited(2, 3);
    const [first] = [await connectAs(harness, 'one'), await connectAs(harness, 'one')];
    const { code, reason } = await closing(harness, 'one');
    expect([code, reason.split(':')[0]]).toEqual([1013, 'RATE_LIMITED']);
    await connectAs(harness, 'two');
    for (const id of ids) expect((await closing(harness, id)).code).toBe(1013);
    first.socket.terminate();
    await connectWhenAllowed(harness);
  });

  test('use no connection quota when they are refused, never initialised or closed for a protocol violation', async () => {
    const harness = await limited(1);
    for (let round = 0; round < 10; round += 1) {
      expect((await closing(harness, 'nobody')).code).toBe(4401);
      await WireClient.open(harness.url);
      const client = await connectWhenAllowed(harness);
      client!.say('no message');
      expect((await client!.closed).code).toBe(4400);
    }
  });
});
