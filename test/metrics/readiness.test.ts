import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { openJournal } from '../../src/datasources/journal/open';
import { silence } from '../exactly-once/service/faults';
import { CHANNEL } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { OUTAGES, type Outage } from '../exactly-once/support/outage';
import { describeStores, newKey, type Rig } from '../exactly-once/support/rig';
import { openStore } from '../exactly-once/support/stores';
import { connected, SERVER } from '../journal/support/stores';
import { scrape } from './support/scrape';

interface Readiness {
  httpStatus: number;
  status: string;
  checks: { journal: string; journalReason?: string; service: string; draining: boolean };
}

const LOOK = 'query ($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';

describeStores('/readyz', (rigs) => {
  let rig: Rig;
  let outage: Outage;

  beforeAll(async () => {
    const store = await openStore(rigs.kind);
    rigs.closeAtEnd(() => store.drop());
    const [prepare] = Object.values(OUTAGES[rigs.kind]) as ((from: typeof store) => Promise<Outage>)[];
    outage = await prepare!(store);
    rigs.closeAtEnd(() => outage.close());
    rig = await rigs.start({ store: outage.store, open: (url) => openJournal(url, 1500) });
  });

  const base = (): string => rig.parts.gateway.url;

  async function readiness(): Promise<Readiness> {
    // The next check of the journal falls due.
    rig.clock.advance(1_000);
    const response = await fetch(`${base()}/readyz`);
    return { httpStatus: response.status, ...((await response.json()) as Omit<Readiness, 'httpStatus'>) };
  }

  test('says that it is ready, and why', async () => {
    expect(await readiness()).toEqual({
      httpStatus: 200,
      status: 'ready',
      checks: { journal: 'up', service: 'up', clock: 'steady', draining: false },
    });
    expect((await scrape(base())).sum('paygraph_journal_up')).toBe(1);
  });

  const ofJournal = (): void => {
    test('says that it is not while the journal cannot be reached, and is again afterwards', async () => {
      await outage.down();
      const down = await until(readiness, ({ httpStatus }) => httpStatus === 503);
      expect(down).toMatchObject({
        status: 'not ready',
        checks: { journal: 'down', clock: 'steady', draining: false },
      });
      const page = await scrape(base());
      expect(page.sum('paygraph_journal_up')).toBe(0);
      // A SQLite file that another process holds can still be read.
      if (rigs.kind === 'PostgreSQL') expect(page.find('paygraph_unknown_outcomes')).toEqual([]);
      expect(page.sum('paygraph_journal_errors_total')).toBeGreaterThan(0);
      await outage.up();
      await until(readiness, ({ httpStatus }) => httpStatus === 200);
      await until(
        () => scrape(base()),
        (again) => again.sum('paygraph_journal_up') === 1,
      );
    });
  };
  ofJournal();

  const ofReadOnlyDatabase = (): void => {
    test('reports a read-only database, and recovers when it is writable', async () => {
      const name = new URL(outage.store.url).pathname.slice(1);
      const sessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      const setting = 'default_transaction_read_only';
      await connected(SERVER, (client) => client.query(`ALTER DATABASE ${name} SET ${setting} = on`));
      await outage.store.rows(sessions);
      const down = await until(readiness, ({ checks }) => checks.journalReason === 'read_only');
      expect(down).toMatchObject({ httpStatus: 503, checks: { journal: 'down' } });
      expect(
        (await scrape(base())).sum('paygraph_journal_failures_total', { reason: 'read_only' }),
      ).toBeGreaterThan(0);
      await connected(SERVER, (client) => client.query(`ALTER DATABASE ${name} RESET ${setting}`));
      await until(readiness, ({ httpStatus }) => httpStatus === 200);
    });
  };
  if (rigs.kind === 'PostgreSQL') ofReadOnlyDatabase();

  const ofReplacedFile = (): void => {
    test.each(['removed', 'replaced'])(
      'says that the file of the journal was %s, refuses money until the original is back',
      async (how) => {
        const file = outage.store.url.slice('file:'.length);
        const created = newKey();
        const { transactionId } = await rig.create('payment', created);
        const refused = newKey();
        const asked = rig.service.asked('create-payment').length;

        renameSync(file, `${file}.original`);
        if (how !== 'removed') writeFileSync(file, '');
        expect(await rig.create('payment', refused)).toMatchObject({
          error: 'SERVICE_UNAVAILABLE',
          retryable: true,
        });
        expect(await rig.confirm(transactionId!)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
        expect(rig.service.asked('create-payment')).toHaveLength(asked);
        expect(rig.service.asked('confirm')).toEqual([]);
        const down = await until(readiness, ({ httpStatus }) => httpStatus === 503);
        expect(down.checks).toMatchObject({ journal: 'down', journalReason: 'file_replaced' });

        rmSync(file, { force: true });
        renameSync(`${file}.original`, file);
        await until(readiness, ({ httpStatus }) => httpStatus === 200);
        expect(await rig.create('payment', created)).toMatchObject({ replayed: true, transactionId });
        expect(await rig.create('payment', refused)).toMatchObject({ replayed: false });
      },
    );

    test('notices without a create that the file was removed', async () => {
      const file = outage.store.url.slice('file:'.length);
      renameSync(file, `${file}.original`);
      const down = await until(readiness, ({ httpStatus }) => httpStatus === 503);
      expect(down.checks.journalReason).toBe('file_replaced');
      renameSync(`${file}.original`, file);
      await until(readiness, ({ httpStatus }) => httpStatus === 200);
    });
  };
  if (rigs.kind === 'SQLite') ofReplacedFile();

  test('says that the service is down, and stays ready: another gateway has no other service', async () => {
    rig.service.plan(() => ({ acts: true, reply: silence }));
    const look = (place: number): Promise<unknown> => rig.ask(LOOK, { c: CHANNEL, e: `order-${place}` });
    await until(
      async () => {
        await Promise.all(Array.from({ length: 12 }, (_, place) => look(place)));
        return readiness();
      },
      ({ checks }) => checks.service === 'down',
    );
    expect(await readiness()).toMatchObject({ httpStatus: 200, status: 'ready' });
    const page = await scrape(base());
    expect(page.sum('paygraph_service_breaker_open', { breaker: 'silence' })).toBe(1);
    expect(page.sum('paygraph_service_breaker_open', { breaker: 'failures' })).toBe(0);
    expect(
      page.sum('paygraph_service_call_duration_seconds_count', { result: 'timeout' }),
    ).toBeGreaterThanOrEqual(10);
  });
});
