import { Pool } from 'pg';
import { INDEX_ORDER_OPTIONS } from '../../../src/datasources/journal/postgres/pool';
import type { Store } from '../../support/stores';

interface Generated {
  count: number;
  service: string;
  /** Time in ms from which the attempts are settled, one per ms. */
  settledFrom: number;
}

const COLUMNS = `id, group_id, key, fingerprint, method, external_id, external_id_hash, currency, value, state,
  transaction_id, transaction_hash, status, started_at, settled_at`;

/**
 * Writes succeeded payments of one client and channel, with reservations, directly to the store, because the journal
 * would take minutes. Their keys are numbers, and their ids begin with numbers instead of hashes.
 */
export async function generateAttempts(place: Store, generated: Generated): Promise<void> {
  const { count, service, settledFrom } = generated;
  const isSqlite = place.url.startsWith('file:');
  const numbers = isSqlite
    ? `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count}) SELECT n FROM numbers)`
    : `(SELECT n FROM generate_series(1, ${count}) AS n)`;
  // Sixteen bytes that differ in the first twelve.
  const id = isSqlite
    ? "unhex(printf('%024d00000000', n))"
    : "decode(lpad(n::text, 24, '0') || '00000000', 'hex')";
  await place.rows(`INSERT INTO attempt_groups (service, client, channel, kind)
    VALUES ('${service}', 'shop', 'channel-1', 'payment')`);
  await place.rows(`INSERT INTO stored_attempts (${COLUMNS})
    SELECT ${id}, (SELECT id FROM attempt_groups WHERE service = '${service}'), ${id}, ${id}, 'bank_card', ${id}, n,
      'EUR', '10.00', 's', ${id}, n, 'CHECKOUT', ${settledFrom} + n, ${settledFrom} + n FROM ${numbers} AS numbers`);
  await place.rows(`INSERT INTO reserved_external_ids (service, channel, external_id, attempt_id)
    SELECT '${service}', 'channel-1', ${id}, ${id} FROM ${numbers} AS numbers`);
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

const pools = new WeakMap<Store, Pool>();

/** Returns connections with the planner options of the journal. They do not keep the process running. */
function explainPool(store: Store): Pool {
  const options = { connectionString: store.url, options: INDEX_ORDER_OPTIONS, allowExitOnIdle: true };
  const pool = pools.get(store) ?? new Pool(options).on('error', () => undefined);
  pools.set(store, pool);
  return pool;
}

/**
 * Runs a statement with parameters `?` on PostgreSQL and rolls it back. Returns how many rows it read through indexes,
 * and its number of sequential scans.
 */
export async function rowsRead(store: Store, text: string, values: readonly unknown[]) {
  let count = 0;
  const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text.replaceAll('?', () => `$${(count += 1)}`)}`;
  const client = await explainPool(store).connect();
  await client.query('BEGIN');
  const result = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, [...values]);
  await client.query('ROLLBACK');
  client.release();
  const nodes = planNodes(result.rows[0]!['QUERY PLAN'][0].Plan);
  const rows = nodes
    .filter((node) => node['Node Type'].startsWith('Index'))
    .map((node) => node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)));
  return {
    rows: rows.reduce((sum, read) => sum + read, 0),
    sequentialScans: nodes.filter((node) => node['Node Type'] === 'Seq Scan').length,
  };
}
