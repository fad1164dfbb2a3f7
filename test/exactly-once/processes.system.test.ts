import type { CallResult, Kind } from '../support/caller';
import { until } from '../support/latch';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { noResponse } from '../support/payment-service/faults';
import { Program } from '../support/program';
import { describeStores, newKey } from '../support/harness';
import { openStore } from '../support/stores';
import { KINDS, SUCCESS, sent, untilDone } from './support/creates';

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

describeStores('A process that replaces a killed process', (harnesses) => {
  /** Keys of creates in flight when the process was killed. */
  const carriedOut = { payment: newKey(), payout: newKey() };
  const notCarriedOut = { payment: newKey(), payout: newKey() };
  const neverRepeated = newKey();
  let service: FakePaymentService;
  let successor: Program;
  let confirmed: string;

  beforeAll(async () => {
    const [store, started] = await Promise.all([openStore(harnesses.kind), FakePaymentService.start()]);
    service = started;
    harnesses.closeAtEnd(() => store.drop());
    harnesses.closeAtEnd(() => service.close());
    const start = async (env: Record<string, string> = {}): Promise<Program> => {
      const program = await Program.start({
        serviceUrl: service.url,
        databaseUrl: store.url,
        env: { SERVICE_TIMEOUT_MS: '10000', ...env },
        hasSlowJournal: true,
      });
      harnesses.closeAtEnd(() => program.kill());
      return program;
    };
    const victim = await start();
    confirmed = (await victim.create('payment', newKey())).transactionId ?? '';
    const missed: unknown[] = Object.values(notCarriedOut);
    service.plan((endpoint, { json }) =>
      endpoint.startsWith('look-up')
        ? undefined
        : { acts: !missed.includes(json['description']), reply: noResponse },
    );
    const calls = [victim.confirm(confirmed), victim.create('payout', neverRepeated)];
    for (const kind of KINDS)
      for (const keys of [carriedOut, notCarriedOut]) calls.push(victim.create(kind, keys[kind]));
    const ends = Promise.allSettled(calls);
    await until(() => service.requests.filter(({ method }) => method === 'POST').length === 1 + calls.length);
    await victim.kill();
    expect((await ends).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    service.plan(() => undefined);
    successor = await start({ UNKNOWN_SETTLE_SECONDS: '2' });
  });

  const untilCreated = (kind: Kind, key: string): Promise<CallResult> =>
    until(
      () => successor.create(kind, key),
      ({ result }) => result === SUCCESS[kind],
    );

  test.each(KINDS)(
    'finds an executed %s when its create is repeated, and sends no second create',
    async (kind) => {
      const key = carriedOut[kind];
      const { replayed, transactionId } = await untilCreated(kind, key);
      expect(replayed).toBe(true);
      expect(service.created(key)).toMatchObject([{ transactionId }]);
      expect(sent(service, kind, key)).toBe(1);
    },
  );

  test('recovers an executed payout even if its create is not repeated', async () => {
    const attempt = await until(
      () => successor.attempt(neverRepeated),
      (seen) => seen?.outcome === 'SUCCEEDED',
    );
    expect(service.created(neverRepeated)).toMatchObject([{ transactionId: attempt?.payout?.transactionId }]);
  });

  test('sends a payment once more after UNKNOWN_SETTLE_SECONDS if it was not executed', async () => {
    const key = notCarriedOut.payment;
    const { transactionId } = await untilCreated('payment', key);
    expect(service.created(key)).toMatchObject([{ transactionId }]);
    expect(sent(service, 'payment', key)).toBe(2);
  });

  test('leaves the outcome of a payout unknown if it was not executed, and does not send it again', async () => {
    const key = notCarriedOut.payout;
    const end = await untilDone(() => successor.create('payout', key));
    expect(end).toMatchObject({ result: 'OutcomeUnknownError', idempotencyKey: key });
    expect(sent(service, 'payout', key)).toBe(1);
  });

  test('looks the payment up when its confirm is repeated, and sends no second confirm', async () => {
    const end = await untilDone(() => successor.confirm(confirmed));
    expect(end).toMatchObject({ result: 'PaymentSuccess', replayed: true, transactionId: confirmed });
    expect(service.requestsTo('confirm')).toHaveLength(1);
  });
});
