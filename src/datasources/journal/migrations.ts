/** Column types by dialect: a number that increases with every row, a time in milliseconds, and bytes. */
const COLUMN_TYPES = {
  sqlite: { sequence: 'INTEGER PRIMARY KEY AUTOINCREMENT', time: 'INTEGER', filler: 'BLOB' },
  postgres: { sequence: 'BIGSERIAL PRIMARY KEY', time: 'BIGINT', filler: 'TEXT' },
} as const;

type Dialect = keyof typeof COLUMN_TYPES;

export interface MigrationStore {
  dialect: Dialect;
  execute(sql: string): Promise<Record<string, unknown>[]>;
}

interface Migration {
  name: string;
  sql(dialect: Dialect): string[];
}

/** SQL of the tables; `$sequence`, `$time` and `$filler` stand for the column types of the dialect. */
const TABLES = [
  `CREATE TABLE attempts (
       seq $sequence,
       id TEXT NOT NULL UNIQUE,
       service TEXT NOT NULL,
       client TEXT NOT NULL,
       key TEXT NOT NULL,
       kind TEXT NOT NULL,
       fingerprint TEXT NOT NULL,
       channel TEXT NOT NULL,
       method TEXT NOT NULL,
       external_id TEXT NOT NULL,
       currency TEXT NOT NULL,
       value TEXT NOT NULL,
       shown TEXT NOT NULL,
       outcome TEXT NOT NULL,
       transaction_id TEXT,
       status TEXT,
       owner TEXT NOT NULL,
       lease_until $time NOT NULL,
       started_at $time NOT NULL,
       service_started_at $time,
       send_until $time NOT NULL,
       settled_at $time,
       next_check_at $time,
       checks INTEGER NOT NULL DEFAULT 0,
       absent_lookups INTEGER NOT NULL DEFAULT 0,
       absent_ms $time NOT NULL DEFAULT 0,
       absent_observer TEXT NOT NULL DEFAULT '',
       UNIQUE (service, client, key)
     )`,
  `CREATE TABLE reservations (
       service TEXT NOT NULL,
       channel TEXT NOT NULL,
       external_id TEXT NOT NULL,
       attempt_id TEXT NOT NULL,
       PRIMARY KEY (service, channel, external_id)
     )`,
  `CREATE TABLE confirms (
       service TEXT NOT NULL,
       channel TEXT NOT NULL,
       transaction_id TEXT NOT NULL,
       id TEXT NOT NULL UNIQUE,
       owner TEXT NOT NULL,
       lease_until $time NOT NULL,
       suspect INTEGER NOT NULL DEFAULT 0,
       input_hash TEXT NOT NULL,
       suspect_hashes TEXT NOT NULL DEFAULT '',
       PRIMARY KEY (service, channel, transaction_id)
     )`,
  `CREATE TABLE confirmed (
       service TEXT NOT NULL,
       channel TEXT NOT NULL,
       transaction_id TEXT NOT NULL,
       input_hash TEXT NOT NULL,
       status TEXT NOT NULL,
       confirmed_at $time NOT NULL,
       PRIMARY KEY (service, channel, transaction_id, input_hash)
     )`,
  // Has no foreign key to attempts, because an attempt may be purged while a proposal names it.
  `CREATE TABLE settlement_proposals (
       id TEXT NOT NULL,
       attempt_id TEXT NOT NULL,
       service TEXT NOT NULL,
       outcome TEXT NOT NULL,
       transaction_id TEXT,
       status TEXT,
       reason TEXT NOT NULL,
       proposed_by TEXT NOT NULL,
       sudo_user TEXT,
       given_name TEXT,
       proposed_at $time NOT NULL,
       expires_at $time NOT NULL,
       PRIMARY KEY (id, attempt_id)
     )`,
  // Has one row, which is rewritten to check whether the journal can be written.
  `CREATE TABLE write_checks (
       id INTEGER PRIMARY KEY,
       checked_at $time NOT NULL,
       filler $filler NOT NULL
     )`,
];

/** One row. `identity` identifies the database that the journal was last written to; empty if unknown. */
const JOURNAL_STATE = `CREATE TABLE journal_state (
       id INTEGER PRIMARY KEY,
       identity TEXT NOT NULL,
       fence_since $time NOT NULL,
       fence_reason TEXT NOT NULL
     )`;

const FIRST_STATE = {
  sqlite: "INSERT INTO journal_state (id, identity, fence_since, fence_reason) VALUES (1, '', 0, '')",
  postgres:
    "INSERT INTO journal_state (id, identity, fence_since, fence_reason) VALUES (1, journal_identity(), 0, '')",
};

/**
 * The server and its timeline, which changes when a standby is promoted or a backup is restored, and the table, which
 * changes when a dump is restored. Only the table if the user may not read the others, or the database has none.
 */
const POSTGRES_IDENTITY = `CREATE FUNCTION journal_identity() RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
     BEGIN
       RETURN concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
         left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), 'attempts'::regclass::oid);
     EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
       RETURN '//' || 'attempts'::regclass::oid;
     END $$`;

