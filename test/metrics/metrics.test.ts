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

  test('without METRICS_TOKEN is allowed on this machine, in the format of Prometheus', async () => {
    const { status: code, text, type } = await ask(open);
    expect([code, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('# TYPE paygraph_operations_total counter');
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
    for (const authorization of ['Basic eDp5', `Bearer ${TOKEN}`]) {
      const { status: code, text } = await ask(open, { [name]: value, authorization });
      expect(code).toBe(403);
      expect(text).not.toContain('paygraph_');
    }
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
    'without METRICS_TOKEN is refused from another address of this machine',
    async () => {
      const { port } = new URL(open);
      expect((await ask(`http://${address}:${port}`, { host: 'localhost' })).status).toBe(403);
    },
  );

  test('with METRICS_TOKEN is allowed with the token, also through a proxy; the token gives no other rights', async () => {
    const authorization = `Bearer ${TOKEN}`;
    const headers = { authorization, 'x-forwarded-for': '203.0.113.7', host: 'gateway.example' };
    expect((await ask(guarded, headers)).status).toBe(200);
    const response = await post(`${guarded}/graphql`, '{"query":"{ __typename }"}', { authorization });
    expect(response.status).toBe(401);
  });

  test.each([undefined, `Bearer ${TOKEN}x`, TOKEN])(
    'with METRICS_TOKEN is refused even on this machine with Authorization: %s',
    async (authorization) => {
      const { status: code, text } = await ask(guarded, authorization === undefined ? {} : { authorization });
      expect(code).toBe(403);
      expect(text).not.toContain('paygraph_');
    },
  );

  test('has no rate limit', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(open)));
    expect(responses.map((response) => response.status)).toEqual(Array(20).fill(200));
  });
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

  /** Runs an action. Returns by how much each of these sums has grown. */
  async function growth(
    action: () => Promise<unknown>,
    ...sums: [name: string, labels?: Record<string, string>][]
  ): Promise<number[]> {
    const before = await page();
    await action();
    const after = await page();
    return sums.map(([name, labels]) => after.sum(name, labels) - before.sum(name, labels));
  }

  test('count operations by type, name and outcome, with their durations', async () => {
    const named = { type: 'query', name: 'Look' };
    expect(
      await growth(
        () => look('nothing'),
        ['paygraph_operations_total', { ...named, outcome: 'ok' }],
        ['paygraph_operation_duration_seconds_count', named],
        ['paygraph_service_request_duration_seconds_count', { call: 'lookup_payment', result: 'not_found' }],
      ),
    ).toEqual([1, 1, 1]);
    const invalid = { type: 'unknown', name: 'other', outcome: 'GRAPHQL_VALIDATION_FAILED' };
    const anonymous = { type: 'query', name: 'anonymous', outcome: 'ok' };
    const both = async (): Promise<void> => {
      await harness.request('query Wrong { nothing }');
      await harness.request('{ __typename }');
    };
    expect(
      await growth(
        both,
        ['paygraph_operations_total', invalid],
        ['paygraph_operations_total', { name: 'Wrong' }],
        ['paygraph_operations_total', anonymous],
      ),
    ).toEqual([1, 0, 1]);
  });

  test('count compiled operations like other operations', async () => {
    for (let time = 0; time < 6; time += 1) await harness.request('query Prepared { __typename }');
    const now = await page();
    expect(now.sum('paygraph_operations_total', { name: 'Prepared', outcome: 'ok' })).toBe(6);
    expect(now.sum('paygraph_compiled_operations_total')).toBeGreaterThan(0);
  });

  test.each(['Card4111111111111111', 'n'.repeat(65)])(
    'do not show an unusual operation name: %s',
    async (operationName) => {
      await post(harness.url, JSON.stringify({ query: 'query Fine { __typename }', operationName }));
      await harness.request(`query ${operationName} { __typename }`);
      expect((await page()).text).not.toContain(operationName);
    },
  );

  test('count creates and confirms by result, and their journal calls', async () => {
    const key = newKey();
    const call = 'createPayment';
    const twice = async (): Promise<void> => {
      await harness.create('payment', key);
      await harness.create('payment', key);
    };
    expect(
      await growth(
        twice,
        ['paygraph_mutations_total', { call, outcome: 'PaymentSuccess', replayed: 'false' }],
        ['paygraph_mutations_total', { call, outcome: 'PaymentSuccess', replayed: 'true' }],
        ['paygraph_service_request_duration_seconds_count', { call: 'create_payment', result: 'ok' }],
        ['paygraph_journal_call_duration_seconds_count', { call: 'insertAttempt' }],
        ['paygraph_journal_errors_total'],
      ),
    ).toEqual([1, 1, 1, 2, 0]);
  });

  test('count retried lookups, rejections of the gateway’s credentials, and unauthenticated requests', async () => {
    harness.service.next('look-up-payment', { acts: true, reply: status(503) });
    harness.service.next('create-payout', { acts: false, reply: status(401) });
    const failing = async (): Promise<void> => {
      await look('again');
      await harness.create('payout', newKey());
      await post(harness.url, '{}', { authorization: 'Bearer nobody' });
    };
    expect(
      await growth(
        failing,
        ['paygraph_service_retries_total'],
        [
          'paygraph_service_request_duration_seconds_count',
          { call: 'lookup_payment', result: 'server_error' },
        ],
        ['paygraph_service_unauthorized_total'],
        ['paygraph_mutations_total', { call: 'createPayout', outcome: 'AUTH_FAILED' }],
        ['paygraph_requests_rejected_total', { reason: 'unauthenticated' }],
      ),
    ).toEqual([1, 1, 1, 1, 1]);
  });

  test('show the clock skew of the service, once requests are signed by its clock', async () => {
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
    const create = (): Promise<unknown> => harness.create('payment', newKey());
    expect(await growth(create, ['paygraph_audit_gaps_total'])).toEqual([1]);
  });

  test('show unknown outcomes, their age, and the results of rechecks', async () => {
    const other = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '600' } });
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
    const names = letters.flatMap((a) => letters.map((b) => `invented_${a}${b}`));
    const [others = 0] = await growth(async () => {
      for (const name of names) await harness.request(`query ${name} { __typename }`);
    }, ['paygraph_operations_total', { type: 'query', name: 'other', outcome: 'ok' }]);
    const shown = (await page()).values('paygraph_operations_total', 'name');
    expect(shown.size).toBeLessThanOrEqual(202);
    expect(others).toBeGreaterThanOrEqual(names.length - 200);
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
  templating: { list: object[] };
  panels: { type: string; title: string; datasource?: { uid: string }; targets?: { expr: string }[] }[];
};

