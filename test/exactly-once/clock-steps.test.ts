import { systemClock } from '../../src/clock';
import { AdvancingClock } from '../../src/sandbox/clock';
import { SteppingClock } from '../support/stepping-clock';
import { reset } from './service/faults';
import { FaultyService } from './service/faulty-service';
import { CHANNEL, type Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const STEPS: [string, number][] = [
  ['16 minutes forward', 16 * MINUTE],
  ['3 days forward', 3 * DAY],
  ['3 days back', -3 * DAY],
];

/** UNKNOWN_SETTLE_SECONDS where it is not set. */
const SETTLE = 15 * MINUTE;

const sent = ({ service }: Rig, kind: Kind, key: string): number =>
  service.asked(`create-${kind}`).filter(({ json }) => json['description'] === key).length;

const metric = async ({ parts }: Rig, name: string): Promise<number> => {
  const page = await (await fetch(`${parts.gateway.url}/metrics`)).text();
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
};

const clockCheck = async ({ parts }: Rig): Promise<unknown> => {
  const { checks } = (await (await fetch(`${parts.gateway.url}/readyz`)).json()) as {
    checks: { clock: string };
  };
  return checks.clock;
};

describeStores('After a step of the wall clock', (rigs) => {
  /** A gateway whose wall clock can step; PostgreSQL and the service have clocks of their own. */
  const start = async ({ aheadMs = 0, ...rest }: { service?: Rig['service']; aheadMs?: number } = {}) => {
    const wall = new SteppingClock();
    wall.aheadMs = aheadMs;
    const clock = new AdvancingClock(wall);
    const steady = { now: () => systemClock.now() + clock.ahead };
    const service = rest.service ?? (await FaultyService.start(steady.now));
    if (!rest.service) rigs.closeAtEnd(() => service.close());
    const rig = await rigs.start({
      clock,
      journalClock: rigs.kind === 'PostgreSQL' ? steady : clock,
      service,
    });
    // So that the gateway knows what time it is at the service.
    await rig.create('payment', newKey());
    return { rig, wall };
  };

  test.each(STEPS)('%s, a create that is under way is not sent again', async (_name, stepMs) => {
    const { rig, wall } = await start();
    const key = newKey();
    const held = gate();
    rig.service.next('create-payment', { acts: true, first: held.opened });
    const first = rig.create('payment', key);
    await until(
      () => sent(rig, 'payment', key),
      (count) => count === 1,
    );
    wall.aheadMs = stepMs;
    rig.clock.advance(2000);
    for (let round = 0; round < 5; round += 1) {
      expect((await rig.create('payment', key)).result).toMatch(/^(RequestInProgress|OutcomeUnknown)Error$/);
      rig.clock.advance(1000);
    }
    held.open();
    const { transactionId } = rig.service.created(key)[0] ?? (await first);
    expect(await first).toMatchObject({ result: 'PaymentSuccess', transactionId });
    expect(sent(rig, 'payment', key)).toBe(1);
  });

  test.each(STEPS)(
    '%s, a payment that turns up late is found and not created anew',
    async (_name, stepMs) => {
      const { rig, wall } = await start();
      const key = newKey();
      rig.service.ledger.lag = { ms: 0, lookups: 1_000_000 };
      rig.service.next('create-payment', { acts: true, reply: reset });
      expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
      wall.aheadMs = stepMs;
      for (let round = 0; round < 12; round += 1) {
        rig.clock.advance(5000);
        expect((await rig.create('payment', key)).result).toMatch(
          /^(RequestInProgress|OutcomeUnknown)Error$/,
        );
      }
      const [created] = rig.service.created(key);
      created!.hiddenLookups = 0;
      const end = await until(
        () => {
          rig.clock.advance(1000);
          return rig.create('payment', key);
        },
        ({ result }) => result === 'PaymentSuccess',
      );
      expect(end).toMatchObject({ replayed: true, transactionId: created!.transactionId });
      expect(sent(rig, 'payment', key)).toBe(1);
    },
  );

  test.each(STEPS)('%s, of one of two instances, neither sends a create again', async (_name, stepMs) => {
    const { rig } = await start();
    const skewed = await start({ service: rig.service, aheadMs: stepMs });
    const key = newKey();
    rig.service.ledger.lag = { ms: 0, lookups: 1_000_000 };
    rig.service.next('create-payment', { acts: true, reply: reset });
    const first = rig.create('payment', key);
    await until(
      () => sent(rig, 'payment', key),
      (count) => count === 1,
    );
    for (let round = 0; round < 30; round += 1) {
      const end = await (round % 2 === 0 ? skewed.rig : rig).create('payment', key);
      expect(end.result).toMatch(/^(RequestInProgress|OutcomeUnknown)Error$/);
    }
    await first;
    expect(sent(rig, 'payment', key)).toBe(1);
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('nothing is released until the settling time has passed, and then it is', async () => {
    const { rig, wall } = await start();
    const key = newKey();
    rig.service.next('create-payment', { acts: false, reply: reset });
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await clockCheck(rig)).toBe('steady');
    wall.aheadMs = 2 * SETTLE;
    expect(await clockCheck(rig)).toBe('stepped');
    expect(await metric(rig, 'paygraph_clock_steps_total{clock="system"}')).toBe(1);
    const lookFor = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 2 * MINUTE) {
        rig.clock.advance(2 * MINUTE);
        await rig.create('payment', key);
      }
    };
    await lookFor(SETTLE - 4 * MINUTE);
    expect(sent(rig, 'payment', key)).toBe(1);
    await lookFor(SETTLE + 8 * MINUTE);
    expect(await clockCheck(rig)).toBe('steady');
    expect(sent(rig, 'payment', key)).toBe(2);
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('a payment older than the attempt is not taken for it', async () => {
    const { rig, wall } = await start();
    const key = newKey();
    rig.service.ledger.create(
      'payment',
      {
        channel: CHANNEL,
        external_id: `order ${key}`,
        amount: { currency: 'INR', value: '10.00' },
        payment_method: { type: 'upi', email: 'ann@example.com' },
      },
      rig.service.now() - DAY,
    );
    rig.service.next('create-payment', { acts: false, reply: reset });
    const first = rig.create('payment', key);
    await until(
      () => sent(rig, 'payment', key),
      (count) => count === 1,
    );
    wall.aheadMs = 3 * DAY;
    expect(await first).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
  });
});

describeStores('When the clock of the journal steps', (rigs) => {
  test('it is noticed, and no lost create is sent again', async () => {
    const journalClock = new SteppingClock();
    const logLines: string[] = [];
    const rig = await rigs.start({ journalClock, logLines });
    const key = newKey();
    rig.service.next('create-payment', { acts: false, reply: reset });
    expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    journalClock.aheadMs = 2 * SETTLE;
    await until(
      () => {
        rig.clock.advance(1000);
        return metric(rig, 'paygraph_clock_steps_total{clock="journal"}');
      },
      (steps) => steps === 1,
    );
    expect(await clockCheck(rig)).toBe('stepped');
    expect(logLines.filter((line) => line.includes('"event":"clock_stepped"'))).toHaveLength(1);
    for (let round = 0; round < 10; round += 1) await rig.create('payment', key);
    expect(sent(rig, 'payment', key)).toBe(1);
  });
});
