import { systemClock } from '../../src/shared/clock';
import type { Journal } from '../../src/datasources/journal/journal';
import { AdvancingClock } from '../../src/sandbox/clock';
import { scrape } from '../metrics/support/scrape';
import { CHANNEL } from '../support/caller';
import { latch, until } from '../support/latch';
import {
  FakePaymentService,
  type Fault,
  type FaultReply,
} from '../support/payment-service/fake-payment-service';
import { reset } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import {
  DAY,
  KINDS,
  MINUTE,
  UNKNOWN_RESULT,
  SECOND,
  SETTLE,
  loseResponse,
  loseHiddenResponse,
  paidBefore,
  repeatFor,
  replacing,
  sent,
  untilCreated,
  untilSent,
} from './support/creates';

/** Returns the system clock with a wall time that is `aheadMs` ahead. Timers and monotonic time do not change. */
const steppingClock = () => ({
  ...systemClock,
  aheadMs: 0,
  now(): number {
    return systemClock.now() + this.aheadMs;
  },
});

const refusing =
  (date: string): FaultReply =>
  (connection) =>
    connection.send({ status: 401, json: {}, headers: { date } });
const dateOf = (ms: number): string => new Date(ms).toUTCString();

describeSqlite('The gateway', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start();
  });

  const timestamps = (): number[] =>
    harness.service
      .requestsTo('create-payment')
      .map(({ headers }) => Number(headers['x-timestamp']) * SECOND);

  describe.each([10, -600])('with a service clock that is %i minutes off', (minutes) => {
    beforeEach(() => {
      harness.service.clockOffsetMs = minutes * MINUTE;
    });

    test.each(KINDS)(
      'creates a %s once, and signs later creates with a time that the service accepts',
      async (kind) => {
        const key = newKey();
        expect(await harness.create(kind, key)).toMatchObject({ replayed: false });
        expect(harness.service.created(key)).toHaveLength(1);
        const { length } = harness.service.requests;
        expect(await harness.create(kind, newKey())).toMatchObject({ replayed: false });
        expect(harness.service.requests.length - length).toBe(kind === 'payment' ? 1 : 2);
        harness.service.clockOffsetMs = 0;
        expect(await harness.create(kind, newKey())).toMatchObject({ replayed: false });
      },
    );

    test('finds a payment whose response was lost', async () => {
      const key = newKey();
      // The service refuses the first request because of its timestamp, and executes the second.
      const lost: Fault = {
        acts: true,
        reply: (connection, response) =>
          response.status === 401 ? connection.send(response) : connection.reset(),
      };
      harness.service.next('create-payment', lost, lost);
      const { transactionId } = await harness.create('payment', key);
      expect(harness.service.created(key)).toMatchObject([{ transactionId }]);
      expect(await harness.create('payment', key)).toMatchObject({ replayed: true, transactionId });
    });
  });

  test('retries once after a 401 with a forged Date, and signs later creates with the right time', async () => {
    const reply = refusing(dateOf(harness.service.now() + 20 * MINUTE));
    harness.service.next('create-payment', { acts: false, reply }, { acts: false, reply });
    expect(await harness.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(timestamps()).toHaveLength(2);
    expect(await harness.create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
    expect(Math.abs(timestamps()[2]! - harness.service.now())).toBeLessThan(5 * SECOND);
  });

  test.each([
    ['correct', () => dateOf(harness.service.now())],
    ['years off', () => dateOf(0)],
  ])('does not retry a create after a 401 whose Date is %s', async (_name, date) => {
    harness.service.plan(() => ({ acts: false, reply: refusing(date()) }));
    expect(await harness.create('payment', newKey())).toMatchObject({ error: 'SERVICE_AUTH_FAILED' });
    expect(timestamps()).toHaveLength(1);
  });
});

