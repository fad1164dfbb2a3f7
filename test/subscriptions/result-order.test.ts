import { CHANNEL } from '../support/gateway';
import { AT_PROVIDER, startHarness, type SubscriptionHarness } from './support/harness';
import {
  TRANSPORTS,
  watchByBoth,
  watchPayment,
  webSocketClient,
  type Watching,
} from './support/subscriptions';

let harness: SubscriptionHarness;

beforeAll(async () => {
  harness = await startHarness();
});

afterEach(() => harness.service.respond(() => undefined));

const statesOf = ({ values }: Watching): unknown[] => values.map(({ state }) => state);

/** Holds back the response to the next poll. Returns a function that releases it. */
async function holdLookup(id: string): Promise<() => void> {
  const held = harness.service.hold();
  await harness.lookedUp(id);
  await held.arrived;
  return () => held.release();
}

async function complete(id: string, ...subscribers: readonly Watching[]): Promise<void> {
  harness.service.update(id, { status: 'completed' });
  await harness.lookedUp(id);
  await Promise.all(subscribers.map((watching) => watching.ended()));
}

describe('A lookup response that is older than the known state', () => {
  test('is not sent to subscribers if a confirm has changed the state meanwhile, and causes another lookup at once', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    const release = await holdLookup(id);
    await harness.confirm(id);
    await Promise.all(subscribers.map((watching) => watching.shows({ state: 'WAITING_FOR_PROVIDER' })));
    const before = harness.lookups(id);
    release();
    await harness.roundTrip();
    harness.clock.advance(100);
    await harness.roundTrip();
    expect(harness.lookups(id)).toBe(before + 1);
    await complete(id, ...subscribers);
    for (const watching of subscribers) {
      expect(statesOf(watching)).toEqual(['WAITING_FOR_UTR', 'WAITING_FOR_PROVIDER', 'WAITING_FOR_PROVIDER']);
      expect(watching.statuses.at(-1)).toBe('COMPLETED');
    }
  });

  test('does not change a completed payment', async () => {
    const id = harness.addPayment();
    const [watching] = await watchByBoth(harness, id);
    const release = await holdLookup(id);
    await harness.confirm(id, { status: 'completed', payment_method: AT_PROVIDER });
    await watching?.ended();
    const before = harness.lookups(id);
    release();
    await harness.roundTrip();
    harness.clock.advance(600_000);
    await harness.roundTrip();
    expect(watching?.outcome).toEqual({ statuses: ['PENDING', 'COMPLETED'], completed: true, codes: [] });
    expect(harness.lookups(id)).toBe(before);
  });

  test('is not sent as the first result of a new subscription', async () => {
    const order = 'order-early';
    const id = harness.addPayment({ order });
    const early = harness.service.hold();
    // This query by external id shares no lookup with polling.
    const response = harness.client.request(
      `{ payment(channel: "${CHANNEL}", externalId: "${order}") { __typename } }`,
    );
    await early.arrived;
    await harness.confirm(id);
    const own = harness.service.hold();
    const watching = watchPayment(webSocketClient(harness), id);
    await own.arrived;
    early.release();
    await response;
    own.release();
    await watching.received(1);
    await complete(id, watching);
    expect(statesOf(watching)).toEqual(['WAITING_FOR_PROVIDER', 'WAITING_FOR_PROVIDER']);
  });
});

describe('The fields of a payment that a confirm response lacks', () => {
  const WHOLE = `... on PaymentResource { status createDate amount { value } nextAction { __typename } }
    ... on UpiPayment { state upiId }`;
  const SHORT = { payment_method: { type: 'upi', state: 'waiting_for_provider' } };
  const PROCESSING = { status: 'processing', payment_method: AT_PROVIDER };

  test('are filled in by one lookup for all subscribers', async () => {
    const id = harness.addPayment();
    const subscribers = TRANSPORTS.map(([, connect]) => connect(harness)).flatMap((client) =>
      Array.from({ length: 10 }, () => watchPayment(client, id, WHOLE)),
    );
    await Promise.all(subscribers.map((watching) => watching.received(1)));
    await harness.confirm(
      id,
      { status: 'completed', payment_method: AT_PROVIDER },
      { amount: { currency: 'INR', value: '100.00' } },
    );
    await Promise.all(subscribers.map((watching) => watching.received(2)));
    for (const watching of subscribers) {
      await watching.ended();
      expect(watching.values).toHaveLength(2);
      expect(watching.last).toMatchObject({
        status: 'COMPLETED',
        amount: { value: '100.00' },
        createDate: harness.service.fieldsOf(id)['create_date'],
        upiId: 'shop@bank',
      });
    }
    expect(harness.lookups(id)).toBe(2);
  });

  test('cause no lookup when no subscriber selects them', async () => {
    const id = harness.addPayment();
    const fields = '... on PaymentResource { status } ... on UpiPayment { state }';
    const subscribers = await watchByBoth(harness, id, fields);
    await harness.confirm(id, PROCESSING, SHORT);
    await Promise.all(subscribers.map((watching) => watching.shows({ state: 'WAITING_FOR_PROVIDER' })));
    expect(harness.lookups(id)).toBe(1);
  });

  test('are filled in by a later lookup if the first lookup fails', async () => {
    const id = harness.addPayment();
    const watching = await watchPayment(webSocketClient(harness), id, WHOLE).received(1);
    harness.service.plan((endpoint) =>
      endpoint === 'look-up-payment'
        ? { acts: true, reply: (connection) => connection.send({ status: 401, json: {} }) }
        : undefined,
    );
    await harness.confirm(id, PROCESSING, SHORT);
    await watching.shows({ state: 'WAITING_FOR_PROVIDER', amount: null });
    harness.service.plan(() => undefined);
    await harness.lookedUp(id, 2);
    await watching.shows({ state: 'WAITING_FOR_PROVIDER', amount: { value: '100.00' }, upiId: 'shop@bank' });
  });
});
