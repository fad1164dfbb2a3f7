import { until } from '../support/latch';
import type { Json, Reply } from '../support/payment-service/fake-payment-service';
import {
  AT_PROVIDER,
  WAITING,
  startHarness,
  startHarnessOn,
  subscription,
  type SubscriptionHarness,
} from './support/harness';
import { SteppedClock } from './support/stepping-clock';
import { Watching, watchByBoth, watchPayment, watchStatus, webSocketClient } from './support/subscriptions';

/** Expects lookups at this interval, with 15 % jitter. */
function expectEvery(times: readonly number[], everyMs: number): void {
  for (const [place, at] of times.slice(1).entries()) {
    const wait = at - (times[place] ?? 0);
    expect(wait).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
    expect(wait).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
  }
}

const MINUTE = 60_000;
type Harness = SubscriptionHarness<SteppedClock>;

const startStepped = (env: Record<string, string> = {}): Promise<Harness> =>
  startHarnessOn(new SteppedClock(), { env });

const timesOf = ({ service }: Harness, id: string): number[] => service.lookupsOf(id).map(({ at }) => at);

const addOldPayment = (harness: Harness, agoMs: number, fields: Json = {}): string =>
  harness.addPayment({ create_date: new Date(harness.clock.now() - agoMs).toISOString(), ...fields });

describe('A subscribed transaction', () => {
  const CARD = { payment_method: { type: 'card' } };
  const PHASES: [what: string, fields: Json, ago: number, every: number][] = [
    ['that waits for the payer', { payment_method: WAITING }, 0, 2],
    ['that waits for the payer', { payment_method: WAITING }, 11 * 60, 15],
    ['that waits for the payer on the hosted page', CARD, 0, 2],
    ['in an unknown state', { status: 'dreaming' }, 0, 2],
    ['that waits for the provider', { payment_method: AT_PROVIDER }, 0, 1],
    ['whose payer has left the hosted page', { status: 'processing', ...CARD }, 0, 1],
    ['that is MISPAID', { status: 'mispaid' }, 0, 15],
    ['that is MISPAID', { status: 'mispaid' }, 20 * 60, 60],
  ];

  let shared: Harness;

  beforeAll(async () => {
    shared = await startStepped();
    // This subscription keeps the periodic check of credentials running between the tests.
    await watchStatus(webSocketClient(shared), addOldPayment(shared, 24 * 60 * MINUTE));
  });

  test.each(PHASES)(
    '%s (%j), created %i s ago, is looked up every %i s',
    async (_what, fields, ago, every) => {
      const id = addOldPayment(shared, ago * 1000, fields);
      const watching = await watchStatus(webSocketClient(shared), id);
      await shared.clock.run(5 * every * 1000);
      watching.leave();
      const times = timesOf(shared, id);
      expectEvery(times, every * 1000);
      expect(times.length).toBeGreaterThanOrEqual(1 + Math.floor(5 / 1.15));
      expect(times.length).toBeLessThanOrEqual(1 + Math.ceil(5 / 0.85));
    },
  );

  test('is looked up less often while it does not change', async () => {
    const harness = await startStepped();
    const id = harness.addPayout();
    const began = harness.clock.now();
    await new Watching(webSocketClient(harness), subscription(id, 'payout'), 'payoutUpdated').received(1);
    await harness.clock.run(12 * MINUTE);
    for (const [fromMs, untilMs, everyMs] of [
      [0, 30_000, 1000],
      [30_000, 2 * MINUTE, 2000],
      [2 * MINUTE, 10 * MINUTE, 5000],
      [10 * MINUTE, 12 * MINUTE, 15_000],
    ] as const) {
      const times = timesOf(harness, id).filter((at) => at >= began + fromMs && at < began + untilMs);
      expectEvery(times, everyMs);
      expect(times.length).toBeGreaterThanOrEqual(Math.floor((untilMs - fromMs) / everyMs / 1.15));
    }
  });

  test('is looked up as often after a confirm as after its create', async () => {
    const harness = await startStepped();
    const id = addOldPayment(harness, 120 * MINUTE);
    const watching = await watchPayment(webSocketClient(harness), id).received(1);
    await harness.clock.run(30_000);
    expect(harness.lookups(id)).toBe(1);
    expect(await harness.confirm(id)).toMatchObject({ __typename: 'PaymentSuccess' });
    const confirmed = harness.clock.now();
    await watching.shows({ state: 'WAITING_FOR_PROVIDER' });
    await harness.clock.run(10_000);
    const times = timesOf(harness, id).filter((at) => at > confirmed);
    expectEvery([confirmed, ...times], 1000);
    expect(times.length).toBeGreaterThanOrEqual(8);
  });

  test('is looked up at the intervals of POLL_INTERVALS_PAYER', async () => {
    const harness = await startStepped({ POLL_INTERVALS_PAYER: '10s/1m 30s' });
    const id = harness.addPayment();
    await watchStatus(webSocketClient(harness), id);
    const began = harness.clock.now();
    await harness.clock.run(4 * MINUTE);
    const times = timesOf(harness, id);
    const early = times.filter((at) => at < began + MINUTE);
    expectEvery(early, 10_000);
    expectEvery(times.slice(early.length), 30_000);
  });

  test('is not looked up at the same time as other transactions whose subscriptions began together', async () => {
    const harness = await startStepped();
    const client = webSocketClient(harness);
    const ids = Array.from({ length: 20 }, () => harness.addPayment());
    await Promise.all(ids.map((id) => watchStatus(client, id)));
    await harness.clock.run(5000);
    expect(new Set(ids.map((id) => timesOf(harness, id)[1])).size).toBeGreaterThan(10);
  });
});

