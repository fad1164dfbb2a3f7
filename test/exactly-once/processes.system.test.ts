import type { CallResult, Kind } from '../support/caller';
import { latch, until } from '../support/latch';
import { OUTAGES } from '../support/outage';
import { FakePaymentService, type Fault } from '../support/payment-service/fake-payment-service';
import { noResponse } from '../support/payment-service/faults';
import { Program, type ProgramOptions } from '../support/program';
import { describeStores, newKey } from '../support/harness';
import { openStore, type Store } from '../support/stores';
import { KINDS, SUCCESS, sent, untilSent } from './support/creates';

/** Longest wait after a process was killed: lease, request timeout, settling time, and slack. */
const TAKE_OVER_MS = 60_000;

describeStores('Two processes on one journal', (harnesses) => {
  let service: FakePaymentService;
  let programs: Program[];

  beforeAll(async () => {
    const [store, started] = await Promise.all([openStore(harnesses.kind), FakePaymentService.start()]);
    harnesses.closeAtEnd(() => store.drop());
    harnesses.closeAtEnd(() => started.close());
    service = started;
    const options = {
      serviceUrl: service.url,
      databaseUrl: store.url,
      env: { SERVICE_TIMEOUT_MS: '20000' },
      hasSlowJournal: true,
    };
    programs = await Promise.all([Program.start(options), Program.start(options)]);
    // The first request of a process is slow.
    for (const program of programs) await program.create('payment', newKey());
  });

  test.each(KINDS)('create one %s for 200 concurrent calls with one key', async (kind) => {
    const key = newKey();
    const ends = await Promise.all(
      Array.from({ length: 200 }, (_, place) => programs[place % 2]!.create(kind, key)),
    );
    expect(service.created(key)).toHaveLength(1);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    const ids = new Set(ends.flatMap(({ transactionId }) => transactionId ?? []));
    expect([...ids]).toEqual([service.created(key)[0]?.transactionId]);
    const allowed = [SUCCESS[kind], 'RequestInProgressError'];
    expect(ends.filter(({ result = '' }) => !allowed.includes(result))).toEqual([]);
  });
});

/** Points at which a process is killed, for creates that the service carries out. */
const POINTS = [
  'received by the service',
  'carried out by the service',
  'created, but not recorded in the journal',
] as const;
type Point = (typeof POINTS)[number] | 'not carried out';