describeSqlite('A Date header from a proxy in front of the service', (harnesses) => {
  test.each([
    ['an hour ahead', 60 * MINUTE],
    ['a day behind', -DAY],
  ])(
    'that is %s does not change which payment is matched with a create whose response was lost',
    async (_name, offsetMs) => {
      const harness = await harnesses.start();
      await harness.create('payment', newKey());
      const [lost, reused] = [newKey(), newKey()];
      paidBefore(harness, reused, 60 * MINUTE);
      harness.service.next('look-up-payment', {
        acts: false,
        reply: (connection) => {
          const date = dateOf(harness.service.now() + offsetMs);
          const headers = { 'content-type': 'text/html', date };
          connection.send({ status: 404, json: {}, headers }, '<html></html>');
        },
      });
      const lookUp = 'query ($c: UUID!) { payment(channel: $c, externalId: "none") { __typename } }';
      await harness.request(lookUp, { c: CHANNEL });
      harness.service.next('create-payment', { acts: true, reply: reset }, { acts: false, reply: reset });
      expect(await harness.create('payment', lost)).toMatchObject({ replayed: true });
      expect(await harness.create('payment', reused)).toMatchObject({ result: 'OutcomeUnknownError' });
    },
  );
});

const STEPS: [string, number][] = [
  ['16 minutes forward', 16 * MINUTE],
  ['3 days forward', 3 * DAY],
  ['3 days back', -3 * DAY],
];

const stepsOf = async ({ parts }: Harness, clock: string): Promise<number> =>
  (await scrape(parts.gateway.url)).sum('paygraph_clock_steps_total', { clock });

const clockCheck = async ({ parts }: Harness): Promise<unknown> => {
  const { checks } = (await (await fetch(`${parts.gateway.url}/readyz`)).json()) as {
    checks: { clock: string };
  };
  return checks.clock;
};

/** Whether the journal uses the clock of the gateway's machine (SQLite) or one that does not step (PostgreSQL). */
const JOURNAL_CLOCKS = [true, false];

describeSqlite('A step of the wall clock', (harnesses) => {
  describe.each(JOURNAL_CLOCKS)('(the clock of the journal steps too: %s)', (isShared) => {
    // If the clock of the journal does not step, a small step has the same effect as a large one.
    const steps = isShared ? STEPS : STEPS.slice(1);

    /** Starts a gateway whose wall clock can step, and a service whose clock does not step. */
    const start = async () => {
      const wall = steppingClock();
      const clock = new AdvancingClock(wall);
      const steady = { now: () => systemClock.now() + clock.aheadMs };
      const service = await FakePaymentService.start(steady.now);
      harnesses.closeAtEnd(() => service.close());
      const harness = await harnesses.start({ clock, journalClock: isShared ? clock : steady, service });
      // A response tells the gateway the time of the service.
      await harness.create('payment', newKey());
      return { harness, wall };
    };

    test.each(steps)('by %s does not duplicate a payment that lookups show late', async (_name, stepMs) => {
      const { harness, wall } = await start();
      const key = newKey();
      const show = await loseHiddenResponse(harness, 'payment', key);
      wall.aheadMs = stepMs;
      for (let round = 0; round < 6; round += 1) {
        harness.clock.advance(10_000);
        expect((await harness.create('payment', key)).result).toMatch(UNKNOWN_RESULT);
      }
      const transactionId = show();
      expect(await untilCreated(harness, 'payment', key)).toMatchObject({ replayed: true, transactionId });
      expect(sent(harness.service, 'payment', key)).toBe(1);
    });

    test('is counted and shown by /readyz, and delays the second request of a create of unknown outcome by UNKNOWN_SETTLE_SECONDS', async () => {
      const { harness, wall } = await start();
      const key = newKey();
      await loseResponse(harness, 'payment', key);
      expect(await clockCheck(harness)).toBe('steady');
      wall.aheadMs = 2 * SETTLE;
      expect(await clockCheck(harness)).toBe('stepped');
      expect(await stepsOf(harness, 'system')).toBe(1);
      await repeatFor(harness, key, SETTLE + 4 * MINUTE);
      expect(sent(harness.service, 'payment', key)).toBe(1);
      await repeatFor(harness, key, SETTLE + 4 * MINUTE);
      expect(await clockCheck(harness)).toBe('steady');
      expect(sent(harness.service, 'payment', key)).toBe(2);
      expect(harness.service.created(key)).toHaveLength(1);
    });
  });
});

