import { systemClock, type Clock } from '../../src/shared/clock';
import { createNotifier } from '../../src/datasources/change-notifier/change-notifier';
import { AdvancingClock } from '../../src/sandbox/clock';
import {
  describePostgres,
  emptyPostgres,
  noPostgres,
  POSTGRES_URL,
  withClient,
  type Store,
} from '../support/stores';
import { until } from '../support/latch';
import { fakeClock } from '../support/fake-clock';
import { TcpProxy } from '../support/tcp-proxy';
import {
  connected,
  closeAll,
  connections,
  killConnections,
  newChange,
  newChanges,
  start,
  textOf,
} from './support/feeds';

const CHANNEL = 'paygraph_changes';
const SENDER = 'a-foreign_sender';
const DAY_MS = 86_400_000;

let store: Store;

if (!noPostgres) {
  beforeAll(async () => {
    store = await emptyPostgres();
  });
  afterAll(() => store.drop());
}
const proxies: TcpProxy[] = [];
afterEach(async () => {
  await closeAll();
  for (const proxy of proxies.splice(0)) await proxy.close();
});

async function openProxy(): Promise<TcpProxy> {
  const proxy = await TcpProxy.to(store.url);
  proxies.push(proxy);
  return proxy;
}

async function closedProxy(): Promise<TcpProxy> {
  const proxy = await openProxy();
  await proxy.refuse();
  return proxy;
}

/** Intervals of the feed: batch window, response timeout, health check. */
const BATCH_WINDOW_MS = 10;
const RESPONSE_TIMEOUT_MS = 5_000;
const HEALTH_CHECK_MS = 30_000;

/** Returns a fake clock that records the delays before new connections in `waits`. */
function recordingClock() {
  const clock = fakeClock(0);
  const waits: number[] = [];
  const now = () => clock.now();
  const monotonic = () => clock.monotonic();
  const after: Clock['after'] = (ms, run) => {
    if (![BATCH_WINDOW_MS, RESPONSE_TIMEOUT_MS, HEALTH_CHECK_MS].includes(ms)) waits.push(ms);
    return clock.after(ms, run);
  };
  return { clock: { now, monotonic, after }, waits, advance: (ms: number) => clock.advance(ms) };
}

describePostgres('A change', () => {
  test('reaches all other instances, but not its sender', async () => {
    const instances = [start(store.url), start(store.url), start(store.url)];
    await connected(...instances);
    const changes = newChanges(3);
    for (const [place, change] of changes.entries()) {
      instances[place]!.feed.publish(change);
      await until(() => instances.every((one, at) => at === place || one.has(change)));
    }
    // The sender's own change would have arrived before the others'.
    for (const [place, { received }] of instances.entries())
      expect(received).toEqual(changes.filter((_, at) => at !== place));
  });

  test('arrives in order with 5000 others, which are sent in notifications of 250', async () => {
    const [one, two] = [start(store.url), start(store.url)];
    await connected(one, two);
    const changes = newChanges(5_000);
    const messages = await withClient(store.url, async (client) => {
      const sizes: number[] = [];
      client.on('notification', ({ payload }) => sizes.push(payload?.length ?? 0));
      await client.query(`LISTEN ${CHANNEL}`);
      changes.forEach((change) => one.feed.publish(change));
      await until(() => two.received.length === changes.length && sizes.length >= 20);
      return sizes;
    });
    expect(two.received).toEqual(changes);
    expect(messages).toEqual(Array.from({ length: 20 }, () => 16 + 250 * 30));
  });

  test('arrives once if it was published twice in one batch', async () => {
    const [one, two] = [start(store.url), start(store.url)];
    await connected(one, two);
    const [first, second] = [newChange(), newChange()];
    [first, second, first].forEach((change) => one.feed.publish(change));
    await until(() => two.has(first) && two.has(second));
    const last = newChange();
    one.feed.publish(last);
    await until(() => two.has(last));
    expect(two.received).toEqual([second, first, last]);
  });

  test('is ignored in a malformed notification', async () => {
    const [one, two] = [start(store.url), start(store.url)];
    await connected(one, two);
    const text = textOf(newChange());
    const nonsense = [
      '',
      SENDER,
      SENDER.slice(1) + text,
      `${SENDER}${text}A`,
      JSON.stringify({ name: text.slice(0, 22), state: text.slice(22) }),
      SENDER + text.repeat(251),
      'A'.repeat(7_999),
    ];
    const meant = newChange();
    await withClient(store.url, async (client) => {
      for (const payload of nonsense) await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
      await client.query(`NOTIFY ${CHANNEL}`);
      await client.query('SELECT pg_notify($1, $2)', [CHANNEL, SENDER + textOf(meant)]);
    });
    await until(() => one.has(meant) && two.has(meant));
    expect([one.received, two.received]).toEqual([[meant], [meant]]);
    await connected(one, two);
    expect([...one.reached, ...two.reached]).toEqual([]);
  });

  test('does not reach the instances of another database', async () => {
    const elsewhere = await emptyPostgres();
    try {
      const [here, neighbour] = [start(store.url), start(store.url)];
      const [there, other] = [start(elsewhere.url), start(elsewhere.url)];
      await Promise.all([connected(here, neighbour), connected(there, other)]);
      const [first, second] = [newChange(), newChange()];
      here.feed.publish(first);
      await until(() => neighbour.has(first));
      other.feed.publish(second);
      await until(() => there.has(second));
      expect([neighbour.received, there.received]).toEqual([[first], [second]]);
      expect([here.received, other.received]).toEqual([[], []]);
    } finally {
      await closeAll();
      await elsewhere.drop();
    }
  });
});

