import { createInput } from '../support/caller';
import { sendCall, type Json, type MutationCall } from '../support/calls';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import {
  AT_PROVIDER,
  NO_POLLING,
  startHarness,
  statusResult,
  subscription,
  type Kind,
  type SubscriptionHarness,
} from './support/harness';
import {
  TRANSPORTS,
  Watching,
  eventStreamClient,
  firstOf,
  watchByBoth,
  watchPayment,
  watchStatus,
  webSocketClient,
  type SubscriptionClient,
} from './support/subscriptions';
import { WireClient } from './support/wire-client';

const STATUS = '... on PaymentResource { status }';
const amount = (value: string) => ({ amount: { currency: 'INR', value } });

let harness: SubscriptionHarness;

beforeAll(async () => {
  harness = await startHarness();
});

describe.each(TRANSPORTS)('A subscription over %s', (_name, connect) => {
  const STATES: [Kind, string[]][] = [
    ['payment', ['pending', 'processing', 'mispaid', 'completed']],
    ['payout', ['processing', 'failed']],
    ['payout', ['completed']],
  ];

  test.each(STATES)(
    'sends each status of a %s that goes through %j, with one lookup per status, and completes',
    async (kind, statuses) => {
      const id = harness.add(kind, { status: statuses[0] });
      const watching = new Watching(connect(harness), subscription(id, kind), `${kind}Updated`);
      await watching.received(1);
      for (const [place, status] of statuses.slice(1).entries()) {
        harness.service.update(id, { status });
        await harness.lookedUp(id);
        await watching.received(place + 2);
      }
      await watching.ended();
      expect(watching.data).toEqual(statuses.map((status) => statusResult(status.toUpperCase(), kind).data));
      expect([watching.completed, harness.lookups(id)]).toEqual([true, statuses.length]);
    },
  );

  test('sends each change once, and nothing after lookups that find no change', async () => {
    const id = harness.addPayment();
    const watching = await watchPayment(connect(harness), id).received(1);
    const changes: Json[] = [{ status: 'processing' }, { payment_method: AT_PROVIDER }];
    for (const [place, change] of changes.entries()) {
      harness.service.update(id, change);
      await harness.lookedUp(id);
      await watching.received(place + 2);
      await harness.lookedUp(id, 3);
    }
    harness.service.update(id, { status: 'completed' });
    await harness.lookedUp(id);
    await watching.ended();
    expect(watching.values.map(({ status, state }) => [status, state])).toEqual([
      ['PENDING', 'WAITING_FOR_UTR'],
      ['PROCESSING', 'WAITING_FOR_UTR'],
      ['PROCESSING', 'WAITING_FOR_PROVIDER'],
      ['COMPLETED', 'WAITING_FOR_PROVIDER'],
    ]);
  });
});

describe('A subscription to a payment', () => {
  test('sends nothing when an unselected field changes', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    const narrow = watchPayment(client, id, STATUS);
    const wide = watchPayment(client, id, '... on PaymentResource { status amount { value } }');
    await Promise.all([narrow.received(1), wide.received(1)]);
    await harness.change(id, amount('1.00'));
    await wide.received(2);
    await harness.change(id, { status: 'completed' });
    await Promise.all([narrow.ended(), wide.ended()]);
    expect(narrow.statuses).toEqual(['PENDING', 'COMPLETED']);
    expect(wide.values).toHaveLength(3);
  });

  test('never sends the external id by which another caller looked the payment up', async () => {
    const order = 'order-of-the-watched';
    const id = harness.addPayment({ order });
    const fields = '... on PaymentResource { status externalId }';
    const watching = await watchPayment(webSocketClient(harness), id, fields).received(1);
    for (const status of ['mispaid', 'completed']) {
      harness.service.update(id, { status });
      await harness.client.request(
        `{ payment(channel: "${CHANNEL}", externalId: "${order}") { ${fields} } }`,
      );
      await watching.shows({ status: status.toUpperCase() });
    }
    expect(watching.values.map(({ externalId }) => externalId)).toEqual([null, null, null]);
  });

  test('is logged once when it has ended, without ids and document', async () => {
    const lone = await startHarness();
    const client = webSocketClient(lone);
    const [done, open] = [lone.addPayment({ status: 'completed' }), lone.addPayment()];
    const watching = await firstOf(client, { ...subscription(open), operationName: 'Watch' });
    await (await watchStatus(client, done)).ended();
    expect(lone.subscriptionLines()).toMatchObject([{ msg: 'GraphQL operation ended', results: 1 }]);
    await firstOf(client, { query: 'subscription { nosuch }' });
    watching.leave();
    await lone.subscriptionsEnded(3);
    const lines = lone.subscriptionLines();
    expect(lines).toMatchObject([
      { caller: 'service:test', results: 1, ms: expect.any(Number) as unknown },
      { caller: 'service:test', results: 0, errors: ['GRAPHQL_VALIDATION_FAILED'] },
      { caller: 'service:test', results: 1, name: 'Watch' },
    ]);
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(3);
    expect(lines[0]).not.toHaveProperty('errors');
    for (const secret of [done, open, CHANNEL, 'nosuch', AUTHORIZED.authorization.slice(7)])
      expect(lone.logLines.join('')).not.toContain(secret);
  });
});

