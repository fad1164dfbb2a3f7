import * as fc from 'fast-check';
import { readConfig } from '../../src/config';
import { nextPollDelay } from '../../src/core/polling/poll-schedule';
import { parsePollIntervals } from '../../src/shared/poll-intervals';
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

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof UNITS;

const duration = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom<Unit>('ms', 's', 'm'))
  .map(([number, unit]) => ({ text: `${number}${unit}`, ms: number * UNITS[unit] }));
const often = duration.filter(({ ms }) => ms >= 100);

/** Valid poll intervals: the text of the setting, and its parsed value. */
const validSettings = fc
  .tuple(fc.array(fc.tuple(often, duration), { maxLength: 6 }), often)
  .map(([steps, last]) => {
    const inOrder = steps
      .sort(([, a], [, b]) => a.ms - b.ms)
      .filter(([, until], place, all) => until.ms > (all[place - 1]?.[1].ms ?? 0));
    return {
      text: [...inOrder.map(([every, until]) => `${every.text}/${until.text}`), last.text].join(' '),
      intervals: [
        ...inOrder.map(([every, until]) => ({ everyMs: every.ms, untilMs: until.ms })),
        { everyMs: last.ms, untilMs: Infinity },
      ],
    };
  });

describe('A setting of poll intervals', () => {
  test('is parsed into its steps', () => {
    fc.assert(
      fc.property(validSettings, ({ text, intervals }) =>
        expect(parsePollIntervals(text)).toEqual(intervals),
      ),
    );
  });

  test('is refused unless its steps are at least 100 ms, in ascending order, and the last has no end', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9msh/ ]{0,24}$/),
      fc
        .tuple(validSettings, fc.nat(40), fc.constantFrom('', ' ', '/', '0', 's', 'h', '9'))
        .map(([{ text }, place, more]) => text.slice(0, place) + more + text.slice(place + 1)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const intervals = parsePollIntervals(text);
        if (!intervals) return;
        expect(intervals.length).toBeGreaterThan(0);
        intervals.forEach(({ everyMs, untilMs }, place) => {
          expect(everyMs).toBeGreaterThanOrEqual(100);
          expect(untilMs).toBeGreaterThan(intervals[place - 1]?.untilMs ?? 0);
          expect(untilMs === Infinity).toBe(place === intervals.length - 1);
        });
      }),
      { numRuns: 500 },
    );
  });
});

/** Expects lookups at this interval, with 15 % jitter. */
function expectEvery(times: readonly number[], everyMs: number): void {
  for (const [place, at] of times.slice(1).entries()) {
    const wait = at - (times[place] ?? 0);
    expect(wait).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
    expect(wait).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
  }
}

describe('The wait until the next lookup', () => {
  test('has jitter', () => {
    const looks = Array.from({ length: 200 }, () =>
      nextPollDelay(readConfig({}).watching.schedule.payer, 0, 0, Math.random()),
    );
    expect(new Set(looks).size).toBeGreaterThan(100);
    expect(Math.min(...looks)).toBeLessThan(1850);
    expect(Math.max(...looks)).toBeGreaterThan(2150);
  });

  test('differs from the interval of its step, or from the exponential backoff after failures, by at most 15 %', () => {
    fc.assert(
      fc.property(
        validSettings.map(({ intervals }) => intervals),
        fc.nat(100_000_000),
        fc.nat(10_000),
        (intervals, sinceMs, failures) => {
          const stepMs = intervals.find(({ untilMs }) => sinceMs < untilMs)?.everyMs ?? NaN;
          const backoffMs = failures && Math.min(60_000, 1000 * 2 ** (failures - 1));
          const leastMs = Math.max(stepMs, backoffMs);
          expectEvery([0, nextPollDelay(intervals, sinceMs, failures, Math.random())], leastMs);
        },
      ),
      { numRuns: 500 },
    );
  });
});

test('The settings have the defaults of docs/configuration.md', () => {
  const { watching } = readConfig({});
  expect(watching.schedule).toEqual({
    payer: parsePollIntervals('2s/2m 5s/10m 15s/1h 60s'),
    provider: parsePollIntervals('1s/30s 2s/2m 5s/10m 15s/1h 60s'),
    mispaid: parsePollIntervals('15s/10m 60s'),
  });
  expect(watching.outageMs).toBe(300_000);
});