describePostgres('The connection of a feed', () => {
  test('is replaced each time the server closes it', async () => {
    const [one, two] = [start(store.url), start(store.url)];
    for (let round = 1; round <= 2; round += 1) {
      await connected(one, two);
      await killConnections(store);
      await until(() => [one, two].every(({ reached }) => reached.length > 2 * round - 2));
      await connected(one, two);
    }
    expect([one.reached, two.reached]).toEqual([
      [false, true, false, true],
      [false, true, false, true],
    ]);
  });

  test('sends the last 20,000 changes once it is established', async () => {
    const proxy = await closedProxy();
    const clock = new AdvancingClock(systemClock);
    const [two, three] = [start(store.url), start(store.url)];
    await connected(two, three);
    const one = start(proxy.through(store.url), clock);
    await until(() => one.reached.length > 0);
    const changes = newChanges(25_000);
    changes.forEach((change) => one.feed.publish(change));
    await proxy.listen();
    clock.advance(1_000);
    await until(() => two.has(changes[24_999]!));
    expect(two.received).toEqual(changes.slice(5_000));
    expect([one.reached, two.reached]).toEqual([[false, true], []]);
  });

  test('is retried with exponential backoff and jitter, starting anew after a connection that lasted', async () => {
    const proxy = await closedProxy();
    const { clock, waits, advance } = recordingClock();
    const one = start(proxy.through(store.url), clock);
    for (let attempts = 1; attempts <= 30; attempts += 1) {
      await until(() => waits.length === attempts);
      if (attempts === 30) await proxy.listen();
      advance(waits.at(-1)!);
    }
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(waits[1]).toBeLessThanOrEqual(2_000);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(Math.max(...waits)).toBeGreaterThan(10_000);
    expect(new Set(waits).size).toBe(waits.length);
    await until(() => one.reached.length === 2);
    advance(HEALTH_CHECK_MS);
    await proxy.refuse();
    await until(() => one.reached.length === 3);
    expect(waits).toHaveLength(31);
    expect(waits.at(-1)).toBeLessThanOrEqual(1_000);
  });

  test('is kept when it responds to health checks', async () => {
    // Advanced by this test only: a health check and its timeout must not fall due together.
    const clock = fakeClock(0);
    const [one, two] = [start(store.url, clock), start(store.url, clock)];
    const bothWere = (request: string) => async () =>
      (await connections(store)).filter(({ query }) => query === request).length === 2;
    const pids = async () => (await connections(store)).map(({ pid }) => pid);
    await until(bothWere('LISTEN paygraph_changes'));
    const before = await pids();
    for (let checks = 0; checks < 5; checks += 1) {
      const [first, second] = [newChange(), newChange()];
      one.feed.publish(first);
      two.feed.publish(second);
      await until(() => {
        clock.advance(BATCH_WINDOW_MS);
        return two.has(first) && one.has(second);
      });
      clock.advance(HEALTH_CHECK_MS);
      await until(bothWere('SELECT 1'));
    }
    expect(await pids()).toEqual(before);
    expect([...one.reached, ...two.reached]).toEqual([]);
  });

  test('is replaced when it does not respond to a health check', async () => {
    const proxy = await openProxy();
    const clock = new AdvancingClock(systemClock);
    const [one, two] = [start(proxy.through(store.url), clock), start(store.url)];
    await connected(one, two);
    proxy.pause();
    clock.advance(HEALTH_CHECK_MS);
    expect(one.reached).toEqual([]);
    clock.advance(RESPONSE_TIMEOUT_MS);
    await until(() => one.reached.length === 1);
    // The proxy forwards new connections again, but not the open one.
    proxy.resumeNewConnections();
    clock.advance(1_000);
    await connected(one, two);
    expect(one.reached).toEqual([false, true]);
  });

  test('is replaced when it does not acknowledge a notification, and loses that notification only', async () => {
    const proxy = await openProxy();
    const clock = new AdvancingClock(systemClock);
    const [one, two] = [start(proxy.through(store.url), clock), start(store.url)];
    await connected(one, two);
    proxy.pause();
    const [lost, ...later] = newChanges(3);
    for (const change of [lost!, ...later]) {
      one.feed.publish(change);
      clock.advance(BATCH_WINDOW_MS);
    }
    clock.advance(RESPONSE_TIMEOUT_MS);
    await until(() => one.reached.length === 1);
    proxy.resumeNewConnections();
    clock.advance(1_000);
    await until(() => two.has(later[1]!));
    expect(two.received.filter((change) => textOf(change) !== textOf(lost!))).toEqual(later);
  });

  test('times out when the server accepts it and does not respond', async () => {
    const proxy = await openProxy();
    const url = proxy.through(store.url);
    const clock = new AdvancingClock(systemClock);
    proxy.pause();
    const [one, two] = [start(url, clock), start(store.url)];
    clock.advance(RESPONSE_TIMEOUT_MS - 100);
    expect(one.reached).toEqual([]);
    clock.advance(100);
    await until(() => one.reached.length === 1);
    proxy.resumeNewConnections();
    clock.advance(1_000);
    await connected(one, two);
  });
});