describeSqlite('The metrics page', (harnesses) => {
  let page: Scrape;
  const PAN = '4111111111111111';
  const secrets = [API_KEY, SECRET_KEY, CLIENT_KEY, PAN, 'service:test', 'ann@example.com', CHANNEL];

  beforeAll(async () => {
    const harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '600' } });
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
  const unknownIn = (text: string): string[] => metricsIn(text).filter((name) => !page.types.has(name));

  test('contains no secret, id, amount or personal data', () => {
    expect(page.sum('paygraph_operations_total')).toBeGreaterThan(8);
    for (const secret of secrets) expect(page.text).not.toContain(secret);
    expect(page.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/i);
    const values = page.samples.flatMap(({ labels }) => Object.values(labels)).join('\n');
    expect(values).not.toMatch(/10\.00|INR|@|127\.0\.0\.1/);
  });

  test('has few and short label values', () => {
    for (const { name, labels } of page.samples)
      for (const [label, value] of Object.entries(labels))
        expect([name, label, value]).toEqual([name, label, expect.stringMatching(/^[\w.+-]{1,40}$/)]);
    expect(page.samples.length).toBeLessThan(1500);
  });

  test('names counters with _total and durations with _seconds', () => {
    for (const [name, type] of page.types) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
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

  test('has every metric that the alerts and the runbook use', () => {
    for (const { expr } of rules) {
      if (!/\bup\{/.test(expr)) expect(metricsIn(expr)).not.toEqual([]);
      expect(unknownIn(expr)).toEqual([]);
    }
    expect(unknownIn(read('docs/runbook.md'))).toEqual([]);
  });

  test('has every metric that the dashboard uses, and the dashboard shows every metric of the gateway', () => {
    const text = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    expect(unknownIn(text)).toEqual([]);
    const shown = new Set(metricsIn(text));
    const own = [...page.types.keys()].filter((name) => name.startsWith('paygraph_'));
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('Alerts', () => {
  test.each(rules)('have a duration, a severity and a section of the runbook: $alert', (rule) => {
    expect(rule.for).toMatch(/^\d+m$/);
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    expect(Object.keys(rule.annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(rule.annotations.runbook_url).toBe(`docs/runbook.md#${rule.alert.toLowerCase()}`);
  });

  test('have one section each in the runbook, all with the same parts', () => {
    const sections = read('docs/runbook.md')
      .split(/^## (?=Paygraph)/m)
      .slice(1);
    expect(sections.map((section) => section.split('\n')[0]).sort()).toEqual(
      rules.map(({ alert }) => alert).sort(),
    );
    const parts = sections.map((section) => section.match(/^- \*\*\w+/gm)?.join());
    expect(new Set(parts).size).toBe(1);
    expect(parts[0]?.split(',').length).toBeGreaterThan(3);
  });
});

describe('The dashboard', () => {
  test('has a variable for its data source, which every panel uses', () => {
    const variable = { name: 'datasource', type: 'datasource', query: 'prometheus' };
    expect(dashboard.templating.list[0]).toMatchObject(variable);
    for (const { title, type, datasource } of dashboard.panels)
      if (type !== 'row') expect([title, datasource?.uid]).toEqual([title, '${datasource}']);
  });
});
