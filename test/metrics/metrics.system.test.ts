import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { CHANNEL } from '../support/caller';
import { closeAfterTests } from '../support/cleanup';
import { until } from '../support/latch';
import { OUTAGES, type Outage } from '../support/outage';
import { noResponse } from '../support/payment-service/faults';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { post, raw } from '../support/raw';
import { describeStores, newKey, type Harness } from '../support/harness';
import { openStore, withClient, POSTGRES_URL } from '../support/stores';
import { scrape } from './support/scrape';

const LOOK = 'query Look($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';

/** Last metrics page that was read, for promtool. */
let metricsText = '';

interface Readiness {
  httpStatus: number;
  checks: { journalReason?: string; service: string };
}

describeStores('/readyz', (harnesses) => {
  let harness: Harness;
  let outage: Outage;

  beforeAll(async () => {
    const store = await openStore(harnesses.kind);
    harnesses.closeAtEnd(() => store.drop());
    const [prepare] = Object.values(OUTAGES[harnesses.kind]) as ((from: typeof store) => Promise<Outage>)[];
    outage = await prepare!(store);
    harnesses.closeAtEnd(() => outage.close());
    harness = await harnesses.start({ store: outage.store, open: (url) => openJournal(url, 1500) });
  });

  const base = (): string => harness.parts.gateway.url;
  const isReady = ({ httpStatus }: Readiness): boolean => httpStatus === 200;

  async function readiness(): Promise<Readiness> {
    // The next check of the journal is due.
    harness.clock.advance(1_000);
    const response = await fetch(`${base()}/readyz`);
    return { httpStatus: response.status, ...((await response.json()) as Pick<Readiness, 'checks'>) };
  }

  test('reports an unreachable journal with 503, and recovers', async () => {
    expect(await until(readiness, isReady)).toMatchObject({ status: 'ready' });
    await outage.down();
    const checks = { journal: 'down', clock: 'steady', draining: false };
    expect(await until(readiness, (now) => !isReady(now))).toMatchObject({
      httpStatus: 503,
      status: 'not ready',
      checks,
    });
    const page = await scrape(base());
    expect(page.sum('paygraph_journal_up')).toBe(0);
    // A SQLite file that another process locks can still be read.
    if (harnesses.kind === 'PostgreSQL') expect(page.find('paygraph_unknown_outcomes')).toEqual([]);
    expect(page.sum('paygraph_journal_errors_total')).toBeGreaterThan(0);
    await outage.up();
    await until(readiness, isReady);
    await until(async () => (await scrape(base())).sum('paygraph_journal_up') === 1);
  });

  if (harnesses.kind === 'PostgreSQL')
    test('reports a read-only database with 503, and recovers when the database is writable', async () => {
      const name = new URL(outage.store.url).pathname.slice(1);
      const sessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      const setting = 'default_transaction_read_only';
      await withClient(POSTGRES_URL, (client) => client.query(`ALTER DATABASE ${name} SET ${setting} = on`));
      await outage.store.rows(sessions);
      const down = await until(readiness, ({ checks }) => checks.journalReason === 'read_only');
      expect(down).toMatchObject({ httpStatus: 503, checks: { journal: 'down' } });
      const failures = (await scrape(base())).sum('paygraph_journal_failures_total', { reason: 'read_only' });
      expect(failures).toBeGreaterThan(0);
      await withClient(POSTGRES_URL, (client) => client.query(`ALTER DATABASE ${name} RESET ${setting}`));
      await until(readiness, isReady);
    });

  if (harnesses.kind === 'SQLite')
    test.each(['removed', 'replaced'])(
      'reports a %s journal file with 503, and creates are refused until the original file is back',
      async (how) => {
        const file = outage.store.url.slice('file:'.length);
        const created = newKey();
        const { transactionId } = await harness.create('payment', created);
        const refused = newKey();
        const request = harness.service.requestsTo('create-payment').length;

        renameSync(file, `${file}.original`);
        if (how !== 'removed') writeFileSync(file, '');
        const unavailable = { error: 'SERVICE_UNAVAILABLE', retryable: true };
        expect(await harness.create('payment', refused)).toMatchObject(unavailable);
        expect(await harness.confirm(transactionId!)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
        expect(harness.service.requestsTo('create-payment')).toHaveLength(request);
        expect(harness.service.requestsTo('confirm')).toEqual([]);
        const down = await until(readiness, (now) => !isReady(now));
        expect(down.checks).toMatchObject({ journal: 'down', journalReason: 'file_replaced' });

        rmSync(file, { force: true });
        renameSync(`${file}.original`, file);
        await until(readiness, isReady);
        expect(await harness.create('payment', created)).toMatchObject({ replayed: true, transactionId });
        expect(await harness.create('payment', refused)).toMatchObject({ replayed: false });
      },
    );

  test('reports that the payment service is down, but stays ready', async () => {
    harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '600' } });
    harness.service.plan(() => ({ acts: true, reply: noResponse }));
    const look = (place: number): Promise<unknown> =>
      harness.request(LOOK, { c: CHANNEL, e: `order-${place}` });
    await until(async () => {
      await Promise.all(Array.from({ length: 12 }, (_, place) => look(place)));
      return (await readiness()).checks.service === 'down';
    });
    expect(await readiness()).toMatchObject({ httpStatus: 200, status: 'ready' });
    const page = await scrape(base());
    metricsText = page.text;
    expect(page.sum('paygraph_service_breaker_open', { breaker: 'timeouts' })).toBe(1);
    expect(page.sum('paygraph_service_breaker_open', { breaker: 'failures' })).toBe(0);
    const timeouts = page.sum('paygraph_service_request_duration_seconds_count', { result: 'timeout' });
    expect(timeouts).toBeGreaterThanOrEqual(10);
  });
});

