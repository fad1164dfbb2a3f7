import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../src/shared/clock';
import {
  createNotifier,
  type ChangeNotifier,
  type ChangeNotification,
} from '../../src/datasources/change-notifier/change-notifier';
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

const newChange = (): ChangeNotification => ({
  subjectHash: randomBytes(16).toString('base64url'),
  stateHash: randomBytes(6).toString('base64url'),
});

const newChanges = (count: number): ChangeNotification[] => Array.from({ length: count }, newChange);

const textOf = ({ subjectHash, stateHash }: ChangeNotification): string => subjectHash + stateHash;

interface Instance {
  feed: ChangeNotifier;
  received: ChangeNotification[];
  /** Reported connection states, in order. */
  reached: boolean[];
  has(change: ChangeNotification): boolean;
}

const opened: ChangeNotifier[] = [];

/** Starts an instance on the store, unless another URL is given. */
function start(clock: Clock = systemClock, url = store.url): Instance {
  const received: ChangeNotification[] = [];
  const reached: boolean[] = [];
  const names = new Set<string>();
  const onConnectionChange = (isConnected: boolean): number => reached.push(isConnected);
  const feed = createNotifier(url, clock, onConnectionChange)!;
  feed.setListener((change) => {
    received.push(change);
    names.add(textOf(change));
  });
  opened.push(feed);
  return { feed, received, reached, has: (change) => names.has(textOf(change)) };
}

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((feed) => feed.close()));
}

/** Waits until each instance receives the changes of all others, and clears `received`. */
async function connected(...instances: Instance[]): Promise<void> {
  for (const by of instances) {
    const others = instances.filter((one) => one !== by);
    const sent: ChangeNotification[] = [];
    await until(() => {
      if (others.every((one) => sent.some(one.has))) return true;
      by.feed.publish(sent[sent.push(newChange()) - 1]!);
      return false;
    });
    // Changes arrive in order: none is outstanding after the last change.
    const last = newChange();
    by.feed.publish(last);
    await until(() => others.every((one) => one.has(last)));
  }
  for (const one of instances) one.received.length = 0;
}

const OURS = `application_name = 'paygraph' AND datname = current_database()`;

/** Returns the connections of all instances, with the last query of each. */
const connections = (): Promise<Record<string, unknown>[]> =>
  store.rows(`SELECT pid, query FROM pg_stat_activity WHERE ${OURS} ORDER BY pid`);

