import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { temporaryFolder } from '../audit/support/files';
import { EventStream } from '../subscriptions/support/event-stream';
import { codesIn, readPage, type Row } from '../docs/support/markdown';
import { CHANNEL } from '../support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { until } from '../support/latch';
import { API_KEY, SECRET_KEY, testGateway, testService } from '../support/gateway';
import { noResponse, status } from '../support/payment-service/faults';
import type { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { post } from '../support/raw';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { exchange } from '../support/wire';
import { ask, scrape, type Scrape } from './support/scrape';

const TOKEN = 'metrics-token-0123456789';
const ROOT = path.resolve(__dirname, '../..');
const LOOK = 'query Look($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('Access to /metrics', () => {
  let service: FakePaymentService;
  let open: string;
  let guarded: string;

  const start = async (env: Record<string, string>): Promise<string> =>
    (await testGateway(service.url, { env })).gateway.url;

  beforeAll(async () => {
    service = await testService();
    open = await start({ TRUSTED_PROXIES: '127.0.0.1', HOST: '0.0.0.0', RATE_LIMIT_PER_MINUTE: '1' });
    open = open.replace('0.0.0.0', '127.0.0.1');
    guarded = await start({ METRICS_TOKEN: TOKEN });
  });

  test('without METRICS_TOKEN is allowed from the same machine, without a rate limit', async () => {
    for (const _ of [1, 2]) {
      const { status: code, text, type } = await ask(open);
      expect([code, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
      expect(text).toContain('# TYPE paygraph_operations_total counter');
    }
  });

  test.each([
    ['X-Forwarded-For', '127.0.0.1'],
    ['Forwarded', 'for=127.0.0.1'],
    ['Via', '1.1 proxy'],
    ['X-Real-IP', '127.0.0.1'],
    ['CDN-Loop', 'cdn'],
    ['Host', 'gateway.example'],
    ['Host', 'gateway.example@localhost'],
  ])('without METRICS_TOKEN is refused (403) if the request has the header %s: %s', async (name, value) => {
    const { status: code, text } = await ask(open, { [name]: value, authorization: `Bearer ${TOKEN}` });
    expect(code).toBe(403);
    expect(text).not.toContain('paygraph_');
  });

  test.each([
    ['HTTP/1.0', ['GET /metrics HTTP/1.0', 'Host: localhost']],
    ['an absolute URL', ['GET http://gateway.example/metrics HTTP/1.1', 'Host: localhost']],
    ['two Host headers', ['GET /metrics HTTP/1.1', 'Host: localhost', 'Host: gateway.example']],
  ])('without METRICS_TOKEN is refused if the request has %s, like that of a proxy', async (_what, lines) => {
    const { status: code, body } = await exchange(open, lines);
    expect([400, 403]).toContain(code);
    expect(body).not.toContain('paygraph_');
  });

  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === 'IPv4')?.address;

  (address === undefined ? test.skip : test)(
    'without METRICS_TOKEN is refused from a non-loopback address of the same machine',
    async () => {
      const { port } = new URL(open);
      expect((await ask(`http://${address}:${port}`, { host: 'localhost' })).status).toBe(403);
    },
  );

  test('with METRICS_TOKEN is allowed for a request with the token, which gives no access to /graphql', async () => {
    const authorization = `Bearer ${TOKEN}`;
    const headers = { authorization, 'x-forwarded-for': '203.0.113.7', host: 'gateway.example' };
    expect((await ask(guarded, headers)).status).toBe(200);
    const response = await post(`${guarded}/graphql`, '{"query":"{ __typename }"}', { authorization });
    expect(response.status).toBe(401);
  });

  test.each<Record<string, string>>([{}, { authorization: `Bearer ${TOKEN}x` }, { authorization: TOKEN }])(
    'with METRICS_TOKEN is refused without the exact token, even from the same machine (headers %j)',
    async (headers) => {
      const { status: code, text } = await ask(guarded, headers);
      expect(code).toBe(403);
      expect(text).not.toContain('paygraph_');
    },
  );
});

