import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy } from '../support/issuer';
import { Wire, requestText } from '../support/wire';
import { parametersOf } from './support/event-stream';
import { liveRig, subscription, type LiveRig } from './support/harness';
import { TRANSPORTS, Watching, firstOf, watchStatus } from './support/subscriptions';
import { WireClient } from './support/wire-client';

const ids = ['one', 'two', 'three'];
const of = (id: string) => bearer(keyOf(id));

const limited = (perClient: number, all = 1000): Promise<LiveRig> =>
  liveRig({
    clients: ids.map((id) => clientOf(id, {})),
    env: { MAX_SUBSCRIPTIONS_PER_CLIENT: String(perClient), MAX_SUBSCRIPTIONS: String(all) },
  });

describe.each(TRANSPORTS)('Subscriptions over %s', (_name, connect) => {
  const begin = (rig: LiveRig, id: string, transactionId = rig.addPayment()): Promise<Watching> =>
    watchStatus(connect(rig, of(id)), transactionId);

  test('are limited per client and in all', async () => {
    const rig = await limited(3, 4);
    const [one, two] = [connect(rig, of('one')), connect(rig, of('two'))];
    const id = rig.addPayment();
    for (let count = 0; count < 3; count += 1) expect((await watchStatus(one, id)).errors).toBeUndefined();
    const before = rig.service.requests.length;
    const { errors } = await watchStatus(one, rig.addPayment());
    const requestId = expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown;
    const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 10_000, requestId };
    expect(errors).toEqual([{ message: expect.any(String) as unknown, extensions }]);
    expect(rig.service.requests.length).toBe(before);
    expect((await watchStatus(two, id)).statuses).toEqual(['PENDING']);
    expect((await watchStatus(two, id)).codes).toEqual(['RATE_LIMITED']);
  });

  test('free their slots however they end, and use none when they are refused', async () => {
    const rig = await limited(1);
    const done = rig.addPayment({ status: 'completed' });
    const { variables } = subscription(CHANNEL);
    let count = 0;
    const ended = (): Promise<number> => rig.subscriptionsEnded((count += 1));
    for (let round = 0; round < 5; round += 1) {
      const left = await begin(rig, 'one');
      expect(left.statuses).toEqual(['PENDING']);
      left.leave();
      await ended();
      expect((await begin(rig, 'one', done)).statuses).toEqual(['COMPLETED']);
      await ended();
      expect((await begin(rig, 'one', CHANNEL)).codes).toEqual(['NOT_FOUND']);
      await ended();
      for (const query of ['{', 'subscription { nosuch }', subscription(done).query]) {
        expect((await firstOf(connect(rig, of('one')), { query })).codes).not.toContain('RATE_LIMITED');
        await ended();
      }
      expect((await firstOf(connect(rig, of('one')), { query: '{ __typename }', variables })).codes).toEqual([
        'BAD_REQUEST',
      ]);
      await ended();
      const held = rig.service.hold();
      const early = new Watching(connect(rig, of('one')), subscription(rig.addPayment()));
      await held.arrived;
      early.leave();
      await ended();
      held.release();
    }
  });

  test('count against the rate limit, refused ones too; their results do not', async () => {
    const rig = await liveRig({ clients: [clientOf('one', {})], env: { RATE_LIMIT_PER_MINUTE: '3' } });
    const id = rig.addPayment();
    const watching = await watchStatus(connect(rig), id);
    expect((await firstOf(connect(rig), { query: '{' })).codes).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect((await watchStatus(connect(rig), rig.addPayment())).errors).toBeUndefined();
    const { errors: [error] = [] } = await watchStatus(connect(rig), rig.addPayment());
    expect(error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    const wait = Number(error?.extensions['retryAfterMs']);
    expect(wait > 0 && wait <= 60_000).toBe(true);
    expect((await rig.client.ask('{ __typename }')).errors?.[0]?.message).toBe(error?.message);
    // As over HTTP, rate-limited requests are not logged.
    expect(JSON.stringify(rig.subscriptionLines())).not.toContain('RATE_LIMITED');
    const statuses = ['processing', 'pending', 'mispaid', 'completed'];
    for (const [place, status] of statuses.entries()) {
      rig.service.update(id, { status });
      await rig.lookedUp(id);
      await watching.received(place + 2);
    }
    expect((await watchStatus(connect(rig, of('one')), id)).statuses).toEqual(['COMPLETED']);
  });

  test('do not begin when the client disconnects while its token is being verified', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    let answer: (() => void) | undefined;
    issuer.answering = (response) => {
      answer = () => response.end(JSON.stringify({ keys: [key.jwk] }));
    };
    const rig = await liveRig({ env: { ...issuer.settings, MAX_SUBSCRIPTIONS_PER_CLIENT: '1' } });
    const claims = { ...goodClaims(rig.clock.now()), channels: [CHANNEL] };
    const token = bearer(await tokenBy(key, { claims }));
    const id = rig.addPayment();
    const gone = new Watching(connect(rig, token), subscription(id));
    await until(() => answer);
    gone.leave();
    // The gateway has noticed before it responds to this.
    await fetch(new URL('/healthz', rig.url));
    answer?.();
    await until(async () => (await watchStatus(connect(rig, token), rig.addPayment())).data.length);
    expect(rig.lookups(id)).toBe(0);
  });
});

