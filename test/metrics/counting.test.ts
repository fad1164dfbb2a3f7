import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../audit/support/files';
import { silence, status } from '../exactly-once/service/faults';
import { CHANNEL } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { describeSqlite, newKey, type Rig } from '../exactly-once/support/rig';
import { post } from '../gateway/fixtures/raw';
import { EventStream } from '../live/support/event-stream';
import { scrape, type Scrape } from './support/scrape';

const LOOK = 'query Look($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';
const WATCH = `subscription Watch($c: UUID!, $id: UUID!) {
  paymentUpdated(channel: $c, transactionId: $id) { ... on PaymentResource { status } }
}`;

describeSqlite('What users do is counted', (rigs) => {
  let rig: Rig;
  let auditFolder: string;

  beforeAll(async () => {
    auditFolder = path.join(temporaryFolder(), 'removed');
    mkdirSync(auditFolder);
    const AUDIT_LOG_FILE = path.join(auditFolder, 'audit', 'audit.log');
    rig = await rigs.start({ env: { AUDIT_LOG_FILE, SERVICE_TIMEOUT_MS: '1500' } });
  });

  const page = (of = rig): Promise<Scrape> => scrape(of.parts.gateway.url);
  const look = (externalId: string, of = rig): Promise<unknown> =>
    of.ask(LOOK, { c: CHANNEL, e: externalId });

  /** By how much sums move while something is done. */
  async function moved(
    done: () => Promise<unknown>,
    ...sums: [name: string, labels?: Record<string, string>][]
  ): Promise<number[]> {
    const before = await page();
    await done();
    const after = await page();
    return sums.map(([name, labels]) => after.sum(name, labels) - before.sum(name, labels));
  }

  test('operations by type, name and outcome, and how long they took', async () => {
    const named = { type: 'query', name: 'Look' };
    expect(
      await moved(
        () => look('nothing'),
        ['paygraph_operations_total', { ...named, outcome: 'ok' }],
        ['paygraph_operation_duration_seconds_count', named],
        ['paygraph_service_call_duration_seconds_count', { call: 'lookup_payment', result: 'not_found' }],
      ),
    ).toEqual([1, 1, 1]);
    expect(
      await moved(
        () => rig.ask('query Wrong { nothing }'),
        [
          'paygraph_operations_total',
          { type: 'unknown', name: 'other', outcome: 'GRAPHQL_VALIDATION_FAILED' },
        ],
        ['paygraph_operations_total', { name: 'Wrong' }],
      ),
    ).toEqual([1, 0]);
    expect(
      await moved(
        () => rig.ask('{ __typename }'),
        ['paygraph_operations_total', { type: 'query', name: 'anonymous', outcome: 'ok' }],
      ),
    ).toEqual([1]);
  });

  test('operations that are answered without Apollo count as the others do', async () => {
    const query = 'query Prepared { __typename }';
    const times = async (): Promise<void> => {
      for (let time = 0; time < 6; time += 1) await rig.ask(query);
    };
    const [all, prepared] = await moved(
      times,
      ['paygraph_operations_total', { type: 'query', name: 'Prepared', outcome: 'ok' }],
      ['paygraph_prepared_operations_total'],
    );
    expect(all).toBe(6);
    expect(prepared).toBeGreaterThan(0);
  });

  test.each(['not a name', 'Card4111111111111111', 'n'.repeat(65)])(
    'an operation that does not name itself as one would is not told by it: %s',
    async (operationName) => {
      await post(rig.url, JSON.stringify({ query: 'query Fine { __typename }', operationName }));
      await rig.ask(`query ${operationName} { __typename }`);
      expect((await page()).text).not.toContain(operationName);
    },
  );

  test('calls that move money, by result, and what the journal did for them', async () => {
    const key = newKey();
    const call = 'createPayment';
    const twice = async (): Promise<void> => {
      await rig.create('payment', key);
      await rig.create('payment', key);
    };
    expect(
      await moved(
        twice,
        ['paygraph_money_calls_total', { call, outcome: 'PaymentSuccess', replayed: 'false' }],
        ['paygraph_money_calls_total', { call, outcome: 'PaymentSuccess', replayed: 'true' }],
        ['paygraph_service_call_duration_seconds_count', { call: 'create_payment', result: 'ok' }],
        ['paygraph_journal_call_duration_seconds_count', { call: 'begin' }],
        ['paygraph_journal_errors_total'],
      ),
    ).toEqual([1, 1, 1, 2, 0]);
  });

  test('lookups that are tried again', async () => {
    rig.service.next('look-up-payment', { acts: true, reply: status(503) });
    expect(
      await moved(
        () => look('again'),
        ['paygraph_service_retries_total'],
        ['paygraph_service_call_duration_seconds_count', { call: 'lookup_payment', result: 'server_error' }],
      ),
    ).toEqual([1, 1]);
  });

  test('credentials that the service refuses', async () => {
    rig.service.next('create-payout', { acts: false, reply: status(401) });
    expect(
      await moved(
        () => rig.create('payout', newKey()),
        ['paygraph_service_unauthorized_total'],
        ['paygraph_money_calls_total', { call: 'createPayout', outcome: 'AUTH_FAILED' }],
      ),
    ).toEqual([1, 1]);
  });

  test('how far the clock of the service is, once calls have to be signed by it', async () => {
    expect((await page()).sum('paygraph_service_clock_skew_seconds')).toBe(0);
    rig.service.clockOffsetMs = 3_600_000;
    await look('late');
    const { samples } = await page();
    const { value = 0 } = samples.find(({ name }) => name === 'paygraph_service_clock_skew_seconds') ?? {};
    expect(Math.round(value / 60)).toBe(60);
    rig.service.clockOffsetMs = 0;
    await look('early');
  });

  test('callers who are not known', async () => {
    const stranger = (): Promise<unknown> =>
      fetch(rig.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(await moved(stranger, ['paygraph_refused_total', { reason: 'unauthenticated' }])).toEqual([1]);
  });

  test('watchers, their connections and the looks at what they watch', async () => {
    const { transactionId } = await rig.create('payment', newKey());
    const before = await page();
    const stream = await EventStream.open(`${rig.url}/stream`, {
      query: WATCH,
      operationName: 'Watch',
      variables: { c: CHANNEL, id: transactionId },
    });
    const watched = await until(
      () => page(),
      (now) => now.sum('paygraph_watch_looks_total', { kind: 'payment', result: 'found' }) > 0,
    );
    expect(before.sum('paygraph_watchers')).toBe(0);
    expect(watched.sum('paygraph_watchers')).toBe(1);
    expect(watched.sum('paygraph_watchers_max')).toBe(10_000);
    expect(watched.sum('paygraph_live_connections', { transport: 'sse' })).toBe(1);
    expect(watched.sum('paygraph_connections')).toBeGreaterThan(0);
    stream.leave();
    const left = await until(
      () => page(),
      (now) => now.sum('paygraph_watchers') === 0,
    );
    const ended = { type: 'subscription', name: 'Watch', outcome: 'ok' };
    expect(left.sum('paygraph_operations_total', ended)).toBe(1);
  });

  test('calls that are not on record', async () => {
    rmSync(auditFolder, { recursive: true });
    expect(await moved(() => rig.create('payment', newKey()), ['paygraph_audit_gaps_total'])).toEqual([1]);
  });

  test('outcomes that nobody knows, how old they are, and what following them up finds', async () => {
    const other = await rigs.start();
    const key = newKey();
    const gone = { acts: true, reply: silence };
    other.service.next('create-payment', gone);
    other.service.plan((purpose) =>
      purpose === 'look-up-payment' ? { acts: true, reply: status(404) } : undefined,
    );
    expect((await page(other)).sum('paygraph_unknown_outcomes')).toBe(0);
    expect(await other.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    other.clock.advance(20_000);
    const unknown = await until(
      () => page(other),
      (now) => now.sum('paygraph_follow_ups_total', { kind: 'payment', result: 'missing' }) > 0,
    );
    expect(unknown.sum('paygraph_unknown_outcomes', { kind: 'payment' })).toBe(1);
    expect(unknown.sum('paygraph_unknown_outcomes', { kind: 'payout' })).toBe(0);
    const age = { kind: 'payment' };
    expect(unknown.sum('paygraph_unknown_outcome_oldest_age_seconds', age)).toBeGreaterThanOrEqual(20);
    expect(unknown.sum('paygraph_unknown_outcome_oldest_age_seconds', { kind: 'payout' })).toBe(0);
    expect(unknown.sum('paygraph_reconciler_rounds_total', { result: 'done' })).toBeGreaterThan(0);
    other.service.plan(() => undefined);
    // Once: a claim that runs out while its look is under way is followed up by another one.
    other.clock.advance(60_000);
    const known = await until(
      () => page(other),
      (now) => now.sum('paygraph_unknown_outcomes') === 0,
    );
    expect(known.sum('paygraph_follow_ups_total', { kind: 'payment', result: 'found' })).toBeGreaterThan(0);
    expect(known.sum('paygraph_unknown_outcome_oldest_age_seconds')).toBe(0);
  });

  test('callers who ask too much', async () => {
    const other = await rigs.start({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
    for (let time = 0; time < 5; time += 1) await look('much', other);
    const now = await page(other);
    expect(now.sum('paygraph_refused_total', { reason: 'rate_limited' })).toBe(3);
    expect(now.sum('paygraph_operations_total')).toBe(2);
  });

  test('of callers who invent names only so many are told apart', async () => {
    const letters = 'abcdefghijklmnop';
    const names = [...letters].flatMap((a) => [...letters].map((b) => `invented_${a}${b}`));
    const other = { type: 'query', name: 'other', outcome: 'ok' };
    const [others = 0] = await moved(async () => {
      for (const name of names) await rig.ask(`query ${name} { __typename }`);
    }, ['paygraph_operations_total', other]);
    const shown = (await page()).values('paygraph_operations_total', 'name');
    expect(shown.size).toBeLessThanOrEqual(202);
    expect(others).toBeGreaterThanOrEqual(names.length - 200);
    // Who came first keeps its name.
    expect(shown).toContain('Look');
  });
});
