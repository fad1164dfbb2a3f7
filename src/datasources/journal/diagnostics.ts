import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { withTimeout } from '../../shared/timeout';
import { compareMigrations } from './migrations';
import { PostgresHosts } from './postgres/hosts';
import { CONNECTION_OPTIONS } from './postgres/pool';
import { MAY_WRITE } from './postgres/statements';
import { OPEN } from './rows';

/** State of a journal for `paygraph doctor`, read without creating tables or writing rows. */
export interface JournalState {
  pendingMigrations: string[];
  /** Migrations of a newer version. */
  unknownMigrations: string[];
  /** Whether the gateway's user may write. */
  isWritable: boolean;
  /** Creates of unknown outcome, of every service. */
  unknown: { count: number; oldestStartedAt: number | null };
}

export interface PostgresState extends JournalState {
  /** As in server_version_num: 160004 is 16.4. */
  version: number;
  /** Whether NOTIFY reaches LISTEN; null on a standby, which does not support LISTEN. */
  canListen: boolean | null;
}

type Rows = Record<string, unknown>[];
type Query = (sql: string) => Rows | Promise<Rows>;

async function readState(query: Query, hasTables: boolean): Promise<Omit<JournalState, 'isWritable'>> {
  const rows = hasTables ? await query('SELECT name FROM applied_migrations') : [];
  const [unknown] =
    rows.length === 0
      ? []
      : await query(`SELECT count(*) AS count, min(started_at) AS oldest FROM attempts
          WHERE ${OPEN} AND outcome = 'unknown'`);
  const count = Number(unknown?.['count'] ?? 0);
  return {
    ...compareMigrations(rows.map(({ name }) => String(name))),
    unknown: { count, oldestStartedAt: count > 0 ? Number(unknown?.['oldest']) : null },
  };
}

/**
 * Rejects with the SQLite error when the file is no database or is locked.
 * @param busyMs how long to wait for a process that locks the file
 */
export async function inspectSqlite(file: string, busyMs: number): Promise<JournalState> {
  using database = new DatabaseSync(file, { readOnly: true, timeout: busyMs });
  const query = (sql: string): Rows => database.prepare(sql).all();
  const table = query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'applied_migrations'");
  return { ...(await readState(query, table.length > 0)), isWritable: canWrite(file, busyMs) };
}

const SQLITE_BUSY = 5;

function canWrite(file: string, busyMs: number): boolean {
  try {
    using database = new DatabaseSync(file, { timeout: busyMs });
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) throw error;
    return false;
  }
}

/**
 * Rejects with the error of PostgreSQL or the network.
 * @param deadlineMs time limit of connecting and of each query
 */
export async function inspectPostgres(url: string, deadlineMs: number): Promise<PostgresState> {
  const client = new PostgresHosts(url).client({
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
    application_name: 'paygraph doctor',
    // As the gateway connects: a pooler may reject it.
    options: CONNECTION_OPTIONS,
  });
  const query = async (sql: string): Promise<Rows> => (await client.query<Rows[number]>(sql)).rows;
  try {
    await client.connect();
    const [server] = await query(`SELECT current_setting('server_version_num') AS version,
      current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() AS "readOnly",
      pg_is_in_recovery() AS standby,
      to_regclass('applied_migrations') IS NOT NULL AS "hasTables"`);
    const state = await readState(query, server?.['hasTables'] === true);
    const privilege =
      state.pendingMigrations.length > 0 ? "has_schema_privilege(current_schema(), 'CREATE')" : MAY_WRITE;
    const isWritable =
      server?.['readOnly'] !== true && (await query(`SELECT ${privilege} AS may`))[0]?.['may'] === true;
    const canListen = server?.['standby'] === true ? null : await canReceiveNotify(client);
    return { ...state, isWritable, version: Number(server?.['version']), canListen };
  } finally {
    void client.end().catch(() => undefined);
  }
}

const NOTIFY_TIMEOUT_MS = 3_000;

/** False behind a pooler that uses another connection for each transaction. */
async function canReceiveNotify(client: Client): Promise<boolean> {
  const channel = `paygraph_doctor_${randomBytes(6).toString('hex')}`;
  const received = new Promise<void>((resolve) => {
    client.on('notification', (message) => message.channel === channel && resolve());
  });
  try {
    await client.query(`LISTEN ${channel}`);
    await client.query(`NOTIFY ${channel}`);
    await withTimeout(NOTIFY_TIMEOUT_MS, received);
    return true;
  } catch {
    return false;
  }
}