test('Pipelined streams leave nothing behind when their connection is closed', async () => {
  const rig = await liveRig();
  const transactions = [1, 2, 3].map(() => rig.addPayment());
  const wire = await Wire.open(rig.url);
  const headers = [
    `Host: ${new URL(rig.url).host}`,
    `Authorization: ${AUTHORIZED.authorization}`,
    'Accept: text/event-stream',
  ];
  for (const id of transactions)
    wire.write(requestText(`GET /graphql/stream?${parametersOf(subscription(id))} HTTP/1.1`, headers));
  await until(() => rig.lookups(transactions[0]!));
  wire.close();
  await rig.subscriptionsEnded(1);
  for (const id of transactions) await rig.expectNotPolled(id);
});

describe('WebSockets', () => {
  const connectAs = (rig: LiveRig, id: string): Promise<WireClient> => WireClient.ready(rig.url, of(id));

  const connectWhenFree = (rig: LiveRig, id: string): Promise<WireClient | undefined> =>
    until(() => connectAs(rig, id).catch(() => undefined));

  const closing = async (rig: LiveRig, id: string): Promise<{ code: number; reason: string }> => {
    const client = await WireClient.open(rig.url);
    client.say({ type: 'connection_init', payload: of(id) });
    return client.closed;
  };

  test('are limited per client and in all, and closed with 1013 above the limit', async () => {
    const rig = await limited(2, 3);
    const [first] = [await connectAs(rig, 'one'), await connectAs(rig, 'one')];
    expect(await closing(rig, 'one')).toEqual({
      code: 1013,
      reason: expect.stringMatching(/^RATE_LIMITED: /) as unknown,
    });
    await connectAs(rig, 'two');
    for (const id of ids) expect((await closing(rig, id)).code).toBe(1013);
    first.socket.terminate();
    await connectWhenFree(rig, 'one');
  });

  test('of one client share its limit of subscriptions', async () => {
    const rig = await limited(2);
    const clients = [await connectAs(rig, 'one'), await connectAs(rig, 'one')];
    for (const id of ['a', 'b'])
      for (const client of clients) client.subscribe(id, subscription(rig.addPayment()));
    await until(() => clients.every(({ heard }) => heard.length === 3));
    const types = clients.flatMap(({ heard }) => heard.map(({ type }) => type)).sort();
    expect(types).toEqual(['connection_ack', 'connection_ack', 'error', 'error', 'next', 'next']);
  });

  test('use no slot when they are refused, never initialised or closed for a protocol violation', async () => {
    const rig = await limited(1);
    for (let round = 0; round < 10; round += 1) {
      expect((await closing(rig, 'nobody')).code).toBe(4401);
      await WireClient.open(rig.url);
      const client = await connectWhenFree(rig, 'one');
      client!.say('no message');
      expect((await client!.closed).code).toBe(4400);
    }
  });

  test('leave nothing behind when clients complete early, close or vanish, many times', async () => {
    const rig = await limited(4);
    const transactions = Array.from({ length: 3 }, () => rig.addPayment());
    for (let round = 0; round < 15; round += 1) {
      const clients = await Promise.all([1, 2, 3, 4].map(() => connectWhenFree(rig, 'one')));
      for (const [place, client] of clients.entries()) {
        for (const [count, id] of transactions.entries()) client!.subscribe(`s${count}`, subscription(id));
        if (round % 2 === 0) await client!.next();
        if (place === 0) transactions.forEach((_id, count) => client!.complete(`s${count}`));
        if (place < 2) client!.socket.close();
        else client!.socket.terminate();
      }
    }
    const last = await connectWhenFree(rig, 'one');
    const taken = new Set<string>();
    let attempts = 0;
    await until(async () => {
      const id = `last-${(attempts += 1)}`;
      last!.subscribe(id, subscription(transactions[0]!));
      if ((await last!.next()).type === 'next') taken.add(id);
      return taken.size === 4;
    });
    await rig.lookUp(transactions[0]!);
    last!.subscribe('one too many', subscription(transactions[0]!));
    expect((await last!.next()).type).toBe('error');
  });
});