describe('Polling', () => {
  async function left(disconnect: () => unknown): Promise<void> {
    const before = harness.subscriptionLines().length;
    disconnect();
    await harness.subscriptionsEnded(before + 1);
  }

  async function watchBySocket(id: string): Promise<() => void> {
    const client = await WireClient.ready(harness.url, AUTHORIZED);
    client.subscribe('a', subscription(id));
    await client.next();
    return () => client.socket.terminate();
  }

  /** Ways to subscribe; each returns a function that ends the subscription. */
  const DEPARTURES: [how: string, watch: (id: string) => Promise<() => unknown>][] = [
    ['unsubscribes (WebSocket)', async (id) => (await watchStatus(webSocketClient(harness), id)).leave],
    ['unsubscribes (SSE)', async (id) => (await watchStatus(eventStreamClient(harness), id)).leave],
    ['loses its WebSocket', watchBySocket],
  ];

  test.each(DEPARTURES)('ends when the last client %s', async (_how, watch) => {
    const id = harness.addPayment();
    const [first, last] = [await watch(id), await watch(id)];
    await left(first);
    await harness.lookedUp(id);
    await left(last);
    await harness.expectNotPolled(id);
  });

  test('ends when the client disconnects before the first response', async () => {
    const id = harness.addPayment();
    const held = harness.service.hold();
    const watching = new Watching(webSocketClient(harness), subscription(id));
    await held.arrived;
    await left(watching.leave);
    held.release();
    await harness.expectNotPolled(id);
    expect([harness.lookups(id), watching.values]).toEqual([1, []]);
  });
});

describe('Subscribers to one payment', () => {
  test('cause one lookup at a time, even if 60 use WebSockets and 60 use event streams', async () => {
    const id = harness.addPayment();
    const clients = TRANSPORTS.map(([, connect]) => connect(harness));
    const subscribers = clients.flatMap((client) =>
      Array.from({ length: 60 }, () => watchPayment(client, id)),
    );
    await Promise.all(subscribers.map((watching) => watching.received(1)));
    expect(harness.lookups(id)).toBe(1);
    for (const [place, status] of ['mispaid', 'processing', 'completed'].entries()) {
      harness.service.update(id, { status });
      harness.clock.advance(20_000);
      await Promise.all(subscribers.map((watching) => watching.received(place + 2)));
      expect(harness.lookups(id)).toBe(place + 2);
    }
    const end = { statuses: ['PENDING', 'MISPAID', 'PROCESSING', 'COMPLETED'], completed: true, codes: [] };
    await Promise.all(subscribers.map((watching) => watching.ended()));
    for (const watching of subscribers) expect(watching.outcome).toEqual(end);
  });

  const processed = (client: SubscriptionClient): Promise<Watching> =>
    watchStatus(client, harness.addPayment());

  test.each<[string, (id: string, client: SubscriptionClient) => Promise<unknown>]>([
    ['a query', (id) => harness.lookUp(id)],
    ['a subscription', (id, client) => watchStatus(client, id)],
  ])('and queries share one lookup in flight that was started by %s', async (_who, start) => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    const held = harness.service.hold();
    const first = start(id, client);
    await held.arrived;
    const others = [watchPayment(client, id), watchPayment(client, id)];
    const query = harness.lookUp(id);
    await processed(client);
    await harness.roundTrip();
    held.release();
    await Promise.all([first, query, ...others.map((watching) => watching.received(1))]);
    expect(harness.lookups(id)).toBe(1);
  });

  test('receive the response of a lookup in flight even if the subscriber that started it has unsubscribed', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    const held = harness.service.hold();
    const first = watchPayment(client, id);
    await held.arrived;
    first.leave();
    const second = watchPayment(client, id);
    await processed(client);
    held.release();
    await second.received(1);
    expect([harness.lookups(id), first.values]).toEqual([1, []]);
  });

  test('that join within two seconds receive the last response, without a lookup', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    await watchStatus(client, id);
    harness.clock.advance(1000);
    harness.service.update(id, { status: 'mispaid' });
    expect((await watchStatus(client, id)).statuses).toEqual(['PENDING']);
    expect(harness.lookups(id)).toBe(1);
  });

  test('that join later cause one new lookup, and all subscribers receive its response', async () => {
    const lone = await startHarness({ env: NO_POLLING });
    const id = lone.addPayment();
    const client = webSocketClient(lone);
    const first = await watchStatus(client, id);
    lone.clock.advance(2500);
    lone.service.update(id, { status: 'mispaid' });
    const joined = await Promise.all(Array.from({ length: 20 }, () => watchStatus(client, id)));
    expect(joined.map(({ statuses }) => statuses)).toEqual(joined.map(() => ['MISPAID']));
    await first.shows({ status: 'MISPAID' });
    expect(lone.lookups(id)).toBe(2);
  });

  test('that join while the service fails receive the last known state', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    await watchStatus(client, id);
    harness.service.respond(() => ({ status: 401, json: {} }));
    await harness.lookedUp(id, 3);
    const second = await watchStatus(client, id);
    expect(second.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    harness.service.respond(() => undefined);
  });
});

