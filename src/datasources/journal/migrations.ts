import { Umzug } from 'umzug';

/** The types of a number that grows with every row, and of a time in milliseconds. */
const TYPES = {
  sqlite: { sequence: 'INTEGER PRIMARY KEY AUTOINCREMENT', time: 'INTEGER' },
  postgres: { sequence: 'BIGSERIAL PRIMARY KEY', time: 'BIGINT' },
} as const;

/** What a store has to offer for its tables to be made. */
export interface MigrationStore {
  dialect: keyof typeof TYPES;
  /** @param isSlow whether the statement takes longer the larger the table is */
  execute(sql: string, isSlow?: boolean): Promise<Record<string, unknown>[]>;
}

interface MigrationStep {
  name: string;
  sql(dialect: MigrationStore['dialect']): string[];
  /** Whether its statements take longer the larger the table is. */
  isSlow?: boolean;
}

/** The tables, step by step. A step that has been released is never changed. */
const STEPS: readonly MigrationStep[] = [
  {
    name: '0001-attempts',
    sql: (dialect) => {
      const { sequence, time } = TYPES[dialect];
      return [
        `CREATE TABLE attempts (
         seq ${sequence},
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
         lease_until ${time} NOT NULL,
         started_at ${time} NOT NULL,
         send_until ${time} NOT NULL,
         settled_at ${time},
         next_check_at ${time},
         checks INTEGER NOT NULL DEFAULT 0,
         UNIQUE (service, client, key)
       )`,
        `CREATE INDEX attempts_open ON attempts (outcome, lease_until) WHERE outcome IN ('in_progress', 'unknown')`,
        'CREATE INDEX attempts_by_transaction ON attempts (transaction_id) WHERE transaction_id IS NOT NULL',
        // Not beginning with service and client: a planner without statistics would take it for the key's own index.
        'CREATE INDEX attempts_by_client ON attempts (channel, service, client, seq)',
        'CREATE INDEX attempts_settled ON attempts (settled_at) WHERE settled_at IS NOT NULL',
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
         lease_until ${time} NOT NULL,
         suspect INTEGER NOT NULL DEFAULT 0,
         PRIMARY KEY (service, channel, transaction_id)
       )`,
      ];
    },
  },
  {
    name: '0002-attempt-is-open',
    // A statement of PostgreSQL sees what was there when it began. A volatile function looks anew whenever it is
    // asked: also at what another instance wrote while the statement waited for it.
    sql: (dialect) =>
      dialect === 'sqlite'
        ? []
        : [
            `CREATE FUNCTION attempt_is_open(attempt TEXT) RETURNS BOOLEAN LANGUAGE sql VOLATILE AS $$
               SELECT EXISTS (
                 SELECT 1 FROM attempts WHERE id = attempt AND outcome IN ('in_progress', 'succeeded', 'unknown'))
             $$`,
          ],
  },
  {
    name: '0003-absence',
    sql: (dialect) => {
      const { time } = TYPES[dialect];
      return [
        `ALTER TABLE attempts ADD COLUMN service_started_at ${time}`,
        'ALTER TABLE attempts ADD COLUMN absent_lookups INTEGER NOT NULL DEFAULT 0',
        `ALTER TABLE attempts ADD COLUMN absent_ms ${time} NOT NULL DEFAULT 0`,
        "ALTER TABLE attempts ADD COLUMN absent_observer TEXT NOT NULL DEFAULT ''",
        `CREATE INDEX attempts_open_by_external_id ON attempts (external_id, channel)
           WHERE outcome IN ('in_progress', 'unknown')`,
      ];
    },
  },
  {
    name: '0004-settlement-proposals',
    // No reference to attempts: an attempt may be purged while a proposal names it.
    sql: (dialect) => [
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
         proposed_at ${TYPES[dialect].time} NOT NULL,
         expires_at ${TYPES[dialect].time} NOT NULL,
         PRIMARY KEY (id, attempt_id)
       )`,
    ],
  },
  {
    name: '0005-confirmed',
    sql: (dialect) => [
      `CREATE TABLE confirmed (
         service TEXT NOT NULL,
         channel TEXT NOT NULL,
         transaction_id TEXT NOT NULL,
         input_hash TEXT NOT NULL,
         status TEXT NOT NULL,
         confirmed_at ${TYPES[dialect].time} NOT NULL,
         PRIMARY KEY (service, channel, transaction_id, input_hash)
       )`,
      'CREATE INDEX confirmed_by_time ON confirmed (confirmed_at)',
      // Of a confirm that was begun before this step the input is not known.
      "ALTER TABLE confirms ADD COLUMN input_hash TEXT NOT NULL DEFAULT 'unknown'",
      "ALTER TABLE confirms ADD COLUMN suspect_hashes TEXT NOT NULL DEFAULT ''",
    ],
  },
  {
    name: '0006-transactions-by-client',
    // The client is a part of the index: of what other clients created no row is read.
    sql: () => [
      'DROP INDEX attempts_by_transaction',
      `CREATE INDEX attempts_by_transaction ON attempts (transaction_id, client)
         WHERE transaction_id IS NOT NULL`,
    ],
    isSlow: true,
  },
  {
    name: '0007-attempt-lists',
    isSlow: true,
    // Both end with the order of lists, so that a page of any combination of filters is a range of an index.
    sql: () => [
      'CREATE INDEX attempts_by_start ON attempts (channel, service, client, kind, outcome, started_at, seq)',
      'DROP INDEX attempts_by_client',
      `CREATE INDEX attempts_by_external_id
         ON attempts (external_id, client, channel, service, kind, outcome, started_at, seq)`,
    ],
  },
  {
    name: '0010-write-checks',
    // One row, written again and again to find out whether the journal can be written.
    sql: (dialect) => [
      `CREATE TABLE write_checks (
         id INTEGER PRIMARY KEY,
         checked_at ${TYPES[dialect].time} NOT NULL,
         filler ${dialect === 'sqlite' ? 'BLOB' : 'TEXT'} NOT NULL
       )`,
      // Compressed, the filler would need no space.
      ...(dialect === 'sqlite' ? [] : ['ALTER TABLE write_checks ALTER COLUMN filler SET STORAGE EXTERNAL']),
    ],
  },
];

/** The names of the steps, in their order: what a journal that is up to date has taken. */
export const STEP_NAMES: readonly string[] = STEPS.map(({ name }) => name);

const APPLIED = 'CREATE TABLE IF NOT EXISTS applied_migrations (name TEXT PRIMARY KEY)';

/** Brings the tables up to date and returns the names of the steps taken. The store must let one instance at a time do this. */
export async function migrate(store: MigrationStore): Promise<string[]> {
  await store.execute(APPLIED);
  const umzug = new Umzug<MigrationStore>({
    context: store,
    logger: undefined,
    migrations: STEPS.map(({ name, sql, isSlow }) => ({
      name,
      up: async ({ context }) => {
        for (const statement of sql(context.dialect)) await context.execute(statement, isSlow);
      },
    })),
    storage: {
      logMigration: async ({ name }) => {
        await store.execute(`INSERT INTO applied_migrations (name) VALUES ('${name}')`);
      },
      unlogMigration: async ({ name }) => {
        await store.execute(`DELETE FROM applied_migrations WHERE name = '${name}'`);
      },
      executed: async () => {
        const rows = await store.execute('SELECT name FROM applied_migrations ORDER BY name');
        return rows.map((row) => String(row['name']));
      },
    },
  });
  return (await umzug.up()).map(({ name }) => name);
}
