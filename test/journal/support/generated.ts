import type { Store } from '../../support/stores';

interface Generated {
  count: number;
  service: string;
  /** Time in ms after which the attempts (succeeded payments of one client and channel) are settled, one per ms. */
  settledFrom: number;
  /** Whether each attempt has a reservation. */
  reserve?: boolean;
}

const COLUMNS = `id, service, client, key, kind, fingerprint, channel, method, external_id, currency, value, shown,
  outcome, transaction_id, status, owner, lease_until, started_at, send_until, settled_at`;

/** Writes settled attempts directly to the store, because the journal would take minutes. */
export async function generateAttempts(place: Store, generated: Generated): Promise<void> {
  const { count, service, settledFrom, reserve = false } = generated;
  const isSqlite = place.url.startsWith('file:');
  const numbers = isSqlite
    ? `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count}) SELECT n FROM numbers)`
    : `(SELECT n FROM generate_series(1, ${count}) AS n)`;
  const name = (prefix: string): string => `'${service} ${prefix} ' || n`;
  await place.rows(`INSERT INTO attempts (${COLUMNS})
    SELECT ${name('id')}, '${service}', 'shop', ${name('key')}, 'payment', 'f1', 'channel-1', 'bank_card',
      ${name('order')}, 'EUR', '10.00', '{}', 'succeeded', ${name('tx')}, 'CHECKOUT', 'instance-1', 0,
      ${settledFrom} + n, ${settledFrom} + n, ${settledFrom} + n
    FROM ${numbers} AS numbers`);
  if (!reserve) return;
  await place.rows(`INSERT INTO reservations (service, channel, external_id, attempt_id)
    SELECT '${service}', 'channel-1', ${name('order')}, ${name('id')} FROM ${numbers} AS numbers`);
}

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Returns all nodes of a PostgreSQL plan in the format of EXPLAIN (FORMAT JSON). */
const planNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(planNodes)];

/** Returns how many rows a statement read through indexes, and its number of sequential scans. */
export function rowsRead(plan: unknown): { rows: number; sequentialScans: number } {
  const [{ Plan }] = plan as [{ Plan: PlanNode }];
  const nodes = planNodes(Plan);
  const rows = nodes
    .filter((node) => node['Node Type'].startsWith('Index'))
    .map((node) => node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)));
  return {
    rows: rows.reduce((sum, count) => sum + count, 0),
    sequentialScans: nodes.filter((node) => node['Node Type'] === 'Seq Scan').length,
  };
}
