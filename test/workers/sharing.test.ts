import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { callsOf, temporaryFolder, temporaryLog, verify } from '../audit/support/files';
import { silence } from '../exactly-once/service/faults';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { CHANNEL } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { describeStores, newKey } from '../exactly-once/support/rig';
import { openStore, type Store } from '../exactly-once/support/stores';
import { EventStream } from '../live/support/event-stream';
import { WorkersGateway } from './support/gateway';
import type { Line } from './support/line';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

/** Nobody looks by themselves as long as a test lasts. */
const NEVER = { WATCH_PACE_PAYER: '24h', WATCH_PACE_PROVIDER: '24h', WATCH_PACE_MISPAID: '24h' };

const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on PaymentResource { status ... on UpiPayment { state } } }
}`;
const LOOK = `query ($channel: UUID!, $id: UUID!) {
  payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } }
}`;
const PAGE = `query ($channel: UUID!, $ids: [UUID!]!) { payments(channel: $channel, transactionIds: $ids) { __typename } }`;

describeStores('Several workers', (rigs) => {
  let store: Store;
  let service: FaultyService;

  beforeEach(async () => {
    const [opened, started] = await Promise.all([openStore(rigs.kind), FaultyService.start()]);
    rigs.closeAtEnd(() => opened.drop());
    rigs.closeAtEnd(() => started.close());
    [store, service] = [opened, started];
  });

  async function start(count: number, env: Record<string, string> = {}): Promise<WorkersGateway> {
    const gateway = await WorkersGateway.start(count, {
      serviceUrl: service.url,
      databaseUrl: store.url,
      env: { SERVICE_TIMEOUT_MS: '20000', ...env },
    });
    rigs.closeAtEnd(() => gateway.kill());
    return gateway;
  }

  test('make the tables of a new journal once, answer all of them, and say once where', async () => {
    const gateway = await start(4);
    const lines = await gateway.lines();
    expect(new Set(lines.map(({ pid }) => pid))).toEqual(new Set(gateway.pids));
    const ends = await Promise.all(lines.map((line) => line.create('payment', newKey())));
    expect(ends.map(({ result }) => result)).toEqual(Array<string>(4).fill('PaymentSuccess'));
    expect(gateway.program.output().match(/"msg":"listening"/g)).toHaveLength(1);
  });

  test('create once of 100 calls with one key at the same time', async () => {
    const gateway = await start(2);
    const lines = await gateway.lines();
    const key = newKey();
    const many = await Promise.all(Array.from({ length: 24 }, () => gateway.lines()));
    const ends = await Promise.all(
      [...lines, ...many.flat()].flatMap((line) => [line.create('payout', key), line.create('payout', key)]),
    );
    expect(ends).toHaveLength(100);
    expect(service.created(key)).toHaveLength(1);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    const others = ends.filter(
      ({ result }) => result !== 'PayoutSuccess' && result !== 'RequestInProgressError',
    );
    expect(others).toEqual([]);
  });

  const watched = async (line: Line, id: string): Promise<EventStream> => {
    const stream = await EventStream.open(
      `${line.url}/stream`,
      { query: WATCH, variables: { channel: CHANNEL, id } },
      { agent: line.agent },
    );
    expect(await stream.nextData()).toEqual({ status: 'PROCESSING', state: 'WAITING_FOR_UTR' });
    return stream;
  };

  test('tell each other at once of a change that one of them sees, by a query or by a confirm', async () => {
    const gateway = await start(2, NEVER);
    const [here, there] = await gateway.lines();
    const { transactionId } = await here.create('payment', newKey());
    const id = transactionId ?? '';
    const stream = await watched(here, id);
    const entry = service.ledger.byId('payment', id)!;
    entry.status = 'mispaid';
    // That something is watched is on its way to the other: until it has arrived nothing is told.
    await until(
      () => there.ask(LOOK, { channel: CHANNEL, id }).then(() => stream.isQuiet),
      (isQuiet) => !isQuiet,
    );
    expect(await stream.nextData()).toMatchObject({ status: 'MISPAID', state: 'WAITING_FOR_UTR' });
    expect(await there.confirm(id)).toMatchObject({ result: 'PaymentSuccess' });
    expect(await stream.nextData()).toMatchObject({ status: 'MISPAID', state: 'WAITING_FOR_PROVIDER' });
    entry.status = 'completed';
    await there.ask(LOOK, { channel: CHANNEL, id });
    expect(await stream.nextData()).toMatchObject({ status: 'COMPLETED' });
    expect(await stream.next()).toEqual({ event: 'complete' });
  });

  test('replace one that is killed; what it had under way is found, though the files of secrets are gone', async () => {
    const secret = path.join(temporaryFolder(), 'secret-key');
    writeFileSync(secret, 'test-secret-key');
    const gateway = await start(2, { SERVICE_SECRET_KEY: '', SERVICE_SECRET_KEY_FILE: secret });
    rmSync(secret);
    const [doomed, other] = await gateway.lines();
    const key = newKey();
    service.next('create-payment', { acts: true, reply: silence });
    const cut = doomed.create('payment', key).catch(() => 'cut');
    await until(
      () => service.created(key),
      (created) => created.length === 1,
    );
    process.kill(doomed.pid, 'SIGKILL');
    expect(await cut).toBe('cut');
    const end = await until(
      () => other.create('payment', key),
      ({ result }) => result === 'PaymentSuccess',
    );
    expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
    expect(service.created(key)).toHaveLength(1);
    await until(
      () => gateway.pids,
      (pids) => pids.length === 3,
    );
    for (const line of await gateway.lines())
      expect(await line.create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
    expect(gateway.program.output()).toMatch(
      new RegExp(`"worker":${doomed.pid},"code":null,"signal":"SIGKILL".*a worker has ended and is replaced`),
    );
    expect(gateway.program.output()).not.toContain('test-secret-key');
  });

  test('write one audit log, in which nothing is missing', async () => {
    const file = temporaryLog();
    const gateway = await start(3, { AUDIT_LOG_FILE: file });
    const lines = await gateway.lines();
    const keys = Array.from({ length: 60 }, newKey);
    await Promise.all(keys.map((key, place) => lines[place % 3]!.create('payment', key)));
    expect(
      callsOf(file)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(keys.sort());
    gateway.program.signal('SIGTERM');
    expect(await gateway.program.exited).toBe(0);
    const { faults, notes, verifier } = await verify(file);
    expect([...faults, ...notes]).toEqual([]);
    expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
  });

  test('have one limit for a caller between them', async () => {
    const gateway = await start(2, { RATE_LIMIT_PER_MINUTE: '3000' });
    const [here, there] = await gateway.lines();
    const ids = Array.from(
      { length: 500 },
      (_, place) => `7c1bd1e0-6b1b-4c8a-9d7e-${String(place).padStart(12, '0')}`,
    );
    let pages = 0;
    while ((await here.status(PAGE, { channel: CHANNEL, ids })) === 200) pages += 1;
    expect(pages).toBe(5);
    // The line to each of them cost a point or more; what one counts the other hears of within a moment.
    let passed = 0;
    while ((await there.status('{ __typename }')) === 200) passed += 1;
    expect(passed).toBeLessThan(1000);
  });
});