(POSTGRES_URL ? describe : describe.skip)('Two instances with REUSE_PORT=on', () => {
  let programs: Program[];
  let metricsUrls: string[];

  beforeAll(async () => {
    const store = await openStore('PostgreSQL');
    closeAfterTests({ close: () => store.drop() });
    const service = closeAfterTests(await FakePaymentService.start());
    const start = (PORT: string): Promise<Program> =>
      Program.start({
        serviceUrl: service.url,
        databaseUrl: store.url,
        env: { PORT, REUSE_PORT: 'on', METRICS_PORT: '0' },
      });
    const first = await start('0');
    programs = [first, await start(new URL(first.url).port)];
    metricsUrls = programs.map((program) => /"metricsUrl":"([^"]+)"/.exec(program.output())?.[1] ?? '');
  });

  test('share a port, but each serves its own metrics and health checks at its METRICS_PORT', async () => {
    expect(programs[0]!.url).toBe(programs[1]!.url);
    const counts = (): Promise<number[]> =>
      Promise.all(
        metricsUrls.map(async (url) =>
          (await scrape(url)).sum('paygraph_operations_total', { name: 'Look' }),
        ),
      );
    let sent = 0;
    // The kernel chooses an instance for each new connection.
    await until(
      async () => {
        const body = JSON.stringify({ query: LOOK, variables: { c: CHANNEL, e: 'a' } });
        await post(programs[0]!.url, body, { connection: 'close' });
        sent += 1;
        return counts();
      },
      (now) => now.every((count) => count > 0) && now.reduce((sum, count) => sum + count) === sent,
    );
    expect((await raw(programs[0]!.url.replace('/graphql', '/metrics'))).status).toBe(404);
    for (const url of metricsUrls) {
      // A busy machine may have delayed the last check of the journal.
      await until(async () => (await raw(`${url}/readyz`)).status === 200);
      expect((await raw(`${url}/graphql`)).status).toBe(404);
    }
    metricsText = (await scrape(metricsUrls[0]!)).text;
  });

  test('continue to serve on the shared port when one of them exits', async () => {
    programs[0]!.signal('SIGTERM');
    expect(await programs[0]!.exited).toBe(0);
    const key = newKey();
    // On a busy machine the journal may need longer than a create waits for it.
    await until(async () => (await programs[1]!.create('payment', key)).result === 'PaymentSuccess');
  });
});

const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool';

(spawnSync(PROMTOOL, ['--version']).status === 0 ? describe : describe.skip)(
  'promtool (SKIPPED without it: set PROMTOOL)',
  () => {
    test.each([
      ['the metrics page', ['check', 'metrics']],
      ['the alert rules', ['check', 'rules', 'alerts.yml']],
      ['the tests of the alert rules', ['test', 'rules', 'alerts.test.yml']],
      ['the configuration of Prometheus', ['check', 'config', '--syntax-only', 'prometheus.yml']],
    ])('accepts %s', (_what, args) => {
      const cwd = path.resolve(__dirname, '../../deploy/prometheus');
      expect(metricsText).not.toBe('');
      const options = { cwd, input: metricsText, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(PROMTOOL, args, options);
      const warnings = args[1] === 'metrics' ? stdout + stderr : '';
      expect({ status, warnings }).toEqual({ status: 0, warnings: '' });
    });
  },
);