const UNAVAILABLE: Reply = { status: 503, json: {} };
const REFUSED: Reply = { status: 401, json: {} };
const FAULTS: [what: string, code: string, fault: Reply][] = [
  ['is not available', 'SERVICE_UNAVAILABLE', UNAVAILABLE],
  ['refuses the credentials', 'SERVICE_AUTH_FAILED', REFUSED],
  ['has lost the payment', 'NOT_FOUND', { status: 404, json: {} }],
];
const OUTAGE_MS = 60_000;
const OUTAGE_SETTING = { SUBSCRIPTION_OUTAGE_SECONDS: String(OUTAGE_MS / 1000) };

const startFailing = (): Promise<SubscriptionHarness> => startHarness({ env: OUTAGE_SETTING });

describe.each(FAULTS)('A subscription while the service %s', (_what, code, fault) => {
  let harness: SubscriptionHarness;

  beforeAll(async () => {
    harness = await startFailing();
  });

  const fail = (): void => harness.service.respond(() => fault);
  const recover = (): void => harness.service.respond(() => undefined);

  test('stays open without results, and gets the change afterwards', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    fail();
    await harness.lookedUp(id, 2);
    harness.service.update(id, { status: 'completed' });
    await harness.lookedUp(id);
    for (const { outcome } of subscribers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    recover();
    await harness.advanceUntil(() => subscribers.every(({ completed }) => completed));
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'COMPLETED']);
  });

  test('ends with an error after SUBSCRIPTION_OUTAGE_SECONDS, and polling ends too', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    fail();
    await harness.lookedUp(id);
    const began = harness.clock.now();
    await harness.advanceUntil(() => subscribers.every(({ errors }) => errors));
    expect(harness.clock.now() - began).toBeGreaterThanOrEqual(OUTAGE_MS - 1000);
    for (const { outcome } of subscribers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [code] });
    recover();
    await harness.expectNotPolled(id);
  });

  test('fails at once if it is new, and succeeds when it is repeated afterwards', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    fail();
    expect(await watchStatus(client, id)).toMatchObject({ data: [], codes: [code] });
    recover();
    await until(async () => (await watchStatus(client, id)).statuses.length);
  });
});

test('SUBSCRIPTION_OUTAGE_SECONDS counts from the last successful lookup', async () => {
  const harness = await startFailing();
  const id = harness.addPayment();
  const watching = await watchPayment(webSocketClient(harness), id).received(1);
  for (let turn = 1; turn <= 3; turn += 1) {
    harness.service.respond(() => REFUSED);
    const count = harness.lookups(id) + 5;
    await harness.advanceUntil(() => harness.lookups(id) >= count);
    harness.service.respond(() => undefined);
    harness.service.update(id, { amount: { currency: 'INR', value: `${turn}.00` } });
    await harness.lookedUp(id);
    await watching.received(turn + 1);
  }
  expect(watching.codes).toEqual([]);
});

describe('Polling of a service that fails', () => {
  test('uses exponential backoff, and continues forever if SUBSCRIPTION_OUTAGE_SECONDS is 0', async () => {
    const harness = await startStepped({ SUBSCRIPTION_OUTAGE_SECONDS: '0' });
    const { clock, service } = harness;
    const id = harness.addPayment({ payment_method: AT_PROVIDER });
    const watching = await watchStatus(webSocketClient(harness), id);
    service.respond(() => REFUSED);
    // Longer than the default of SUBSCRIPTION_OUTAGE_SECONDS.
    await clock.run(400_000);
    const failed = timesOf(harness, id).slice(1);
    expect(failed.length).toBeGreaterThanOrEqual(9);
    for (let place = 0; place + 1 < failed.length; place += 1)
      expectEvery(failed.slice(place, place + 2), Math.min(2 ** place, 60) * 1000);
    service.respond(() => undefined);
    service.update(id, { status: 'completed' });
    await clock.run(70_000);
    await watching.ended();
    expect(watching.outcome).toEqual({ statuses: ['PENDING', 'COMPLETED'], completed: true, codes: [] });
  });

  test('waits for the time in Retry-After, but subscriptions still end after SUBSCRIPTION_OUTAGE_SECONDS', async () => {
    const harness = await startStepped(OUTAGE_SETTING);
    const id = harness.addPayment();
    const watching = await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '36000' } }));
    await harness.clock.run(3000);
    const refused = harness.lookups(id);
    expect(refused).toBeGreaterThan(1);
    await harness.clock.run(50_000);
    expect(watching.errors).toBeUndefined();
    await harness.clock.run(15_000);
    await watching.ended();
    expect(watching.codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect(harness.lookups(id)).toBe(refused);
  });
});
