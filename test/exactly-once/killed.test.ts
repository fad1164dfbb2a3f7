import { silence } from './service/faults';
import { FaultyService, type Fault } from './service/faulty-service';
import type { End, Kind } from './support/caller';
import { gate, until } from './support/gate';
import { OUTAGES } from './support/outage';
import { Program } from './support/program';
import { describeStores, newKey } from './support/rig';
import { openStore, type Store } from './support/stores';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const KINDS: Kind[] = ['payment', 'payout'];
const SUCCESS = { payment: 'PaymentSuccess', payout: 'PayoutSuccess' } as const;

/** How long a restarted gateway may take to find what its predecessor left: the lease of the dead, and a little. */
const SECONDS = 10_000;

describeStores('A gateway that is killed', (rigs) => {
  let store: Store;
  let service: FaultyService;

  beforeEach(async () => {
    const [opened, started] = await Promise.all([openStore(rigs.kind), FaultyService.start()]);
    rigs.closeAtEnd(() => opened.drop());
    rigs.closeAtEnd(() => started.close());
    [store, service] = [opened, started];
  });

  async function start(env: Record<string, string> = {}, databaseUrl = store.url): Promise<Program> {
    const program = await Program.start({ serviceUrl: service.url, databaseUrl, env });
    rigs.closeAtEnd(() => program.kill());
    return program;
  }

  const sent = (kind: Kind, key: string): number =>
    service.asked(`create-${kind}`).filter(({ json }) => json['description'] === key).length;

  /** The same call again, for as long as its outcome is not known. */
  const untilKnown = (program: Program, kind: Kind, key: string): Promise<End> =>
    until(
      () => program.create(kind, key),
      ({ result }) => result === SUCCESS[kind],
      SECONDS,
    );

  /** Makes a create that the service treats so, and kills the gateway when the service has the request. */
  async function killDuring(kind: Kind, key: string, fault: Fault): Promise<void> {
    const program = await start();
    service.next(`create-${kind}`, fault);
    const cut = program.create(kind, key).catch(() => 'cut');
    await until(
      () => sent(kind, key),
      (count) => count === 1,
    );
    await program.kill();
    expect(await cut).toBe('cut');
  }

  test.each(KINDS)(
    'during the POST of a %s: the same key finds what the service then created',
    async (kind) => {
      const key = newKey();
      const hold = gate();
      await killDuring(kind, key, { acts: true, first: hold.opened });
      const program = await start();
      hold.open();
      const end = await untilKnown(program, kind, key);
      expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
      expect([sent(kind, key), service.created(key).length]).toEqual([1, 1]);
    },
  );

  test.each(KINDS)('after the service created the %s: the same key finds it', async (kind) => {
    const key = newKey();
    await killDuring(kind, key, { acts: true, reply: silence });
    const program = await start();
    const end = await untilKnown(program, kind, key);
    expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
    expect([sent(kind, key), service.created(key).length]).toEqual([1, 1]);
  });

  test('after the service created it: the next gateway finds it with nobody asking', async () => {
    const key = newKey();
    await killDuring('payout', key, { acts: true, reply: silence });
    const program = await start();
    const attempt = await until(
      () => program.attempt(key),
      (seen) => seen?.outcome === 'SUCCEEDED',
      SECONDS,
    );
    expect(attempt?.payout?.transactionId).toBe(service.created(key)[0]?.transactionId);
  });

  test('during a POST that created nothing: a payment is created anew once that is certain', async () => {
    const key = newKey();
    await killDuring('payment', key, { acts: false, reply: silence });
    const program = await start({ UNKNOWN_SETTLE_SECONDS: '2' });
    const end = await untilKnown(program, 'payment', key);
    expect(end.transactionId).toBe(service.created(key)[0]?.transactionId);
    expect([sent('payment', key), service.created(key).length]).toEqual([2, 1]);
  });

  test('during a POST that created nothing: a payout is unknown, and not sent again', async () => {
    const key = newKey();
    await killDuring('payout', key, { acts: false, reply: silence });
    const program = await start({ UNKNOWN_SETTLE_SECONDS: '1' });
    const end = await until(
      () => program.create('payout', key),
      ({ result }) => result !== 'RequestInProgressError',
      SECONDS,
    );
    expect(end).toMatchObject({ result: 'OutcomeUnknownError', idempotencyKey: key });
    // Longer than UNKNOWN_SETTLE_SECONDS; the program's clock is the real one.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await program.create('payout', key)).result).toMatch(/^(OutcomeUnknown|RequestInProgress)Error$/);
    expect(sent('payout', key)).toBe(1);
  });

  test('before the service read anything of a payment: it is created anew once that is certain', async () => {
    const key = newKey();
    const program = await start();
    service.deafConnections = 1;
    const cut = program.create('payment', key).catch(() => 'cut');
    await until(
      () => store.rows("SELECT * FROM attempts WHERE outcome = 'in_progress'").catch(() => []),
      (rows) => rows.length === 1,
    );
    await program.kill();
    expect(await cut).toBe('cut');
    service.deafConnections = 0;
    const next = await start({ UNKNOWN_SETTLE_SECONDS: '2' });
    const end = await untilKnown(next, 'payment', key);
    expect(end.transactionId).toBe(service.created(key)[0]?.transactionId);
    expect([sent('payment', key), service.created(key).length]).toEqual([1, 1]);
  });

  test('before the POST of a payout, during its preflight: the key is free at once', async () => {
    const key = newKey();
    const program = await start();
    const hold = gate();
    service.next('look-up-payout', { acts: true, first: hold.opened });
    const cut = program.create('payout', key).catch(() => 'cut');
    await until(
      () => service.asked('look-up-payout').length,
      (count) => count === 1,
    );
    await program.kill();
    expect(await cut).toBe('cut');
    hold.open();
    const next = await start();
    expect(await next.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
    expect(service.created(key)).toHaveLength(1);
  });

  test.each(KINDS)('after a %s succeeded, but before that was saved: the same key finds it', async (kind) => {
    const key = newKey();
    const [prepare] = Object.values(OUTAGES[rigs.kind]);
    const outage = await prepare!(store);
    rigs.closeAtEnd(() => outage.close());
    const program = await start({}, outage.store.url);
    const hold = gate();
    service.next(`create-${kind}`, { acts: true, first: hold.opened });
    const first = program.create(kind, key);
    await until(
      () => sent(kind, key),
      (count) => count === 1,
    );
    await outage.down();
    hold.open();
    expect(await first).toMatchObject({ result: SUCCESS[kind], replayed: false });
    await program.kill();
    await outage.up();
    const next = await start();
    const end = await untilKnown(next, kind, key);
    expect(end).toMatchObject({ replayed: true, transactionId: (await first).transactionId });
    expect([sent(kind, key), service.created(key).length]).toEqual([1, 1]);
  });

  test('while another runs on the same journal: that one takes over', async () => {
    const key = newKey();
    const other = await start();
    await killDuring('payment', key, { acts: true, reply: silence });
    const end = await untilKnown(other, 'payment', key);
    expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
    expect(sent('payment', key)).toBe(1);
  });

  test('during a confirm: a repeated one looks first', async () => {
    const program = await start();
    const { transactionId } = await program.create('payment', newKey());
    const id = transactionId ?? '';
    service.next('confirm', { acts: true, reply: silence });
    const cut = program.confirm(id).catch(() => 'cut');
    await until(
      () => service.asked('confirm').length,
      (count) => count === 1,
    );
    await program.kill();
    expect(await cut).toBe('cut');
    const next = await start();
    const end = await until(
      () => next.confirm(id),
      ({ result }) => result !== 'RequestInProgressError',
      SECONDS,
    );
    expect(end).toMatchObject({ result: 'PaymentSuccess', replayed: true, transactionId: id });
    expect(service.asked('confirm')).toHaveLength(1);
  });
});
