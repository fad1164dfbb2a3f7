import { once } from 'node:events';
import { connect } from 'node:net';
import { FaultyService } from './service/faulty-service';
import type { End, Kind } from './support/caller';
import { until } from './support/gate';
import { Program } from './support/program';
import { describeStores, newKey } from './support/rig';
import { openStore, type Store } from './support/stores';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const KINDS: Kind[] = ['payment', 'payout'];
const SUCCESS = { payment: 'PaymentSuccess', payout: 'PayoutSuccess' } as const;

describeStores('Several processes', (rigs) => {
  let store: Store;
  let service: FaultyService;

  beforeEach(async () => {
    const [opened, started] = await Promise.all([openStore(rigs.kind), FaultyService.start()]);
    rigs.closeAtEnd(() => opened.drop());
    rigs.closeAtEnd(() => started.close());
    [store, service] = [opened, started];
  });

  async function startMany(count: number): Promise<Program[]> {
    const start = () =>
      Program.start({
        serviceUrl: service.url,
        databaseUrl: store.url,
        env: { SERVICE_TIMEOUT_MS: '20000' },
        isPatient: true,
      });
    const programs = await Promise.all(Array.from({ length: count }, start));
    programs.forEach((program) => rigs.closeAtEnd(() => program.kill()));
    return programs;
  }

  test.each([1, 2])('(%i) create once of 200 calls with one key at the same time', async (count) => {
    const programs = await startMany(count);
    // The first calls of a process are slow, and a journal that is slow counts as down.
    for (const program of programs) await program.create('payment', newKey());
    for (const kind of KINDS) {
      const key = newKey();
      const calls = Array.from({ length: 200 }, (_, place) => programs[place % count]!.create(kind, key));
      const ends = await Promise.all(calls);
      expect(service.created(key)).toHaveLength(1);
      expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
      const others = ends.filter(
        ({ result }) => result !== SUCCESS[kind] && result !== 'RequestInProgressError',
      );
      expect(others).toEqual([]);
    }
  });

  test('confirm once of 60 confirms of one payment at the same time', async () => {
    const programs = await startMany(2);
    const { transactionId } = await programs[0]!.create('payment', newKey());
    const id = transactionId ?? '';
    await Promise.all(Array.from({ length: 60 }, (_, place) => programs[place % 2]!.confirm(id)));
    expect(service.ledger.byId('payment', id)?.confirms).toBe(1);
  });

  test('end in order under load: what was taken is answered, and the rest can be asked again', async () => {
    const [program] = await startMany(1);
    service.plan((purpose) =>
      purpose.startsWith('create')
        ? { acts: true, first: new Promise((go) => setTimeout(go, 150)) }
        : undefined,
    );
    const keys = Array.from({ length: 120 }, newKey);
    const kindOf = (place: number): Kind => KINDS[place % 2]!;
    const calls = keys.map((key, place) =>
      program!.create(kindOf(place), key).catch((): End => ({ error: 'REFUSED' })),
    );
    await until(
      () => service.ledger.entries.length,
      (count) => count > 5,
    );
    program!.signal('SIGTERM');
    const ends = await Promise.all(calls);
    expect(await program!.exited).toBe(0);
    const [next] = await startMany(1);
    // On a busy machine the journal may have been too slow to hear how a call ended: then the next process finds out.
    const again = await Promise.all(
      keys.map((key, place) =>
        until(
          () => next!.create(kindOf(place), key),
          ({ result }) => result === SUCCESS[kindOf(place)],
        ),
      ),
    );
    for (const [place, key] of keys.entries()) {
      expect(service.created(key)).toHaveLength(1);
      const { transactionId } = service.created(key)[0]!;
      expect(again[place]).toMatchObject({ result: SUCCESS[kindOf(place)], transactionId });
      if (ends[place]?.result) expect(ends[place]).toMatchObject({ transactionId, replayed: false });
    }
  });

  test.each([
    ['nothing', ''],
    ['half of a request', 'POST /graphql HTTP/1.1\r\nhost: gateway\r\ncontent-'],
  ])('end in order although a connection is open on which came %s', async (_name, said) => {
    const [program] = await startMany(1);
    const { port } = new URL(program!.url);
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    rigs.closeAtEnd(async () => void socket.destroy());
    await once(socket, 'connect');
    socket.write(said);
    await program!.create('payment', newKey());
    const startedAt = performance.now();
    program!.signal('SIGTERM');
    expect(await program!.exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