const INDEXES = [
  `CREATE INDEX attempts_open ON attempts (outcome, lease_until) WHERE outcome IN ('in_progress', 'unknown')`,
  `CREATE INDEX attempts_open_by_external_id ON attempts (external_id, channel)
     WHERE outcome IN ('in_progress', 'unknown')`,
  'CREATE INDEX attempts_settled ON attempts (settled_at) WHERE settled_at IS NOT NULL',
  // Includes the client, so that no row of another client is read.
  'CREATE INDEX attempts_by_transaction ON attempts (transaction_id, client) WHERE transaction_id IS NOT NULL',
  // These two end with the order of lists, so that a page with any filters is an index range. They do not begin with
  // service and client, because a planner without statistics would use them instead of the index of keys.
  'CREATE INDEX attempts_by_start ON attempts (channel, service, client, kind, outcome, started_at, seq)',
  `CREATE INDEX attempts_by_external_id
     ON attempts (external_id, client, channel, service, kind, outcome, started_at, seq)`,
  'CREATE INDEX confirmed_by_time ON confirmed (confirmed_at)',
];

/**
 * Functions that SQLite does not need, because it has one writer at a time. A PostgreSQL statement reads the snapshot
 * of its start, but a volatile function reads the current one. Therefore `attempt_is_open` sees what other instances
 * committed while the statement waited for their locks. `attempts_with_transaction_of_another` returns the ids of the
 * candidates whose transaction another attempt created. If several candidates name one transaction, it omits the one
 * that already has it, else the oldest open one. It locks transactions before it reads, so that no two attempts become
 * the creator of one; no caller holds row locks while it waits. OFFSET 0 keeps a planner without statistics from
 * reading all attempts of the service.
 */
const POSTGRES_ONLY = [
  `CREATE FUNCTION attempt_is_open(attempt TEXT) RETURNS BOOLEAN LANGUAGE sql VOLATILE AS $$
     SELECT EXISTS (
       SELECT 1 FROM attempts WHERE id = attempt AND outcome IN ('in_progress', 'succeeded', 'unknown'))
   $$`,
  `CREATE FUNCTION attempts_with_transaction_of_another(candidates JSONB) RETURNS SETOF TEXT LANGUAGE plpgsql VOLATILE AS $$
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended(transaction_id, 0)) FROM (
       SELECT DISTINCT transaction_id FROM jsonb_to_recordset(candidates) AS x(transaction_id TEXT)
       WHERE transaction_id IS NOT NULL ORDER BY transaction_id) AS locked;
     RETURN QUERY SELECT mine.id FROM (
       SELECT attempts.id, service, kind, x.transaction_id, row_number() OVER (
           PARTITION BY service, kind, x.transaction_id
           ORDER BY attempts.transaction_id IS NOT DISTINCT FROM x.transaction_id DESC,
             outcome IN ('in_progress', 'unknown') DESC, seq) AS place
       FROM jsonb_to_recordset(candidates) AS x(id TEXT, transaction_id TEXT) JOIN attempts USING (id)
       WHERE x.transaction_id IS NOT NULL) AS mine
     LEFT JOIN LATERAL (
       SELECT other.id FROM (SELECT * FROM attempts WHERE transaction_id = mine.transaction_id OFFSET 0) AS other
       WHERE other.service = mine.service AND other.kind = mine.kind AND other.id <> mine.id
       LIMIT 1) AS holder ON TRUE
     WHERE mine.place > 1 OR holder.id IS NOT NULL;
   END $$`,
  // Stored uncompressed, because a compressed filler would need almost no space.
  'ALTER TABLE write_checks ALTER COLUMN filler SET STORAGE EXTERNAL',
];

/**
 * Migrations in the order of application. Never change a released migration; add another one. The first one replaces
 * the nine from before the first release. It has the name of the last of these, so that it is not applied after them.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    name: '0009-write-checks',
    sql: (dialect) => {
      const { sequence, time, filler } = COLUMN_TYPES[dialect];
      const tables = TABLES.map((text) =>
        text.replace('$sequence', sequence).replaceAll('$time', time).replace('$filler', filler),
      );
      return [...tables, ...INDEXES, ...(dialect === 'postgres' ? POSTGRES_ONLY : [])];
    },
  },
  {
    name: '0010-journal-state',
    sql: (dialect) => {
      const table = JOURNAL_STATE.replace('$time', COLUMN_TYPES[dialect].time);
      return [table, ...(dialect === 'postgres' ? [POSTGRES_IDENTITY] : []), FIRST_STATE[dialect]];
    },
  },
];

/** Compares a journal's applied migrations with those of this version. */
export function compareMigrations(applied: readonly string[]) {
  const names = MIGRATIONS.map(({ name }) => name);
  const last = names.at(-1) ?? '';
  return {
    pendingMigrations: names.filter((name) => !applied.includes(name)),
    /** Migrations that a newer version of the gateway applied. */
    unknownMigrations: applied.filter((name) => name > last),
  };
}

/** Applies pending migrations and returns their names. Only one process at a time may call this. */
export async function migrate({ dialect, execute }: MigrationStore): Promise<string[]> {
  await execute('CREATE TABLE IF NOT EXISTS applied_migrations (name TEXT PRIMARY KEY)');
  const rows = await execute('SELECT name FROM applied_migrations');
  const { pendingMigrations } = compareMigrations(rows.map(({ name }) => String(name)));
  for (const { name, sql } of MIGRATIONS.filter((each) => pendingMigrations.includes(each.name))) {
    for (const statement of sql(dialect)) await execute(statement);
    await execute(`INSERT INTO applied_migrations (name) VALUES ('${name}')`);
  }
  return pendingMigrations;
}
