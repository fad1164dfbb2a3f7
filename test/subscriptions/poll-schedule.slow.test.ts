import * as fc from 'fast-check';
import { readConfig } from '../../src/config';
import { nextPollDelay } from '../../src/core/polling/poll-schedule';
import { parsePollIntervals } from '../../src/shared/poll-intervals';
import type { Json } from '../support/payment-service/fake-payment-service';
import {
  AT_PROVIDER,
  WAITING,
  startHarnessOn,
  subscription,
  type SubscriptionHarness,
} from './support/harness';
import { SteppedClock } from './support/stepping-clock';
import { Watching, watchPayment, watchStatus, webSocketClient } from './support/subscriptions';

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
      nextPollDelay(readConfig({}).watching.schedule.payer, 0, 0),
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
          expectEvery([0, nextPollDelay(intervals, sinceMs, failures)], leastMs);
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