const killConnections = (): Promise<unknown> =>
  store.rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`);

const proxies: TcpProxy[] = [];
afterEach(async () => {
  await closeAll();
  for (const proxy of proxies.splice(0)) await proxy.close();
  // PostgreSQL closes its side of a connection with a delay.
  if (!noPostgres) await until(connections, ({ length }) => length === 0);
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

/** Intervals of the change notifier: batch window, response timeout, health check. */
const BATCH_WINDOW_MS = 10;
const RESPONSE_TIMEOUT_MS = 5_000;
const HEALTH_CHECK_MS = 30_000;

describePostgres('A change notification', () => {
  test('reaches all other instances, but not its sender', async () => {
    const instances = [start(), start(), start()];
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

  test('contains up to 250 of 5000 queued changes, and all changes arrive in order', async () => {
    const [one, two] = [start(), start()];
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

  test('is ignored if it is malformed', async () => {
    const [one, two] = [start(), start()];
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
});

describePostgres('The PostgreSQL connection for change notifications', () => {
  test('is replaced each time the server closes it', async () => {
    const [one, two] = [start(), start()];
    for (let round = 1; round <= 2; round += 1) {
      await connected(one, two);
      await killConnections();
      await until(() => [one, two].every(({ reached }) => reached.length > 2 * round - 2));
      await connected(one, two);
    }
    expect([one.reached, two.reached]).toEqual([
      [false, true, false, true],
      [false, true, false, true],
    ]);
  });

  test('sends only the newest 20,000 queued changes when it is established', async () => {
    const proxy = await closedProxy();
    const clock = new AdvancingClock(systemClock);
    const [two, three] = [start(), start()];
    await connected(two, three);
    const one = start(clock, proxy.through(store.url));
    await until(() => one.reached.length > 0);
    const changes = newChanges(25_000);
    changes.forEach((change) => one.feed.publish(change));
    await proxy.listen();
    clock.advance(1_000);
    await until(() => two.has(changes[24_999]!));
    expect(two.received).toEqual(changes.slice(5_000));
    expect([one.reached, two.reached]).toEqual([[false, true], []]);
  });

  test('is retried with exponential backoff and jitter, and the backoff restarts after a stable connection', async () => {
    const proxy = await closedProxy();
    const clock = fakeClock(0);
    const timers = jest.spyOn(clock, 'after');
    /** Returns the delays before new connections. */
    const waits = (): number[] =>
      timers.mock.calls
        .map(([ms]) => ms)
        .filter((ms) => ![BATCH_WINDOW_MS, RESPONSE_TIMEOUT_MS, HEALTH_CHECK_MS].includes(ms));
    const one = start(clock, proxy.through(store.url));
    for (let attempts = 1; attempts <= 30; attempts += 1) {
      await until(() => waits().length === attempts);
      if (attempts === 30) await proxy.listen();
      clock.advance(waits().at(-1)!);
    }
    expect(waits()[0]).toBeLessThanOrEqual(1_000);
    expect(waits()[1]).toBeLessThanOrEqual(2_000);
    expect(Math.min(...waits())).toBeGreaterThanOrEqual(500);
    expect(Math.max(...waits())).toBeLessThanOrEqual(30_000);
    expect(Math.max(...waits())).toBeGreaterThan(10_000);
    expect(new Set(waits()).size).toBeGreaterThan(20);
    await until(() => one.reached.length === 2);
    clock.advance(HEALTH_CHECK_MS);
    await proxy.refuse();
    await until(() => one.reached.length === 3);
    expect(waits()).toHaveLength(31);
    expect(waits().at(-1)).toBeLessThanOrEqual(1_000);
  });

  test('is kept when it responds to health checks', async () => {
    // Advanced by this test only: a health check and its timeout must not fall due together.
    const clock = fakeClock(0);
    const [one, two] = [start(clock), start()];
    const pids = async () => (await connections()).map(({ pid }) => pid);
    const lastQueries = async () => (await connections()).map(({ query }) => query);
    await until(
      async () => (await lastQueries()).filter((query) => query === `LISTEN ${CHANNEL}`).length === 2,
    );
    const before = await pids();
    for (let checks = 0; checks < 5; checks += 1) {
      const change = newChange();
      one.feed.publish(change);
      await until(() => {
        clock.advance(BATCH_WINDOW_MS);
        return two.has(change);
      });
      clock.advance(HEALTH_CHECK_MS);
      await until(async () => (await lastQueries()).includes('SELECT 1'));
    }
    expect(await pids()).toEqual(before);
    expect(one.reached).toEqual([]);
  });

  test('is replaced when it does not respond to a health check', async () => {
    const proxy = await openProxy();
    const clock = new AdvancingClock(systemClock);
    const [one, two] = [start(clock, proxy.through(store.url)), start()];
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

  test('times out when the server accepts it and does not respond', async () => {
    const proxy = await openProxy();
    const url = proxy.through(store.url);
    const clock = new AdvancingClock(systemClock);
    proxy.pause();
    const [one, two] = [start(clock, url), start()];
    clock.advance(RESPONSE_TIMEOUT_MS - 100);
    expect(one.reached).toEqual([]);
    clock.advance(100);
    await until(() => one.reached.length === 1);
    proxy.resumeNewConnections();
    clock.advance(1_000);
    await connected(one, two);
  });
});

describePostgres('Closing the change notifier', () => {
  let clock: AdvancingClock;

  beforeEach(() => void (clock = new AdvancingClock(systemClock)));

  const expectNoTimersOrConnections = async (): Promise<void> => {
    expect(clock.advance(DAY_MS)).toBe(0);
    await until(async () => (await connections()).length === 0);
    expect(clock.advance(DAY_MS)).toBe(0);
  };

  test('ends its connection and leaves no timer', async () => {
    const [one, two] = [start(clock), start(clock)];
    await connected(one, two);
    expect(await connections()).toHaveLength(2);
    one.feed.publish(newChange());
    await Promise.all([one.feed.close(), two.feed.close()]);
    await expectNoTimersOrConnections();
    expect([...one.reached, ...two.reached]).toEqual([]);
  });

  test('at any moment of a connection attempt leaves no connection or timer', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const one = start(clock);
      one.feed.publish(newChange());
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await one.feed.close();
      expect(one.reached).toEqual([]);
    }
    await expectNoTimersOrConnections();
  });

  test('cancels the next connection attempt after a refused connection', async () => {
    const proxy = await closedProxy();
    const one = start(clock, proxy.through(store.url));
    await until(() => one.reached.length > 0);
    await one.feed.close();
    await proxy.listen();
    await expectNoTimersOrConnections();
    expect(one.reached).toEqual([false]);
  });

  test('does not wait for a server that does not respond', async () => {
    const proxy = await openProxy();
    const url = proxy.through(store.url);
    const [one, two] = [start(clock, url), start(clock, url)];
    await connected(one, two);
    proxy.pause();
    const late = start(clock, url);
    one.feed.publish(newChange());
    // `one` sends, `two` is idle, and `late` has no connection yet.
    clock.advance(10);
    await Promise.all([one.feed.close(), two.feed.close(), late.feed.close()]);
    await proxy.close();
    await expectNoTimersOrConnections();
  });
});

test.each([
  ['a missing certificate file', 'postgres://postgres@127.0.0.1/test?sslrootcert=/nowhere/ca.pem'],
  ['a database that does not exist', `${new URL('/nowhere', POSTGRES_URL).href}`],
])('A change notifier with %s opens, reports that it is not connected, and closes', async (_, url) => {
  const one = start(systemClock, url);
  one.feed.publish(newChange());
  await until(() => one.reached.length > 0);
  expect(one.reached).toEqual([false]);
  await one.feed.close();
});

test('There is no change notifier for a SQLite journal', () => {
  expect(createNotifier('file:data/nothing-is-opened.db', systemClock)).toBeNull();
});
