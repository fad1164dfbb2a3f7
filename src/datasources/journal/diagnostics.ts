import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { withTimeout } from '../../shared/timeout';
import type { UnknownOutcomeCount } from './journal';
import { compareMigrations } from './migrations';
import { PostgresHostChooser } from './postgres/hosts';
import { PLANNER_OPTIONS } from './postgres/pool';
import { DURABILITY_CONDITION, WRITE_PRIVILEGES_CONDITION } from './postgres/statements';
import { OPEN_ATTEMPT_CONDITION, type Row } from './rows';

/** State of a journal, for `paygraph doctor` and warnings at start-up. Reading it creates no tables or rows. */
export interface JournalFacts {
  /** Migrations of this version that are not applied yet. */
  pendingMigrations: string[];
  /** Migrations that a newer version of the gateway applied. */
  unknownMigrations: string[];
  /**
   * `count` is the number of attempts with an unknown outcome, at all payment services. `oldestStartedAt` is the start
   * time of the oldest of these attempts, in ms since 1970. If there are none, or if migrations are pending, the values
   * are 0 and null.
   */
  unknownOutcomes: Omit<UnknownOutcomeCount, 'kind'>;
}

export interface PostgresFacts extends JournalFacts {
  /** Whether the database user can write the journal or, if migrations are pending, apply them. */
  isWritable: boolean;
  /** server_version_num of PostgreSQL; 160004 means 16.4. */
  serverVersionNumber: number;
  /** Whether LISTEN/NOTIFY works; null on a standby, which does not support LISTEN. */
  canListen: boolean | null;
  /** Whether commits survive a crash of the server (see DURABILITY_CONDITION). */
  isDurable: boolean;
  /** Whether standbys are connected to the server, and all of them are asynchronous. */
  hasOnlyAsynchronousStandbys: boolean;
  /** Whether the database user may call pg_control_system(), which the gateway needs to notice a failover. */
  canNoticeFailover: boolean;
  /** Clock of the database server minus clock of this machine, in ms. */
  clockDifferenceMs: number;
}

const MAX_CLOCK_DIFFERENCE_MS = 5_000;

/**
 * Returns the codes of the server's weaknesses; an empty array if it has none. The gateway logs each code as `reason`
 * at start-up, and `paygraph doctor` uses the same codes for its findings.
 */
export function weaknessCodes(facts: PostgresFacts) {
  const hasWeaknessByCode = {
    journal_not_durable: !facts.isDurable,
    asynchronous_standby: facts.hasOnlyAsynchronousStandbys,
    failover_unnoticed: !facts.canNoticeFailover,
    no_notifications: facts.canListen === false,
    database_clock: Math.abs(facts.clockDifferenceMs) > MAX_CLOCK_DIFFERENCE_MS,
  };
  return (Object.keys(hasWeaknessByCode) as (keyof typeof hasWeaknessByCode)[]).filter(
    (code) => hasWeaknessByCode[code],
  );
}

type RunQuery = (sql: string) => Row[] | Promise<Row[]>;

async function queryFacts(runQuery: RunQuery, hasTables: boolean): Promise<JournalFacts> {
  const rows = hasTables ? await runQuery('SELECT name FROM applied_migrations') : [];
  const migrationFacts = compareMigrations(rows.map(({ name }) => String(name)));
  const [row] =
    migrationFacts.pendingMigrations.length > 0
      ? []
      : await runQuery(`SELECT count(*) AS count, min(started_at) AS oldest FROM stored_attempts
          WHERE ${OPEN_ATTEMPT_CONDITION} AND state = 'u'`);
  const count = Number(row?.['count'] ?? 0);
  return {
    ...migrationFacts,
    unknownOutcomes: { count, oldestStartedAt: count > 0 ? Number(row?.['oldest']) : null },
  };
}

/**
 * Reads the state of a journal in SQLite. Rejects with SQLite's error if the file is missing, locked, not a database or
 * not writable.
 * @param busyTimeoutMs maximum time in ms to wait until another process releases its lock on the file
 */