describeSqlite('A step of the clock of the journal', (harnesses) => {
  test('is logged, counted and shown by /readyz, and a create whose response was lost is not sent again', async () => {
    const journalClock = steppingClock();
    const logLines: string[] = [];
    const harness = await harnesses.start({ journalClock, logLines });
    const key = newKey();
    await loseResponse(harness, 'payment', key);
    journalClock.aheadMs = 2 * SETTLE;
    await until(async () => {
      harness.clock.advance(1000);
      return (await stepsOf(harness, 'journal')) === 1;
    });
    expect(await clockCheck(harness)).toBe('stepped');
    expect(logLines.filter((line) => line.includes('"event":"clock_stepped"'))).toHaveLength(1);
    for (let round = 0; round < 10; round += 1) await harness.create('payment', key);
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });
});

/** Simulates an instance that is suspended after it has recorded a create: its journal calls wait for `resumed`. */
function suspendedAfterBegin(journal: Journal, resumed: Promise<unknown>): Journal {
  let suspended: Promise<unknown> | undefined;
  const suspend = replacing('insertAttempt', (insert) => async (attempt) => {
    const started = await insert(attempt);
    await (suspended = resumed);
    return started;
  });
  const waitInRenew = replacing('renew', (renew) => async (...lease) => {
    await suspended;
    await renew(...lease);
  });
  return waitInRenew(suspend(journal));
}

describeSqlite('A create that was not yet sent when its process was suspended', (harnesses) => {
  test('creates no second payment if another instance has created the payment meanwhile', async () => {
    const other = await harnesses.start();
    const wall = steppingClock();
    const resumed = latch();
    const suspended = await harnesses.start({
      service: other.service,
      clock: new AdvancingClock(wall),
      journalClock: other.clock,
      wrap: (journal) => suspendedAfterBegin(journal, resumed.opened),
    });
    const key = newKey();
    const first = suspended.create('payment', key);
    await until(() => other.attempt(key));
    const { transactionId } = await untilCreated(other, 'payment', key, MINUTE);
    // After a suspension the wall clock is right, and the monotonic clock stood still.
    wall.aheadMs = other.clock.aheadMs;
    resumed.open();
    expect(await first).not.toMatchObject({ result: 'PaymentSuccess' });
    expect(other.service.created(key)).toMatchObject([{ transactionId }]);
  });
});

describeSqlite('A second instance', (harnesses) => {
  let harness: Harness;
  let other: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
    other = await harnesses.start({ service: harness.service, clock: harness.clock });
  });

  /** Advances the clock second by second, so that leases of work in flight are renewed. */
  async function pass(seconds: number): Promise<void> {
    const leases = `SELECT lease_until FROM attempts WHERE outcome = 'in_progress'
      UNION ALL SELECT lease_until FROM confirms WHERE lease_until > 0`;
    for (let second = 0; second < seconds; second += 1) {
      harness.clock.advance(SECOND);
      const movedTo = harness.clock.now();
      await until(
        () => harness.store.rows(leases),
        (rows) => rows.every(({ lease_until: end }) => Number(end) > movedTo + 2 * SECOND),
      );
    }
  }

  test.each(KINDS)(
    'does not take over the create of a %s in flight, however long its request takes',
    async (kind) => {
      const key = newKey();
      const hold = latch();
      harness.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      const first = harness.create(kind, key);
      await untilSent(harness.service, kind, key);
      await pass(12);
      expect(await other.attempt(key)).toMatchObject({ outcome: 'IN_PROGRESS' });
      expect(await other.create(kind, key)).toMatchObject({ result: 'RequestInProgressError' });
      hold.open();
      expect(await first).toMatchObject({ replayed: false });
      expect(await other.create(kind, key)).toMatchObject({ replayed: true });
      expect(harness.service.created(key)).toHaveLength(1);
    },
  );

  test('does not take over a confirm in flight, however long its request takes', async () => {
    const id = (await harness.create('payment', newKey())).transactionId ?? '';
    const hold = latch();
    harness.service.next('confirm', { acts: true, first: hold.opened });
    const first = harness.confirm(id);
    await until(() => harness.service.requestsTo('confirm').length);
    await pass(12);
    expect(await other.confirm(id)).toMatchObject({ result: 'RequestInProgressError' });
    hold.open();
    expect(await first).toMatchObject({ replayed: false });
    expect(harness.service.requestsTo('confirm')).toHaveLength(1);
  });
});
