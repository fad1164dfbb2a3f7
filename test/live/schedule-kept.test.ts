import { make } from '../gateway/fixtures/calls';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService, WAITING, type Wire } from './support/counted-service';
import { SteppedClock } from './support/stepped-clock';
import { liveClient, watchPayment, watchPayout } from './support/watching';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NO_HEARTBEAT = { WATCH_HEARTBEAT_SECONDS: '3600' };

interface Rig {
  clock: SteppedClock;
  service: CountedService;
  gateway: TestClient;
}

async function rig(env: Record<string, string> = {}): Promise<Rig> {
  const clock = new SteppedClock();
  const service = await CountedService.start(clock);
  const gateway = await testGateway(service.url, { clock, env: { ...NO_HEARTBEAT, ...env } });
  return { clock, service, gateway };
}

/** The time between each look and the one before. */
const gaps = (times: readonly number[]): number[] =>
  times.slice(1).map((at, place) => at - (times[place] ?? 0));

function expectEvery(times: readonly number[], everyMs: number): void {
  for (const gap of gaps(times)) {
    expect(gap).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
    expect(gap).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
  }
}

/** A payment that was made so long ago. */
const made = ({ clock }: Rig, agoMs: number, said: Wire = {}): Wire => ({
  create_date: new Date(clock.now() - agoMs).toISOString(),
  ...said,
});

const PHASES: [what: string, said: Wire, steps: [agoMs: number, everyMs: number][]][] = [
  [
    'that waits for its payer',
    { payment_method: WAITING },
    [
      [0, 2000],
      [3 * MINUTE, 5000],
      [11 * MINUTE, 15_000],
      [2 * HOUR, MINUTE],
    ],
  ],
  ['of the hosted page', { status: 'pending', payment_method: { type: 'card' } }, [[0, 2000]]],
  ['in a state that is not known', { status: 'dreaming' }, [[0, 2000]]],
  [
    'that waits for the provider',
    { payment_method: AT_PROVIDER },
    [
      [0, 1000],
      [MINUTE, 2000],
      [3 * MINUTE, 5000],
      [11 * MINUTE, 15_000],
      [2 * HOUR, MINUTE],
    ],
  ],
  ['that has left the hosted page', { payment_method: { type: 'card' } }, [[0, 1000]]],
  [
    'that was paid with another amount',
    { status: 'mispaid' },
    [
      [0, 15_000],
      [20 * MINUTE, MINUTE],
    ],
  ],
];

const rows = PHASES.flatMap(([what, said, steps]) =>
  steps.map(([agoMs, everyMs]): [string, number, number, Wire] => [what, agoMs / 1000, everyMs / 1000, said]),
);

