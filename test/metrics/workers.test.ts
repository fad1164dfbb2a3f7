import { FaultyService } from '../exactly-once/service/faulty-service';
import { CHANNEL } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { describeSqlite, newKey } from '../exactly-once/support/rig';
import { openStore } from '../exactly-once/support/stores';
import { status } from '../exactly-once/service/faults';
import { EventStream } from '../live/support/event-stream';
import { WorkersGateway } from '../workers/support/gateway';
import { scrape, type Scrape } from './support/scrape';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const LOOK = 'query Look($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';
const WATCH = `subscription ($c: UUID!, $id: UUID!) {
  paymentUpdated(channel: $c, transactionId: $id) { ... on PaymentResource { status } }
}`;
const LOOKED = { type: 'query', name: 'Look', outcome: 'ok' };

describeSqlite('Two workers', (rigs) => {
  let service: FaultyService;
  let gateway: WorkersGateway;

  beforeAll(async () => {
    const store = await openStore('SQLite');
    rigs.closeAtEnd(() => store.drop());
    service = await FaultyService.start();
    rigs.closeAtEnd(() => service.close());
    const env = { SERVICE_TIMEOUT_MS: '3000', WATCH_PACE_PAYER: '24h' };
    gateway = await WorkersGateway.start(2, { serviceUrl: service.url, databaseUrl: store.url, env });
    rigs.closeAtEnd(() => gateway.kill());
  });

  const page = (): Promise<Scrape> => scrape(gateway.base);

  test('show one page, whichever of them is asked: what each has counted is added up', async () => {
    const lines = await gateway.lines();
    for (const line of lines) for (const e of ['a', 'b', 'c']) await line.ask(LOOK, { c: CHANNEL, e });
    // Connections are dealt out in turn.
    for (const shown of [await page(), await page(), await page()]) {
      expect(shown.sum('paygraph_operations_total', LOOKED)).toBe(6);
      expect(shown.sum('paygraph_operation_duration_seconds_count', { name: 'Look' })).toBe(6);
      expect(shown.sum('paygraph_processes')).toBe(2);
      expect(shown.sum('paygraph_watchers_max')).toBe(20_000);
      expect(shown.sum('paygraph_journal_up')).toBe(1);
      const { value: seconds = 0 } = shown.find('paygraph_time_seconds')[0] ?? {};
      expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(600);
    }
  });

  test('watchers are added up, and what the journal says is not', async () => {
    const lines = await gateway.lines();
    const key = newKey();
    const { transactionId } = await lines[0].create('payment', newKey());
    for (const line of lines) {
      await EventStream.open(
        `${line.url}/stream`,
        { query: WATCH, variables: { c: CHANNEL, id: transactionId } },
        { agent: line.agent },
      );
    }
    const others = await gateway.lines();
    service.plan((purpose) =>
      purpose === 'create-payout' || purpose === 'look-up-payout'
        ? { acts: false, reply: status(purpose === 'create-payout' ? 500 : 404) }
        : undefined,
    );
    expect(await others[0].create('payout', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    const shown = await until(page, (now) => now.sum('paygraph_watchers') === 2);
    expect(shown.sum('paygraph_unknown_outcomes', { kind: 'payout' })).toBe(1);
    expect(shown.sum('paygraph_unknown_outcome_oldest_age_seconds', { kind: 'payment' })).toBe(0);
  });

  test('what a worker had counted stays when it ends, and the one in its place counts on', async () => {
    const before = await page();
    const [first] = gateway.pids;
    process.kill(first!, 'SIGKILL');
    await until(
      () => gateway.pids,
      (pids) => pids.length > 2,
    );
    const after = await until(page, (now) => now.sum('paygraph_processes') === 2);
    expect(after.sum('paygraph_operations_total', LOOKED)).toBe(6);
    for (const name of ['paygraph_operations_total', 'paygraph_service_call_duration_seconds_bucket'])
      expect(after.sum(name)).toBeGreaterThanOrEqual(before.sum(name));
    for (const line of await gateway.lines()) await line.ask(LOOK, { c: CHANNEL, e: 'd' });
    expect((await page()).sum('paygraph_operations_total', LOOKED)).toBe(8);
  });
});