const MINUTE = 60_000;
type Harness = SubscriptionHarness<SteppedClock>;

const startStepped = (env: Record<string, string> = {}): Promise<Harness> =>
  startHarnessOn(new SteppedClock(), { env });

const timesOf = ({ service }: Harness, id: string): number[] => service.lookupsOf(id).map(({ at }) => at);

const addOldPayment = (harness: Harness, agoMs: number, fields: Json = {}): string =>
  harness.addPayment({ create_date: new Date(harness.clock.now() - agoMs).toISOString(), ...fields });

describe('A transaction with a subscription', () => {
  const CARD = { payment_method: { type: 'card' } };
  const PHASES: [what: string, fields: Json, ago: number, every: number][] = [
    ['that waits for its payer', { payment_method: WAITING }, 0, 2],
    ['that waits for its payer', { payment_method: WAITING }, 11 * 60, 15],
    ['of the hosted page', CARD, 0, 2],
    ['in an unknown state', { status: 'dreaming' }, 0, 2],
    ['that waits for the provider', { payment_method: AT_PROVIDER }, 0, 1],
    ['that waits for the provider', { payment_method: AT_PROVIDER }, 2 * 3600, 60],
    ['that has left the hosted page', { status: 'processing', ...CARD }, 0, 1],
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

  test.each(['payment', 'payout'] as const)(
    'that is a %s is looked up less often while it does not change',
    async (kind) => {
      const harness = await startStepped();
      const id = harness.add(kind, kind === 'payment' ? { payment_method: AT_PROVIDER } : {});
      const began = harness.clock.now();
      await new Watching(webSocketClient(harness), subscription(id, kind), `${kind}Updated`).received(1);
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
        expect(times.length).toBeLessThanOrEqual(1 + Math.ceil((untilMs - fromMs) / everyMs / 0.85));
      }
    },
  );

  test('is looked up after a confirm as often as a new transaction', async () => {
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

  test('is looked up at the intervals of the settings', async () => {
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

  test('is not looked up at the same times as others whose subscriptions began at the same moment', async () => {
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
  ['does not respond', 'SERVICE_TIMEOUT', () => undefined],
  ['refuses the credentials', 'SERVICE_AUTH_FAILED', REFUSED],
  ['responds with HTML', 'SERVICE_RESPONSE_INVALID', { status: 200, body: '<html>' }],
  ['has lost the payment', 'NOT_FOUND', { status: 404, json: {} }],
];
const OUTAGE_MS = 60_000;

/** Starts a harness. Lookups are retried in real time, within SERVICE_TIMEOUT_MS. */
const rigWith = (env: Record<string, string> = {}): Promise<SubscriptionHarness> =>
  startHarness({
    env: { SERVICE_TIMEOUT_MS: '1000', SUBSCRIPTION_OUTAGE_SECONDS: String(OUTAGE_MS / 1000), ...env },
  });

describe.each(FAULTS)('While the service %s', (_what, code, fault) => {
  let harness: SubscriptionHarness;

  beforeAll(async () => {
    harness = await rigWith(code === 'SERVICE_TIMEOUT' ? { SERVICE_TIMEOUT_MS: '250' } : {});
  });

  afterEach(() => harness.service.respond(() => undefined));

  const fail = (): void => harness.service.respond(() => fault);
  const recover = (): void => harness.service.respond(() => undefined);

  test('clients stay subscribed, receive nothing, and receive the change afterwards', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    fail();
    await harness.lookedUp(id, 2);
    harness.service.update(id, { status: 'mispaid' });
    await harness.lookedUp(id);
    for (const { outcome } of subscribers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    recover();
    await harness.advanceUntil(() => subscribers.every(({ statuses }) => statuses.length === 2));
    harness.service.update(id, { status: 'completed' });
    await harness.advanceUntil(() => subscribers.every(({ completed }) => completed));
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'MISPAID', 'COMPLETED']);
  });

  test('for longer than SUBSCRIPTION_OUTAGE_SECONDS, clients receive the error code, and polling ends', async () => {
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

  test('clients that subscribe receive the error code at once, and may subscribe again', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    fail();
    for (const { outcome } of await Promise.all([watchStatus(client, id), watchStatus(client, id)]))
      expect(outcome).toEqual({ statuses: [], completed: false, codes: [code] });
    recover();
    await until(async () => (await watchStatus(client, id)).statuses.length);
  });
});

describe('An outage', () => {
  test('ends no subscription when SUBSCRIPTION_OUTAGE_SECONDS is 0', async () => {
    const harness = await rigWith({ SUBSCRIPTION_OUTAGE_SECONDS: '0' });
    const id = harness.addPayment();
    const watching = await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => REFUSED);
    for (let hour = 0; hour < 4; hour += 1) {
      harness.clock.advance(3_600_000);
      await harness.lookedUp(id);
    }
    expect(watching.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    harness.service.respond(() => undefined);
    harness.service.update(id, { status: 'completed' });
    await harness.advanceUntil(() => watching.completed);
  });

  test('is measured from the last successful lookup', async () => {
    const harness = await rigWith();
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

  test('ends subscriptions soon after SUBSCRIPTION_OUTAGE_SECONDS, even if the service sends a much longer Retry-After', async () => {
    const harness = await rigWith();
    const id = harness.addPayment();
    const watching = await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '36000' } }));
    await harness.lookedUp(id);
    const began = harness.clock.now();
    await harness.advanceUntil(() => watching.errors !== undefined);
    expect(watching.codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect(harness.clock.now() - began).toBeLessThan(3 * OUTAGE_MS);
  });
});

describe('A failing service', () => {
  test('gets lookups with exponential backoff, and at the normal interval afterwards', async () => {
    const harness = await startStepped({ SUBSCRIPTION_OUTAGE_SECONDS: '0' });
    const { clock, service } = harness;
    const id = harness.addPayment({ payment_method: AT_PROVIDER });
    await watchStatus(webSocketClient(harness), id);
    service.respond(() => REFUSED);
    await clock.run(250_000);
    const failed = timesOf(harness, id).slice(1);
    expect(failed.length).toBeGreaterThanOrEqual(7);
    for (let place = 0; place + 1 < failed.length; place += 1)
      expectEvery(failed.slice(place, place + 2), Math.min(2 ** place, 60) * 1000);
    service.respond(() => undefined);
    await clock.run(70_000);
    const recovered = harness.lookups(id);
    await clock.run(20_000);
    expect(harness.lookups(id)).toBeGreaterThan(recovered);
  });

  test('gets no lookups before its Retry-After', async () => {
    const harness = await startStepped();
    const id = harness.addPayment();
    await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '120' } }));
    await harness.clock.run(3000);
    const refused = harness.lookups(id);
    expect(refused).toBeGreaterThan(1);
    await harness.clock.run(110_000);
    expect(harness.lookups(id)).toBe(refused);
  });

  test('gets no lookups by polling while the circuit breaker is open', async () => {
    const harness = await startHarness();
    const { service, clock } = harness;
    const ids = Array.from({ length: 60 }, () => harness.addPayment());
    const client = webSocketClient(harness);
    const subscribers = await Promise.all(ids.map((id) => watchStatus(client, id)));
    service.respond(() => ({ status: 500, json: {} }));
    const failing = service.requests.length;
    await until(async () => {
      const before = service.requests.length;
      await harness.lookUp(ids[0]!);
      return service.requests.length === before;
    });
    expect(service.requests.length - failing).toBeGreaterThanOrEqual(50);
    for (const id of ids) service.update(id, { status: 'completed' });
    const before = service.requests.length;
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Sixty polled payments would cause hundreds of lookups in a minute; the breaker admits a few probes.
    expect(service.requests.length - before).toBeLessThan(20);
    expect(subscribers.filter(({ errors }) => errors)).toEqual([]);
    service.respond(() => undefined);
    await harness.advanceUntil(() => subscribers.every(({ completed }) => completed), 500);
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'COMPLETED']);
  });
});
