import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { STEP_NAMES } from './migrations';
import { PostgresHosts } from './postgres/hosts';
import { CONNECTION_OPTIONS } from './postgres/pool';
import { MAY_WRITE } from './postgres/statements';
import { OPEN } from './rows';

/** A journal as it stands, looked at from outside: no table is made, no row is written. */
export interface JournalState {
  /** Steps that the tables still lack, and steps taken there that this version does not know. */
  pendingMigrations: string[];
  unknownMigrations: string[];
  /** Whether the gateway's user may write; null where it cannot be told, as there are no tables yet. */
  isWritable: boolean | null;
  /** Creates of unknown outcome, of every service. */
  unknown: { count: number; oldestStartedAt: number | null };
}

/** What only PostgreSQL has. */
export interface PostgresState extends JournalState {
  /** As in server_version_num: 160004 is 16.4. */
  version: number;
  /** Whether what an instance tells is heard by those that listen; null on a standby, which takes no LISTEN. */
  canListen: boolean | null;
}

type Rows = Record<string, unknown>[];
type Ask = (sql: string) => Rows | Promise<Rows>;

const UNKNOWN = `SELECT count(*) AS count, min(started_at) AS oldest FROM attempts
  WHERE ${OPEN} AND outcome = 'unknown'`;

async function readState(ask: Ask, hasTables: boolean): Promise<Omit<JournalState, 'isWritable'>> {
  const taken = hasTables
    ? (await ask('SELECT name FROM applied_migrations')).map(({ name }) => String(name))
    : [];
  const pendingMigrations = STEP_NAMES.filter((name) => !taken.includes(name));
  const unknownMigrations = taken.filter((name) => !STEP_NAMES.includes(name));
  const [row] = taken.length > 0 ? await ask(UNKNOWN) : [];
  const oldest = row?.['oldest'] ?? null;
  return {
    pendingMigrations,
    unknownMigrations,
    unknown: { count: Number(row?.['count'] ?? 0), oldestStartedAt: oldest === null ? null : Number(oldest) },
  };
}

/**
 * Looks at a SQLite file. Whether it can be written is found out with a transaction that is begun, holds nothing and is
 * rolled back at once. Throws what SQLite says where the file is none of its own, or is locked.
 * @param busyMs how long another process may hold the file
 */
export async function inspectSqlite(file: string, busyMs: number): Promise<JournalState> {
  using database = new DatabaseSync(file, { readOnly: true, timeout: busyMs });
  const ask = (sql: string): Rows => database.prepare(sql).all();
  const hasTables =
    ask("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'applied_migrations'").length > 0;
  return { ...(await readState(ask, hasTables)), isWritable: canBeWritten(file, busyMs) };
}

const SQLITE_BUSY = 5;

function canBeWritten(file: string, busyMs: number): boolean {
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
 * Looks at a PostgreSQL database, over one connection of its own. Rejects with what PostgreSQL or the network says.
 * @param deadlineMs how long connecting, and each question, may take
 */
export async function inspectPostgres(url: string, deadlineMs: number): Promise<PostgresState> {
  const client = new PostgresHosts(url).client({
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
    application_name: 'paygraph doctor',
    // As the gateway connects: a pooler in between may refuse it.
    options: CONNECTION_OPTIONS,
  });
  const ask = async (sql: string): Promise<Rows> => (await client.query<Rows[number]>(sql)).rows;
  try {
    await client.connect();
    const [about] = await ask(`SELECT current_setting('server_version_num') AS version,
      current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() AS "readOnly",
      pg_is_in_recovery() AS standby,
      to_regclass('applied_migrations') IS NOT NULL AS "hasTables"`);
    const state = await readState(ask, about?.['hasTables'] === true);
    const isWritable = about?.['readOnly'] === true ? false : await mayWrite(ask, state.pendingMigrations);
    return {
      ...state,
      isWritable,
      version: Number(about?.['version']),
      canListen: about?.['standby'] === true ? null : await canReceiveNotify(client),
    };
  } finally {
    void client.end().catch(() => undefined);
  }
}

async function mayWrite(ask: Ask, pendingMigrations: readonly string[]): Promise<boolean> {
  const sql =
    pendingMigrations.length > 0
      ? "SELECT has_schema_privilege(current_schema(), 'CREATE') AS may"
      : `SELECT ${MAY_WRITE} AS may`;
  const [row] = await ask(sql);
  return row?.['may'] === true;
}

/** A pooler that gives every transaction another connection passes on no notification. Nobody else uses the channel. */
const HEARD_WITHIN_MS = 3_000;

async function canReceiveNotify(client: Client): Promise<boolean> {
  const channel = `paygraph_doctor_${randomBytes(6).toString('hex')}`;
  const heard = Promise.withResolvers<boolean>();
  client.on('notification', (message) => heard.resolve(message.channel === channel));
  const patience = setTimeout(() => heard.resolve(false), HEARD_WITHIN_MS);
  try {
    await client.query(`LISTEN ${channel}`);
    await client.query(`NOTIFY ${channel}`);
    return await heard.promise;
  } catch {
    return false;
  } finally {
    clearTimeout(patience);
  }
}
