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

/**
 * Returns the ids of the attempts, of those with a transaction to be settled with, whose transaction another attempt has
 * created, or creates in the same batch: there the one that has it already is first, then the oldest open one. OFFSET 0 keeps
 * a planner without statistics from reading all attempts of the service.
 */
const OTHERS_TRANSACTIONS = `
  CREATE FUNCTION attempts_with_transaction_of_another(asked JSONB) RETURNS SETOF TEXT LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(transaction_id, 0)) FROM (
      SELECT DISTINCT transaction_id FROM jsonb_to_recordset(asked) AS x(transaction_id TEXT)
      WHERE transaction_id IS NOT NULL ORDER BY transaction_id) AS locked;
    RETURN QUERY SELECT mine.id FROM (
      SELECT attempts.id, service, kind, x.transaction_id, row_number() OVER (
          PARTITION BY service, kind, x.transaction_id
          ORDER BY attempts.transaction_id IS NOT DISTINCT FROM x.transaction_id DESC,
            outcome IN ('in_progress', 'unknown') DESC, seq) AS place
      FROM jsonb_to_recordset(asked) AS x(id TEXT, transaction_id TEXT) JOIN attempts USING (id)
      WHERE x.transaction_id IS NOT NULL) AS mine
    LEFT JOIN LATERAL (
      SELECT other.id FROM (SELECT * FROM attempts WHERE transaction_id = mine.transaction_id OFFSET 0) AS other
      WHERE other.service = mine.service AND other.kind = mine.kind AND other.id <> mine.id
      LIMIT 1) AS holder ON TRUE
    WHERE mine.place > 1 OR holder.id IS NOT NULL;
  END $$`;

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
    name: '0008-one-creator-for-each-transaction',
    // A statement of PostgreSQL sees what was there when it began, so two at once could each make another attempt the
    // creator of one transaction. This function locks the transactions first, and then sees what was committed meanwhile.
    // No transaction holds row locks while it waits here. SQLite has one writer at a time.
    sql: (dialect) => (dialect === 'sqlite' ? [] : [OTHERS_TRANSACTIONS]),
  },
  {
    name: '0009-write-checks',
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