describe('A watched payment', () => {
  test.each(rows)('%s and was made %i s ago is looked at every %i s', async (_what, ago, every, said) => {
    const here = await rig();
    const id = here.service.payment(made(here, ago * 1000, said));
    await watchPayment(liveClient(here.gateway), id).told(1);
    await here.clock.run(8 * every * 1000);
    const times = here.service.times(id);
    expectEvery(times, every * 1000);
    // The first look at once, then one in each 0.85 to 1.15 of the time.
    expect(times.length).toBeGreaterThanOrEqual(1 + Math.floor(8 / 1.15));
    expect(times.length).toBeLessThanOrEqual(1 + Math.ceil(8 / 0.85));
  });

  test('is looked at less and less often while nothing happens: each minute has its number of looks', async () => {
    const { clock, service, gateway } = await rig();
    const id = service.payment({ payment_method: AT_PROVIDER });
    const began = clock.now();
    await watchPayment(liveClient(gateway), id).told(1);
    await clock.run(12 * MINUTE);
    const between = (fromMs: number, untilMs: number): number[] =>
      service.times(id).filter((at) => at >= began + fromMs && at < began + untilMs);
    for (const [fromMs, untilMs, everyMs] of [
      [0, 30_000, 1000],
      [30_000, 2 * MINUTE, 2000],
      [2 * MINUTE, 10 * MINUTE, 5000],
      [10 * MINUTE, 12 * MINUTE, 15_000],
    ] as const) {
      const looks = between(fromMs, untilMs);
      expectEvery(looks, everyMs);
      expect(looks.length).toBeGreaterThanOrEqual(Math.floor((untilMs - fromMs) / everyMs / 1.15));
      expect(looks.length).toBeLessThanOrEqual(1 + Math.ceil((untilMs - fromMs) / everyMs / 0.85));
    }
  });

  test('that has changed is looked at as often as a new one again', async () => {
    const here = await rig();
    const { clock, service } = here;
    const id = service.payment(made(here, 2 * HOUR));
    const watching = watchPayment(liveClient(here.gateway), id);
    await watching.told(1);
    service.change(id, { payment_method: AT_PROVIDER });
    while (service.count(id) < 2) await clock.run(1000);
    await watching.sees({ state: 'WAITING_FOR_PROVIDER' });
    const changed = clock.now();
    await clock.run(25_000);
    const looks = service.times(id).filter((at) => at > changed);
    expectEvery(looks, 1000);
    expect(looks.length).toBeGreaterThanOrEqual(20);
  });

  test('that was confirmed is looked at more often, however old it is', async () => {
    const here = await rig();
    const { clock, service, gateway } = here;
    const id = service.payment(made(here, 2 * HOUR));
    const watching = watchPayment(liveClient(gateway), id);
    await watching.told(1);
    await clock.run(30_000);
    expect(service.count(id)).toBe(1);
    service.money = () => ({
      status: 200,
      json: { transaction_id: id, status: 'processing', payment_method: AT_PROVIDER },
    });
    service.change(id, { payment_method: AT_PROVIDER });
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1234' } } };
    expect((await make(gateway, { mutation: 'confirmPayment', input })).result?.__typename).toBe(
      'PaymentSuccess',
    );
    const confirmed = clock.now();
    await watching.sees({ state: 'WAITING_FOR_PROVIDER' });
    await clock.run(10_000);
    const looks = service.times(id).filter((at) => at > confirmed);
    expectEvery([confirmed, ...looks], 1000);
    expect(looks.length).toBeGreaterThanOrEqual(8);
  });

  test('is looked at as the settings say', async () => {
    const { clock, service, gateway } = await rig({ WATCH_PACE_PAYER: '10s/1m 30s' });
    const id = service.payment();
    await watchPayment(liveClient(gateway), id).told(1);
    const began = clock.now();
    await clock.run(4 * MINUTE);
    expectEvery(
      service.times(id).filter((at) => at < began + MINUTE),
      10_000,
    );
    expectEvery(
      service.times(id).filter((at) => at >= began + MINUTE),
      30_000,
    );
  });
});

test('A watched payout is looked at every second at first, then less often', async () => {
  const { clock, service, gateway } = await rig();
  const id = service.payout();
  const began = clock.now();
  await watchPayout(liveClient(gateway), id).told(1);
  await clock.run(4 * MINUTE);
  const times = service.times(id);
  expectEvery(
    times.filter((at) => at < began + 30_000),
    1000,
  );
  expectEvery(
    times.filter((at) => at >= began + 30_000 && at < began + 2 * MINUTE),
    2000,
  );
  expectEvery(
    times.filter((at) => at >= began + 2 * MINUTE),
    5000,
  );
});

test('Payments that are watched from the same moment on are not looked at together', async () => {
  const { clock, service, gateway } = await rig();
  const ids = Array.from({ length: 20 }, () => service.payment());
  const client = liveClient(gateway);
  await Promise.all(ids.map((id) => watchPayment(client, id).told(1)));
  await clock.run(5000);
  const second = ids.map((id) => service.times(id)[1]);
  expect(new Set(second).size).toBeGreaterThan(10);
});
