import type { Client } from 'pg';
import { systemClock, type Clock } from '../../src/shared/clock';
import { until } from '../support/latch';
import { CHANNEL, closeAfterTests } from '../support/gateway';
import { FakePaymentService, type Json } from '../support/payment-service/fake-payment-service';
import { describePostgres, openStore, withClient, type Store } from '../support/stores';
import { TcpProxy } from '../support/tcp-proxy';
import { type SubscriptionHarness, NO_POLLING, startHarnessOn } from './support/harness';
import { type Watching, watchByBoth, watchPayment, webSocketClient } from './support/subscriptions';

const MISPAID = { status: 'mispaid' };
const amount = (received: string) => ({ amount: { currency: 'INR', value: '100.00', received } });

describePostgres('Gateways on one PostgreSQL database', () => {
  let store: Store;
  let service: FakePaymentService;
  let gateways: SubscriptionHarness<Clock>[];
  let [a, b]: SubscriptionHarness<Clock>[] = [];

  /** Starts a gateway and waits until it listens for notifications. Gateways of earlier tests listen too. */
  async function start(databaseUrl = store.url, env: Record<string, string> = {}) {
    const before = await withClient(databaseUrl, listeners);
    const settings = { ...NO_POLLING, SERVICE_TIMEOUT_MS: '5000', DATABASE_URL: databaseUrl, ...env };
    const gateway = await startHarnessOn(systemClock, { service, env: settings });
    await listening(before + 1, databaseUrl);
    return gateway;
  }

  const listeners = async (client: Client): Promise<number> => {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN paygraph_changes|SELECT pg_notify)'",
    );
    return rows.length;
  };

  const listening = (count: number, url: string): Promise<unknown> =>
    withClient(url, (client) => until(async () => (await listeners(client)) >= count));

  beforeAll(async () => {
    store = await openStore('PostgreSQL');
    closeAfterTests({ close: () => store.drop() });
    service = closeAfterTests(await FakePaymentService.start());
    gateways = [await start(), await start(), await start()];
    [a, b] = gateways;
  });

  afterEach(() => service.respond(() => undefined));

  async function watchOn(id: string, ...instances: SubscriptionHarness<Clock>[]): Promise<Watching[]> {
    const subscribers = instances.map((gateway) => watchPayment(webSocketClient(gateway), id));
    await Promise.all(subscribers.map((watching) => watching.received(1)));
    return subscribers;
  }

  /** Waits until all earlier notifications have been processed, by sending and receiving another one. */
  async function settled(): Promise<void> {
    const probe = a!.addPayment();
    const subscribers = await watchOn(probe, ...gateways);
    for (const [turn, gateway] of gateways.entries()) {
      await gateway.change(probe, amount(`${turn}.00`));
      await Promise.all(subscribers.map((watching) => watching.received(turn + 2)));
    }
    for (const watching of subscribers) watching.leave();
  }

  async function watchedOnB(fields: Json = {}): Promise<{ id: string; watching: Watching }> {
    const id = a!.addPayment(fields);
    const [watching] = await watchOn(id, b!);
    await settled();
    expect(a!.lookups(id)).toBe(1);
    return { id, watching: watching! };
  }

  test.each([
    ['query', 'MISPAID', 3, (id: string) => a!.change(id, MISPAID)],
    ['confirm', 'PROCESSING', 2, (id: string) => a!.confirm(id)],
  ] as const)(
    'send a change that a %s finds to the subscribers of the other gateways',
    async (_what, status, count, change) => {
      const { id, watching } = await watchedOnB();
      await change(id);
      await watching.shows({ status });
      await settled();
      expect(watching.statuses).toEqual(['PENDING', status]);
      expect(a!.lookups(id)).toBe(count);
    },
  );

  test('look up each change once per gateway', async () => {
    const id = a!.addPayment();
    const subscribers = (await Promise.all(gateways.map((gateway) => watchByBoth(gateway, id)))).flat();
    await settled();
    for (const [turn, gateway] of gateways.entries()) {
      const before = a!.lookups(id);
      await gateway.change(id, { status: ['mispaid', 'processing'][turn % 2], ...amount(`${turn}.00`) });
      await Promise.all(subscribers.map((watching) => watching.received(turn + 2)));
      await settled();
      expect(a!.lookups(id)).toBe(before + 3);
    }
    expect(subscribers.map(({ values }) => values.length)).toEqual(subscribers.map(() => 4));
  });

  test('do not send a lookup response that is older than a known change', async () => {
    const { id, watching } = await watchedOnB({ order: 'order-late' });
    const held = service.hold();
    const late = a!.client.request(
      `{ payment(channel: "${CHANNEL}", externalId: "order-late") { ... on PaymentResource { status } } }`,
    );
    await held.arrived;
    await b!.change(id, MISPAID);
    await watching.shows({ status: 'MISPAID' });
    held.release();
    await late;
    await settled();
    await b!.change(id, { status: 'completed' });
    await watching.ended();
    expect(watching.statuses).toEqual(['PENDING', 'MISPAID', 'COMPLETED']);
    expect(a!.lookups(id)).toBeLessThanOrEqual(4);
  });

  test('do not make each other look up a payment endlessly if the service shows each gateway a different state', async () => {
    const one = await start(store.url, { SERVICE_API_KEY: 'key-of-one' });
    const two = await start(store.url, { SERVICE_API_KEY: 'key-of-two' });
    const id = a!.addPayment();
    const [onOne] = await watchOn(id, one, two);
    service.respond(({ query: text, headers }) => {
      if (!text.includes(id)) return undefined;
      const status = headers['x-api-key'] === 'key-of-one' ? 'mispaid' : 'pending';
      return { status: 200, json: { ...service.fieldsOf(id), status } };
    });
    await one.lookUp(id);
    await onOne?.shows({ status: 'MISPAID' });
    const probe = a!.addPayment();
    const [onTwo] = await watchOn(probe, two);
    for (let turn = 1; turn <= 10; turn += 1) {
      await one.change(probe, amount(`${turn}.00`));
      await onTwo?.received(turn + 1);
    }
    expect(a!.lookups(id)).toBeLessThanOrEqual(8);
  });

  test('send changes to their own subscribers while PostgreSQL is down, and to all subscribers afterwards', async () => {
    const away = await openStore('PostgreSQL');
    const proxy = closeAfterTests(await TcpProxy.to(away.url));
    const databaseUrl = proxy.through(away.url);
    const [one, two] = [await start(databaseUrl), await start(databaseUrl)];
    const id = a!.addPayment();
    const [onOne, onTwo] = await watchOn(id, one, two);
    await proxy.refuse();
    // PostgreSQL closes its side of a connection with a delay.
    await withClient(away.url, (client) => until(async () => (await listeners(client)) === 0));
    service.update(id, MISPAID);
    await one.lookUp(id);
    await onOne?.shows({ status: 'MISPAID' });
    expect(onTwo?.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    await proxy.listen();
    // A gateway that is not connected yet would miss the notification.
    await listening(2, away.url);
    await two.change(id, { status: 'completed' });
    await Promise.all([onOne?.ended(), onTwo?.ended()]);
    expect([onOne?.completed, onTwo?.completed]).toEqual([true, true]);
  });
});
