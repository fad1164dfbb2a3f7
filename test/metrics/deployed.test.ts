import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { silence, status } from '../exactly-once/service/faults';
import { CHANNEL, createInput } from '../exactly-once/support/caller';
import { describeSqlite, newKey } from '../exactly-once/support/rig';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { CLIENT_KEY } from '../support/credentials';
import { scrape, type Scrape } from './support/scrape';

const ROOT = path.resolve(__dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The promtool that is there; undefined where there is none. */
const PROMTOOL = [process.env['PROMTOOL'] ?? 'promtool'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { uid: string };
  targets?: { expr: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

const dashboard = JSON.parse(read('deploy/grafana/paygraph.json')) as {
  title: string;
  uid: string;
  templating: { list: { name: string; type: string; query: unknown }[] };
  panels: Panel[];
};

const METRIC = /\b(?:paygraph|process|nodejs)_\w+/g;

/** The metrics that an expression names, as the page has them: without what a histogram adds. */
const metricsIn = (text: string, types: ReadonlyMap<string, string>): string[] =>
  (text.match(METRIC) ?? []).map((name) =>
    types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
  );

const LOOK = 'query Busy($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';
const PAN = '4111111111111111';

describeSqlite('After a busy run', (rigs) => {
  let page: Scrape;
  const secrets = [API_KEY, SECRET_KEY, CLIENT_KEY, PAN, 'service:test', 'ann@example.com', CHANNEL];

  beforeAll(async () => {
    const rig = await rigs.start();
    const note = (...texts: (string | null | undefined)[]): void =>
      texts.forEach((text) => text && secrets.push(text));
    for (const kind of ['payment', 'payout'] as const) {
      const key = newKey();
      const end = await rig.create(kind, key);
      note(key, end.transactionId, end.externalId);
      await rig.create(kind, key);
    }
    const { transactionId } = await rig.create('payment', newKey());
    await rig.confirm(String(transactionId));
    note(transactionId);
    rig.service.next('create-payment', { acts: false, reply: silence });
    rig.service.next('look-up-payment', { acts: false, reply: status(401) });
    await rig.create('payment', newKey());
    const e = `order ${randomUUID()}`;
    note(e);
    await rig.ask(LOOK, { c: CHANNEL, e });
    await rig.ask(`query { payment(channel: "${PAN}") { __typename } }`);
    await rig.ask(`query Q${PAN} { __typename }`);
    await rig.ask('mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }', {
      input: createInput('payment', newKey(), { description: PAN }),
    });
    page = await scrape(rig.parts.gateway.url);
  });

  test('nothing secret, no id and nothing of a payer is on the page', () => {
    expect(page.sum('paygraph_operations_total')).toBeGreaterThan(8);
    for (const secret of secrets) expect(page.text).not.toContain(secret);
    expect(page.text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/i);
    const values = page.samples.flatMap(({ labels }) => Object.values(labels)).join('\n');
    expect(values).not.toMatch(/10\.00|INR|@|127\.0\.0\.1/);
  });

  test('the values of labels are few', () => {
    for (const { name, labels } of page.samples)
      for (const [label, value] of Object.entries(labels)) {
        const isPlain = /^[\w.+-]{1,40}$/.test(value);
        expect({ name, label, value, isPlain }).toMatchObject({ isPlain: true });
      }
    expect(page.samples.length).toBeLessThan(1500);
  });

  test('names end as Prometheus wants it: counters in _total, durations in _seconds', () => {
    for (const [name, type] of page.types) {
      expect({ name, total: name.endsWith('_total') }).toEqual({ name, total: type === 'counter' });
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });

  test('docs/observability.md has every metric of the page, with its type, and no other', () => {
    const rows = [
      ...read('docs/observability.md').matchAll(/^\| `((?:paygraph|process|nodejs)_\w+)` +\| (\w+) /gm),
    ];
    const documented = Object.fromEntries(rows.map(([, name, type]) => [name, type]));
    expect(documented).toEqual(Object.fromEntries(page.types));
  });

  test.each(rules.map(({ alert, expr }) => [alert, expr] as const))(
    'every metric of the alert %s is on the page',
    (_alert, expr) => {
      const named = metricsIn(expr, page.types);
      if (!/\bup\{/.test(expr)) expect(named).not.toEqual([]);
      expect(named.filter((name) => !page.types.has(name))).toEqual([]);
    },
  );

  test('every metric of the dashboard is on the page, and every metric of ours is on the dashboard', () => {
    const named = new Set(
      dashboard.panels.flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) => metricsIn(expr, page.types)),
      ),
    );
    expect([...named].filter((name) => !page.types.has(name))).toEqual([]);
    const ours = [...page.types.keys()].filter((name) => name.startsWith('paygraph_'));
    expect(ours.filter((name) => !named.has(name))).toEqual([]);
  });

  test('every metric that the runbook names is on the page', () => {
    const named = metricsIn(read('docs/runbook.md'), page.types);
    expect(named.filter((name) => !page.types.has(name))).toEqual([]);
  });

  withPromtool('promtool finds nothing wrong with the page', () => {
    expect(promtool(['check', 'metrics'], page.text)).toEqual({ status: 0, said: '' });
  });
});

describe('Alerts', () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))('%s says all that it has to', (alert, rule) => {
    expect(alert).toMatch(/^Paygraph[A-Z]\w+$/);
    expect(rule.for).toMatch(/^\d+m$/);
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    expect(Object.keys(rule.annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(rule.annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  });

  test('and the runbook have the same names', () => {
    const sections = [...read('docs/runbook.md').matchAll(/^## (Paygraph\w+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  test('each section says what it means, who is hurt, how to look and mend, and what never to do', () => {
    const sections = read('docs/runbook.md')
      .split(/^## (?=Paygraph)/m)
      .slice(1);
    for (const section of sections) {
      const steps = [...section.matchAll(/^- \*\*(\w+)\.?\*\*/gm)].map(([, step]) => step);
      expect([section.split('\n')[0], ...steps]).toEqual([
        section.split('\n')[0],
        'Means',
        'Hurt',
        'Look',
        'Mend',
        'Never',
      ]);
    }
  });

  test('every link of the runbook leads somewhere', () => {
    const text = read('docs/runbook.md');
    const anchors = [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (target.startsWith('#')) expect(anchors).toContain(target.slice(1));
      else
        expect({ target, exists: existsSync(path.join(ROOT, 'docs', target.replace(/#.*/, ''))) }).toEqual({
          target,
          exists: true,
        });
    }
  });

  withPromtool('promtool takes the rules, and they fire when they should', () => {
    const inRules = (file: string): string => path.join(ROOT, 'deploy/prometheus', file);
    expect(promtool(['check', 'rules', inRules('alerts.yml')]).status).toBe(0);
    expect(promtool(['test', 'rules', inRules('alerts.test.yml')])).toMatchObject({ status: 0 });
    expect(promtool(['check', 'config', '--syntax-only', inRules('prometheus.yml')]).status).toBe(0);
  });
});

describe('The dashboard', () => {
  test('asks for its data source, and every panel uses that', () => {
    expect(dashboard).toMatchObject({ title: 'paygraph', uid: 'paygraph' });
    expect(dashboard.templating.list[0]).toMatchObject({
      name: 'datasource',
      type: 'datasource',
      query: 'prometheus',
    });
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    for (const { title, datasource } of panels)
      expect({ title, uid: datasource?.uid }).toEqual({ title, uid: '${datasource}' });
  });

  test('has a row for each part, and panels that do not lie upon each other', () => {
    const { panels } = dashboard;
    const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual(['Traffic', 'Money', 'Service', 'Journal', 'Live', 'Process']);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
    expect(new Set(places).size).toBe(places.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });
});

/** A test that needs promtool: PROMTOOL, or the one on the PATH. */
function withPromtool(name: string, run: () => void): void {
  if (PROMTOOL !== undefined) return test(name, run);
  console.warn(`SKIPPED: "${name}". There is no promtool: set PROMTOOL, or put it on the PATH.`);
  test.skip(`${name} (SKIPPED, no promtool)`, run);
}

function promtool(args: string[], input = ''): { status: number | null; said: string } {
  const done = spawnSync(PROMTOOL!, args, { input, encoding: 'utf8' });
  return { status: done.status, said: done.stdout + done.stderr };
}