describeSqlite('Metrics', (harnesses) => {
  let harness: Harness;
  let auditFolder: string;

  beforeAll(async () => {
    auditFolder = path.join(temporaryFolder(), 'removed');
    mkdirSync(auditFolder);
    const AUDIT_LOG_FILE = path.join(auditFolder, 'audit', 'audit.log');
    harness = await harnesses.start({ env: { AUDIT_LOG_FILE, SERVICE_TIMEOUT_MS: '1500' } });
  });

  const page = (of = harness): Promise<Scrape> => scrape(of.parts.gateway.url);
  const pageWith = (isGood: (now: Scrape) => boolean, of = harness): Promise<Scrape> =>
    until(() => page(of), isGood);
  const look = (externalId: string, of = harness): Promise<unknown> =>
    of.request(LOOK, { c: CHANNEL, e: externalId });

  type Growth = [by: number, name: string, labels?: Record<string, string>];

  /** Runs an action, and expects that these sums grow by these numbers. */
  async function expectGrowth(action: () => Promise<unknown>, sums: Growth[]): Promise<void> {
    const before = await page();
    await action();
    const after = await page();
    const grown = sums.map(([, ...of]) => [after.sum(...of) - before.sum(...of), ...of]);
    expect(grown).toEqual(sums);
  }

  const OPERATIONS = 'paygraph_operations_total';
  const REQUESTS = 'paygraph_service_request_duration_seconds_count';

  test('count operations by type, name and outcome, with their durations', async () => {
    const named = { type: 'query', name: 'Look' };
    await expectGrowth(async () => {
      await look('nothing');
      await harness.request('query Wrong { nothing }');
      await harness.request('{ __typename }');
    }, [
      [1, OPERATIONS, { ...named, outcome: 'ok' }],
      [1, 'paygraph_operation_duration_seconds_count', named],
      [1, REQUESTS, { call: 'lookup_payment', result: 'not_found' }],
      [1, OPERATIONS, { type: 'unknown', name: 'other', outcome: 'GRAPHQL_VALIDATION_FAILED' }],
      [0, OPERATIONS, { name: 'Wrong' }],
      [1, OPERATIONS, { type: 'query', name: 'anonymous', outcome: 'ok' }],
    ]);
  });

  test('count compiled operations like other operations', async () => {
    for (let time = 0; time < 6; time += 1) await harness.request('query Prepared { __typename }');
    const now = await page();
    expect(now.sum('paygraph_operations_total', { name: 'Prepared', outcome: 'ok' })).toBe(6);
    expect(now.sum('paygraph_compiled_operations_total')).toBeGreaterThan(0);
  });

  test.each(['Card4111111111111111', 'n'.repeat(65)])(
    'do not show an operation name that contains a card number or is too long: %s',
    async (operationName) => {
      await post(harness.url, JSON.stringify({ query: 'query Fine { __typename }', operationName }));
      await harness.request(`query ${operationName} { __typename }`);
      expect((await page()).text).not.toContain(operationName);
    },
  );

  test('count creates by result and replay, and their journal calls', async () => {
    const key = newKey();
    const created = { call: 'createPayment', outcome: 'PaymentSuccess' };
    await expectGrowth(async () => {
      await harness.create('payment', key);
      await harness.create('payment', key);
    }, [
      [1, 'paygraph_mutations_total', { ...created, replayed: 'false' }],
      [1, 'paygraph_mutations_total', { ...created, replayed: 'true' }],
      [1, REQUESTS, { call: 'create_payment', result: 'ok' }],
      [2, 'paygraph_journal_call_duration_seconds_count', { call: 'insertAttempt' }],
      [0, 'paygraph_journal_errors_total'],
    ]);
  });

  test('count retried lookups, rejections of the gateway’s credentials, and unauthenticated requests', async () => {
    harness.service.next('look-up-payment', { acts: true, reply: status(503) });
    harness.service.next('create-payout', { acts: false, reply: status(401) });
    await expectGrowth(async () => {
      await look('again');
      await harness.create('payout', newKey());
      await post(harness.url, '{}', { authorization: 'Bearer nobody' });
    }, [
      [1, 'paygraph_service_retries_total'],
      [1, REQUESTS, { call: 'lookup_payment', result: 'server_error' }],
      [1, 'paygraph_service_unauthorized_total'],
      [1, 'paygraph_mutations_total', { call: 'createPayout', outcome: 'AUTH_FAILED' }],
      [1, 'paygraph_requests_rejected_total', { reason: 'unauthenticated' }],
    ]);
  });

  test('show the clock skew of the service once requests are signed by its clock', async () => {
    expect((await page()).sum('paygraph_service_clock_skew_seconds')).toBe(0);
    harness.service.clockOffsetMs = 3_600_000;
    await look('late');
    const skew = (await page()).sum('paygraph_service_clock_skew_seconds');
    expect(Math.round(skew / 60)).toBe(60);
    harness.service.clockOffsetMs = 0;
    await look('early');
  });

  test('count subscriptions, their connections and their lookups', async () => {
    const { transactionId } = await harness.create('payment', newKey());
    const before = await page();
    const stream = await EventStream.open(`${harness.url}/stream`, {
      query: `subscription Watch($c: UUID!, $id: UUID!) {
        paymentUpdated(channel: $c, transactionId: $id) { ... on PaymentResource { status } } }`,
      operationName: 'Watch',
      variables: { c: CHANNEL, id: transactionId },
    });
    const watched = await pageWith(
      (now) => now.sum('paygraph_polls_total', { kind: 'payment', result: 'found' }) > 0,
    );
    expect(before.sum('paygraph_subscriptions')).toBe(0);
    expect(watched.sum('paygraph_subscriptions')).toBe(1);
    expect(watched.sum('paygraph_subscriptions_max')).toBe(10_000);
    expect(watched.sum('paygraph_subscription_connections', { transport: 'sse' })).toBe(1);
    expect(watched.sum('paygraph_connections')).toBeGreaterThan(0);
    stream.disconnect();
    const left = await pageWith((now) => now.sum('paygraph_subscriptions') === 0);
    const ended = { type: 'subscription', name: 'Watch', outcome: 'ok' };
    expect(left.sum('paygraph_operations_total', ended)).toBe(1);
  });

  test('count calls that are missing from the audit log', async () => {
    rmSync(auditFolder, { recursive: true });
    await expectGrowth(() => harness.create('payment', newKey()), [[1, 'paygraph_audit_gaps_total']]);
  });

  test('show unknown outcomes, their age, and the results of recovery lookups', async () => {
    const other = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '2000' } });
    other.service.next('create-payment', { acts: true, reply: noResponse });
    other.service.plan((purpose) =>
      purpose === 'look-up-payment' ? { acts: true, reply: status(404) } : undefined,
    );
    expect((await page(other)).sum('paygraph_unknown_outcomes')).toBe(0);
    expect(await other.create('payment', newKey())).toMatchObject({ result: 'OutcomeUnknownError' });
    other.clock.advance(20_000);
    const [payment, payout] = [{ kind: 'payment' }, { kind: 'payout' }];
    const unknown = await pageWith(
      (now) => now.sum('paygraph_reconciliations_total', { ...payment, result: 'missing' }) > 0,
      other,
    );
    const AGE = 'paygraph_unknown_outcome_oldest_age_seconds';
    expect(unknown.sum('paygraph_unknown_outcomes', payment)).toBe(1);
    expect(unknown.sum('paygraph_unknown_outcomes', payout)).toBe(0);
    expect(unknown.sum(AGE, payment)).toBeGreaterThanOrEqual(20);
    expect(unknown.sum(AGE, payout)).toBe(0);
    expect(unknown.sum('paygraph_reconciler_runs_total', { result: 'done' })).toBeGreaterThan(0);
    other.service.plan(() => undefined);
    other.clock.advance(60_000);
    const known = await pageWith(
      (now) =>
        now.sum('paygraph_unknown_outcomes') === 0 &&
        now.sum('paygraph_reconciliations_total', { ...payment, result: 'found' }) > 0,
      other,
    );
    expect(known.sum(AGE)).toBe(0);
  });

  test('count requests that the rate limit refused', async () => {
    const other = await harnesses.start({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
    for (let time = 0; time < 5; time += 1) await look('much', other);
    const now = await page(other);
    expect(now.sum('paygraph_requests_rejected_total', { reason: 'rate_limited' })).toBe(3);
    expect(now.sum('paygraph_operations_total')).toBe(2);
  });

  test('show only the first 200 operation names', async () => {
    const letters = [...'abcdefghijklmno'];
    for (const name of letters.flatMap((a) => letters.map((b) => `invented_${a}${b}`)))
      await harness.request(`query ${name} { __typename }`);
    const now = await page();
    const shown = new Set(now.find(OPERATIONS).map(({ labels }) => labels['name']));
    expect(shown.size).toBeLessThanOrEqual(202);
    expect(now.sum(OPERATIONS, { type: 'query', name: 'other', outcome: 'ok' })).toBeGreaterThanOrEqual(25);
    expect(shown).toContain('Look');
  });
});

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana/paygraph.json')) as {
  panels: { targets?: { expr: string }[] }[];
};

