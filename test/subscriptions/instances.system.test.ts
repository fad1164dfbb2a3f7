import type { Client } from 'pg';
import { systemClock, type Clock } from '../../src/shared/clock';
import { createInput } from '../support/caller';
import { sendCall } from '../support/calls';
import { until } from '../support/latch';
import { CHANNEL, closeAfterTests } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';
import { FakePaymentService, type Json } from '../support/payment-service/fake-payment-service';
import { describePostgres, openStore, withClient, type Store } from '../support/stores';
import { TcpProxy } from '../support/tcp-proxy';
import { type SubscriptionHarness, NO_POLLING, startHarnessOn } from './support/harness';
import { Watching, watchByBoth, watchPayment, webSocketClient } from './support/subscriptions';

const MISPAID = { status: 'mispaid' };
const amount = (received: string) => ({ amount: { currency: 'INR', value: '100.00', received } });

describePostgres('Gateways on one PostgreSQL', () => {
  let store: Store;
  let service: FakePaymentService;
  let gateways: SubscriptionHarness<Clock>[];
  let [a, b]: SubscriptionHarness<Clock>[] = [];

  interface Options {
    env?: Record<string, string>;
    databaseUrl?: string;
    before?: FakePaymentService;
  }

  const startOn = <C extends Clock>(clock: C, options: Options = {}): Promise<SubscriptionHarness<C>> => {
    const { env, databaseUrl = store.url, before = service } = options;
    const settings = { ...NO_POLLING, SERVICE_TIMEOUT_MS: '5000', DATABASE_URL: databaseUrl, ...env };
    return startHarnessOn(clock, { service: before, env: settings });
  };

  /** Starts a gateway and waits until it listens for notifications. Gateways of earlier tests listen too. */
  async function start(options: Options = {}): Promise<SubscriptionHarness<Clock>> {
    const { databaseUrl = store.url } = options;
    const before = await withClient(databaseUrl, listeners);
    const gateway = await startOn(systemClock, options);
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
    'send a change that a %s finds to the clients of the other gateways',
    async (_what, status, count, change) => {
      const { id, watching } = await watchedOnB();
      await change(id);
      await watching.shows({ status });
      await settled();
      expect(watching.statuses).toEqual(['PENDING', status]);
      expect(a!.lookups(id)).toBe(count);
    },
  );

  test('send each other a change that polling finds', async () => {
    const clock = fakeClock(Date.now());
    const env = { POLL_INTERVALS_PAYER: '1s', SUBSCRIPTION_PING_SECONDS: '3600' };
    const polling = await startOn(clock, { env });
    const { id, watching } = await watchedOnB();
    const [own] = await watchOn(id, polling);
    service.update(id, MISPAID);
    await polling.lookedUp(id);
    await own?.shows({ status: 'MISPAID' });
    await until(() => {
      // This clock also delays the notification.
      clock.advance(20);
      return watching.last?.['status'] === 'MISPAID';
    });
  });

  test('look a change up once per instance', async () => {
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

  test('send subscribers of other instances every change, also one back to the previous state', async () => {
    const { id, watching } = await watchedOnB();
    for (const status of ['mispaid', 'pending', 'mispaid', 'pending']) {
      await a!.change(id, { status });
      await watching.shows({ status: status.toUpperCase() });
    }
    expect(watching.statuses).toEqual(['PENDING', 'MISPAID', 'PENDING', 'MISPAID', 'PENDING']);
  });

  test('repeat a lookup whose response is older than a known change, and do not send that response', async () => {
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

  test('of different services do not notify each other', async () => {
    const other = closeAfterTests(await FakePaymentService.start());
    const [first, second] = [await start({ before: other }), await start({ before: other })];
    const { id, watching } = await watchedOnB();
    other.add({ ...service.fieldsOf(id), status: 'mispaid' });
    const [foreign] = await watchOn(id, second);
    other.update(id, { status: 'completed' });
    await first.lookUp(id);
    await foreign?.shows({ status: 'COMPLETED' });
    await settled();
    expect(a!.lookups(id)).toBe(1);
    expect(watching.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
  });

  test('do not repeat lookups endlessly if the service returns another state each time', async () => {
    const one = await start({ env: { SERVICE_API_KEY: 'key-of-one' } });
    const two = await start({ env: { SERVICE_API_KEY: 'key-of-two' } });
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

  test('send changes to their own clients while PostgreSQL is down, and to all when it is back', async () => {
    const away = await openStore('PostgreSQL');
    const proxy = closeAfterTests(await TcpProxy.to(away.url));
    const databaseUrl = proxy.through(away.url);
    const [one, two] = [await start({ databaseUrl }), await start({ databaseUrl })];
    const intervals = { POLL_INTERVALS_PAYER: '200ms', POLL_INTERVALS_MISPAID: '200ms' };
    const polling = await start({ databaseUrl, env: intervals });
    const id = a!.addPayment();
    const polled = a!.addPayment();
    const [onOne, onTwo] = await watchOn(id, one, two);
    const [onPolling] = await watchOn(polled, polling);
    await proxy.refuse();
    service.update(id, MISPAID);
    service.update(polled, MISPAID);
    await one.lookUp(id);
    await onOne?.shows({ status: 'MISPAID' });
    expect(onTwo?.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    await onPolling?.shows({ status: 'MISPAID' });
    const [late] = await watchOn(polled, polling);
    expect(late?.statuses).toEqual(['MISPAID']);
    await proxy.listen();
    // A gateway that is not connected yet would miss the notification.
    await listening(3, away.url);
    await two.change(id, { status: 'completed' });
    await Promise.all([onOne?.ended(), onTwo?.ended()]);
    expect([onOne?.completed, onTwo?.completed]).toEqual([true, true]);
  });

  test('send the amount of a subscribed payout, which comes from the journal, while the journal does not respond', async () => {
    const slow = await start({ env: { POLL_INTERVALS_PROVIDER: '200ms' } });
    const id = a!.addPayout();
    service.respond(({ method }) =>
      method === 'POST' ? { status: 201, json: service.fieldsOf(id) } : undefined,
    );
    const input = createInput('payout', 'key-slow-journal');
    const { result } = await sendCall(slow.client, { mutation: 'createPayout', input });
    expect(result).toMatchObject({ __typename: 'PayoutSuccess' });
    const document = `subscription { payoutUpdated(channel: "${CHANNEL}", transactionId: "${id}") {
      ... on PayoutResource { status amount { value } } } }`;
    const watching = new Watching(webSocketClient(slow), document, 'payoutUpdated');
    await watching.received(1);
    const unlock = await store.hold();
    const before = a!.lookups(id);
    await until(() => a!.lookups(id) >= before + 3).finally(unlock);
    service.update(id, { status: 'completed' });
    await watching.ended();
    expect(watching.values).toEqual([
      { status: 'PROCESSING', amount: { value: '10.00' } },
      { status: 'COMPLETED', amount: { value: '10.00' } },
    ]);
  });
});