describeStores('After a process was killed', (harnesses) => {
  let store: Store;
  let service: FakePaymentService;
  let successor: Program;
  let confirmed: string;
  const keyAt = Object.fromEntries(
    KINDS.flatMap((kind) =>
      [...POINTS, 'not carried out', 'preflight'].map((point) => [`${kind} ${point}`, newKey()]),
    ),
  );
  const unasked = newKey();

  async function start(options: Partial<ProgramOptions> = {}): Promise<Program> {
    const program = await Program.start({ serviceUrl: service.url, databaseUrl: store.url, ...options });
    harnesses.closeAtEnd(() => program.kill());
    return program;
  }

  beforeAll(async () => {
    [store, service] = await Promise.all([openStore(harnesses.kind), FakePaymentService.start()]);
    harnesses.closeAtEnd(() => store.drop());
    harnesses.closeAtEnd(() => service.close());
    const [prepare] = Object.values(OUTAGES[harnesses.kind]);
    const outage = await prepare!(store);
    harnesses.closeAtEnd(() => outage.close());
    const victim = await start({
      databaseUrl: outage.store.url,
      env: { SERVICE_TIMEOUT_MS: '10000' },
      hasSlowJournal: true,
    });
    const cut: Promise<unknown>[] = [];
    const begin = (call: Promise<CallResult>): void => void cut.push(call.catch(() => 'cut'));

    confirmed = (await victim.create('payment', newKey())).transactionId ?? '';
    service.next('confirm', { acts: true, reply: noResponse });
    begin(victim.confirm(confirmed));
    await until(() => service.requestsTo('confirm').length);

    const [received, unrecorded] = [latch(), latch()];
    const faults: Record<Point, Fault> = {
      'received by the service': { acts: true, first: received.opened },
      'carried out by the service': { acts: true, reply: noResponse },
      'not carried out': { acts: false, reply: noResponse },
      'created, but not recorded in the journal': { acts: true, first: unrecorded.opened },
    };
    const responded: Promise<CallResult>[] = [];
    const beginAt = async (kind: Kind, point: Point, key: string): Promise<void> => {
      service.next(`create-${kind}`, faults[point]);
      const call = victim.create(kind, key);
      if (point === 'created, but not recorded in the journal') responded.push(call);
      else begin(call);
      await untilSent(service, kind, key);
    };
    for (const kind of KINDS)
      for (const point of Object.keys(faults) as Point[])
        await beginAt(kind, point, keyAt[`${kind} ${point}`]!);
    await beginAt('payout', 'carried out by the service', unasked);

    const preflight = latch();
    service.next('look-up-payout', { acts: true, first: preflight.opened });
    const lookups = service.requestsTo('look-up-payout').length;
    begin(victim.create('payout', keyAt['payout preflight']!));
    await until(() => service.requestsTo('look-up-payout').length > lookups);

    await outage.down();
    unrecorded.open();
    const ends = await Promise.all(responded);
    expect(ends).toMatchObject(KINDS.map((kind) => ({ result: SUCCESS[kind], replayed: false })));
    await victim.kill();
    expect(new Set(await Promise.all(cut))).toEqual(new Set(['cut']));
    await outage.up();
    successor = await start({
      env: { UNKNOWN_SETTLE_SECONDS: '2', SERVICE_TIMEOUT_MS: '10000' },
      hasSlowJournal: true,
    });
    received.open();
    preflight.open();
  });

  const untilCreated = (program: Program, kind: Kind, key: string): Promise<CallResult> =>
    until(
      () => program.create(kind, key),
      ({ result }) => result === SUCCESS[kind],
      TAKE_OVER_MS,
    );

  test('the key of a payout that was in its preflight lookup is free at once', async () => {
    const key = keyAt['payout preflight']!;
    expect(await successor.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
    expect(service.created(key)).toHaveLength(1);
  });

  test.each(KINDS.flatMap((kind) => POINTS.map((point): [Kind, Point] => [kind, point])))(
    'a repeated create finds the %s that was %s, and sends no second create',
    async (kind, point) => {
      const key = keyAt[`${kind} ${point}`]!;
      const { replayed, transactionId } = await untilCreated(successor, kind, key);
      expect(replayed).toBe(true);
      expect(service.created(key)).toMatchObject([{ transactionId }]);
      expect(sent(service, kind, key)).toBe(1);
    },
  );

  test('the next process recovers a payout without a repeated call', async () => {
    const attempt = await until(
      () => successor.attempt(unasked),
      (seen) => seen?.outcome === 'SUCCEEDED',
      TAKE_OVER_MS,
    );
    expect(service.created(unasked)).toMatchObject([{ transactionId: attempt?.payout?.transactionId }]);
  });

  test('a payment that was not carried out is created again, once, after the settling time', async () => {
    const key = keyAt['payment not carried out']!;
    const { transactionId } = await untilCreated(successor, 'payment', key);
    expect(service.created(key)).toMatchObject([{ transactionId }]);
    expect(sent(service, 'payment', key)).toBe(2);
  });

  test('a payout that was not carried out stays unknown and is not sent again', async () => {
    const key = keyAt['payout not carried out']!;
    const end = await until(
      () => successor.create('payout', key),
      ({ result }) => result !== 'RequestInProgressError',
    );
    expect(end).toMatchObject({ result: 'OutcomeUnknownError', idempotencyKey: key });
    expect(sent(service, 'payout', key)).toBe(1);
  });

  test('a repeated confirm looks the payment up and sends no second confirm', async () => {
    const end = await until(
      () => successor.confirm(confirmed),
      ({ result }) => result !== 'RequestInProgressError',
      TAKE_OVER_MS,
    );
    expect(end).toMatchObject({ result: 'PaymentSuccess', replayed: true, transactionId: confirmed });
    expect(service.requestsTo('confirm')).toHaveLength(1);
  });
});