describeSqlite('The metrics page', (harnesses) => {
  let page: Scrape;
  const PAN = '4111111111111111';
  const secrets = [API_KEY, SECRET_KEY, CLIENT_KEY, PAN, 'service:test', 'ann@example.com', CHANNEL];

  beforeAll(async () => {
    const harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '2000' } });
    for (const kind of ['payment', 'payout'] as const) {
      const key = newKey();
      const { transactionId, externalId } = await harness.create(kind, key);
      secrets.push(key, String(transactionId), String(externalId));
      await harness.create(kind, key);
      if (kind === 'payment') await harness.confirm(String(transactionId));
    }
    harness.service.next('create-payment', { acts: false, reply: noResponse });
    harness.service.next('look-up-payment', { acts: false, reply: status(401) });
    await harness.create('payment', newKey());
    const e = `order ${randomUUID()}`;
    secrets.push(e);
    await harness.request(LOOK, { c: CHANNEL, e });
    await harness.request(`query { payment(channel: "${PAN}") { __typename } }`);
    await harness.request(`query Q${PAN} { __typename }`);
    await harness.create('payment', newKey(), { description: PAN });
    page = await scrape(harness.parts.gateway.url);
  });

  /** Returns the metric names in a text, without the suffixes of histograms. */
  const metricsIn = (text: string): string[] =>
    (text.match(/\b(?:paygraph|process|nodejs)_\w+/g) ?? []).map((name) =>
      page.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
    );

  test('contains no secret, id, amount or personal data', () => {
    expect(page.sum('paygraph_operations_total')).toBeGreaterThan(8);
    for (const secret of secrets) expect(page.text).not.toContain(secret);
    expect(page.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/i);
    const values = page.samples.flatMap(({ labels }) => Object.values(labels));
    expect(values.join('\n')).not.toMatch(/10\.00|INR|127\.0\.0\.1/);
    expect(values.filter((value) => !/^[\w.+-]{1,40}$/.test(value))).toEqual([]);
  });

  test('has the metrics of docs/observability.md with their types, and no others', () => {
    const typesOf = ({ columns, cells }: Row): [name: string, type: string][] => {
      const type = cells[columns.indexOf('type')] ?? '';
      const names = codesIn(cells[columns.findIndex((column) => /^metrics?$/.test(column))]);
      return names.map((name) => [name, type]);
    };
    const documented = readPage('docs/observability.md').rows.flatMap(typesOf);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(page.types));
    expect(documented.length).toBe(page.types.size);
  });

  test('has every metric that the alerts, the runbook and the dashboard use, and the dashboard uses every metric of the gateway', () => {
    for (const { expr } of rules) if (!/\bup\{/.test(expr)) expect(metricsIn(expr)).not.toEqual([]);
    const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    for (const text of [...rules.map(({ expr }) => expr), read('docs/runbook.md'), shown])
      expect(metricsIn(text).filter((name) => !page.types.has(name))).toEqual([]);
    const own = [...page.types.keys()].filter((name) => name.startsWith('paygraph_'));
    expect(metricsIn(shown)).toEqual(expect.arrayContaining(own));
  });
});

test('Each alert has a duration, a severity, texts and a section of the runbook, and all sections have the same parts', () => {
  for (const { alert, annotations, ...rule } of rules) {
    const severity = expect.stringMatching(/^(critical|warning)$/) as unknown;
    expect(rule).toMatchObject({ for: expect.stringMatching(/^\d+m$/) as unknown, labels: { severity } });
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(annotations['runbook_url']).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  }
  const [, ...sections] = read('docs/runbook.md').split(/^## (?=Paygraph)/m);
  expect(sections.map((section) => section.split('\n')[0]).sort()).toEqual(
    rules.map(({ alert }) => alert).sort(),
  );
  const [parts, ...otherParts] = new Set(sections.map((section) => section.match(/^- \*\*\w+/gm)?.join()));
  expect(otherParts).toEqual([]);
  expect(parts?.split(',').length).toBeGreaterThan(3);
});