export async function inspectSqlite(sqlitePath: string, busyTimeoutMs: number): Promise<JournalFacts> {
  using reader = new DatabaseSync(sqlitePath, { readOnly: true, timeout: busyTimeoutMs });
  const runQuery = (sql: string): Row[] => reader.prepare(sql).all();
  const migrationTables = runQuery(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'applied_migrations'",
  );
  const journalFacts = await queryFacts(runQuery, migrationTables.length > 0);
  using writer = new DatabaseSync(sqlitePath, { timeout: busyTimeoutMs });
  writer.exec('BEGIN IMMEDIATE; ROLLBACK');
  return journalFacts;
}

/**
 * Reads the state of a journal in PostgreSQL. Rejects with the error of PostgreSQL or the network; if no host is
 * suitable (see PostgresHostChooser), with a ClassifiedError.
 * @param queryTimeoutMs time limit in ms of connecting, and of each query
 */
export async function inspectPostgres(url: string, queryTimeoutMs: number): Promise<PostgresFacts> {
  const client = new PostgresHostChooser(url).createClient({
    connectionTimeoutMillis: queryTimeoutMs,
    query_timeout: queryTimeoutMs,
    application_name: 'paygraph doctor',
    // These are the gateway's options: if a connection pooler rejects them, inspectPostgres() fails too.
    options: PLANNER_OPTIONS,
  });
  const runQuery = async (sql: string): Promise<Row[]> => (await client.query<Row>(sql)).rows;
  try {
    await client.connect();
    const [server] = await runQuery(`SELECT current_setting('server_version_num') AS version,
      current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() AS "readOnly",
      pg_is_in_recovery() AS standby, ${DURABILITY_CONDITION} AS durable,
      current_setting('synchronous_standby_names') = '' AND EXISTS (SELECT 1 FROM pg_stat_replication
        WHERE state IS DISTINCT FROM 'backup') AS asynchronous,
      has_function_privilege('pg_control_system()', 'EXECUTE') AS control,
      to_regclass('applied_migrations') IS NOT NULL AS "hasTables", extract(epoch FROM clock_timestamp()) * 1000 AS now`);
    const clockDifferenceMs = Number(server?.['now']) - Date.now();
    const facts = await queryFacts(runQuery, server?.['hasTables'] === true);
    const privilegeSql =
      facts.pendingMigrations.length > 0
        ? "has_schema_privilege(current_schema(), 'CREATE')"
        : WRITE_PRIVILEGES_CONDITION;
    const isWritable =
      server?.['readOnly'] !== true && (await runQuery(`SELECT ${privilegeSql} AS may`))[0]?.['may'] === true;
    const canListen = server?.['standby'] === true ? null : await canReceiveNotify(client);
    return {
      ...facts,
      isWritable,
      serverVersionNumber: Number(server?.['version']),
      canListen,
      isDurable: server?.['durable'] === true,
      hasOnlyAsynchronousStandbys: server?.['asynchronous'] === true,
      canNoticeFailover: server?.['control'] === true,
      clockDifferenceMs,
    };
  } finally {
    void client.end().catch(() => undefined);
  }
}

const NOTIFY_TIMEOUT_MS = 3_000;

/**
 * Whether a client receives its own notification. False, for example, if a connection pooler switches between server
 * connections.
 */
async function canReceiveNotify(client: Client): Promise<boolean> {
  const notifyChannel = `paygraph_doctor_${randomBytes(6).toString('hex')}`;
  const notificationReceived = new Promise<void>((resolve) => {
    client.on('notification', (notification) => notification.channel === notifyChannel && resolve());
  });
  try {
    await client.query(`LISTEN ${notifyChannel}`);
    await client.query(`NOTIFY ${notifyChannel}`);
    await withTimeout(NOTIFY_TIMEOUT_MS, notificationReceived);
    return true;
  } catch {
    return false;
  }
}