describe('A change of a payment', () => {
  const MISPAID = { status: 'mispaid' };
  let still: SubscriptionHarness;

  beforeAll(async () => {
    still = await startHarness({ env: NO_POLLING });
  });

  afterEach(() => still.service.respond(() => undefined));

  async function created(idempotencyKey: string): Promise<{ id: string; call: MutationCall }> {
    const id = still.addPayment(amount('10.00'));
    still.service.respond(({ method }) =>
      method === 'POST' ? { status: 201, json: still.service.fieldsOf(id) } : undefined,
    );
    const call = { mutation: 'createPayment', input: createInput('payment', idempotencyKey) } as const;
    const { result } = await sendCall(still.client, call);
    expect(result).toMatchObject({ replayed: false, payment: { transactionId: id } });
    return { id, call };
  }

  const QUERIES: [what: string, query: (id: string, key: string) => string][] = [
    ['payments', (id) => `payments(channel: "${CHANNEL}", transactionIds: ["${id}"]) { ${STATUS} }`],
    ['payment', (id) => `payment(channel: "${CHANNEL}", externalId: "order-${id}") { ${STATUS} }`],
    ['attempt', (_id, key) => `attempt(idempotencyKey: "${key}") { payment { ${STATUS} } }`],
  ];

  test.each(QUERIES)('is sent to subscribers at once when the query %s finds it', async (what, query) => {
    const { id } = await created(what);
    const subscribers = await watchByBoth(still, id);
    still.service.update(id, { ...MISPAID, order: `order-${id}` });
    const before = still.service.requests.length;
    await still.client.request(`{ ${query(id, what)} }`);
    await Promise.all(subscribers.map((watching) => watching.shows({ status: 'MISPAID' })));
    expect(still.service.requests.length).toBe(before + 1);
  });

  test('is sent to subscribers at once when a repeated create finds it', async () => {
    const { id, call } = await created('key-again');
    const subscribers = await watchByBoth(still, id);
    still.service.update(id, MISPAID);
    const { result } = await sendCall(still.client, call);
    expect(result).toMatchObject({ replayed: true, payment: { status: 'MISPAID' } });
    await Promise.all(subscribers.map((watching) => watching.shows({ status: 'MISPAID' })));
  });

  test('is sent to subscribers at once when the lookup after a confirm with a lost response finds it', async () => {
    const id = still.addPayment();
    const subscribers = await watchByBoth(still, id);
    still.service.respond(({ method }) => {
      if (method !== 'POST') return undefined;
      still.service.update(id, { status: 'completed', payment_method: AT_PROVIDER });
      return (connection) => void connection.socket.destroy();
    });
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
    const { result } = await sendCall(still.client, { mutation: 'confirmPayment', input });
    expect(result).toMatchObject({ replayed: true, payment: { status: 'COMPLETED' } });
    await Promise.all(subscribers.map((watching) => watching.ended()));
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'COMPLETED']);
  });
});