describePostgres('Closing a feed', () => {
  let clock: AdvancingClock;

  beforeEach(() => void (clock = new AdvancingClock(systemClock)));

  const expectNoTimersOrConnections = async (): Promise<void> => {
    expect(clock.advance(DAY_MS)).toBe(0);
    await until(async () => (await connections(store)).length === 0);
    expect(clock.advance(DAY_MS)).toBe(0);
  };

  test('ends its one connection, and leaves no timers', async () => {
    const [one, two] = [start(store.url, clock), start(store.url, clock)];
    await connected(one, two);
    expect(await connections(store)).toHaveLength(2);
    one.feed.publish(newChange());
    await Promise.all([one.feed.close(), two.feed.close()]);
    await expectNoTimersOrConnections();
    expect([...one.reached, ...two.reached]).toEqual([]);
  });

  test('leaves no connection or timer, at whatever moment of a connection attempt it happens', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const one = start(store.url, clock);
      one.feed.publish(newChange());
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await one.feed.close();
      expect(one.reached).toEqual([]);
    }
    await expectNoTimersOrConnections();
  });

  test('cancels the next connection attempt after a refused one', async () => {
    const proxy = await closedProxy();
    const one = start(proxy.through(store.url), clock);
    await until(() => one.reached.length > 0);
    await one.feed.close();
    await proxy.listen();
    await expectNoTimersOrConnections();
    expect(one.reached).toEqual([false]);
  });

  test('does not wait for a server that does not respond', async () => {
    const proxy = await openProxy();
    const url = proxy.through(store.url);
    const [one, two] = [start(url, clock), start(url, clock)];
    await connected(one, two);
    proxy.pause();
    const late = start(url, clock);
    one.feed.publish(newChange());
    // `one` sends, `two` is idle, and `late` has no connection yet.
    clock.advance(10);
    await Promise.all([one.feed.close(), two.feed.close(), late.feed.close()]);
    await proxy.close();
    await expectNoTimersOrConnections();
  });

  test('ends sending and receiving, and can be repeated', async () => {
    const [one, two, three] = [start(store.url), start(store.url), start(store.url)];
    await connected(one, two, three);
    await one.feed.close();
    one.feed.publish(newChange());
    const last = newChange();
    two.feed.publish(last);
    await until(() => three.has(last));
    await one.feed.close();
    expect([one.received, two.received, three.received]).toEqual([[], [], [last]]);
  });
});

test.each([
  ['a host name without an address', 'postgres://postgres@nowhere.invalid/test'],
  ['a missing certificate file', 'postgres://postgres@127.0.0.1/test?sslrootcert=/nowhere/ca.pem'],
  ['a database that does not exist', `${new URL('/nowhere', POSTGRES_URL).href}`],
])('A feed opens, reports that it is not connected, and closes, even with %s', async (_, url) => {
  const one = start(url);
  expect(one.feed.hasPeers).toBe(true);
  one.feed.publish(newChange());
  await until(() => one.reached.length > 0);
  expect(one.reached).toEqual([false]);
  await one.feed.close();
});

test('A feed with a SQLite journal reaches no other instance', async () => {
  const feed = createNotifier({ databaseUrl: 'file:data/nothing-is-opened.db', clock: systemClock });
  expect(feed.hasPeers).toBe(false);
  const received = jest.fn();
  feed.subscribe(received);
  feed.publish(newChange());
  await feed.close();
  expect(received).not.toHaveBeenCalled();
});
