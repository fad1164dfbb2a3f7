import { createAttemptsViewStatement, createAttemptTablesStatements, keyHashSql } from './attempt-tables';
import { createChangeTablesStatements, INITIAL_IDENTITY_SQL_BY_DIALECT } from './change-tables';
import {
  convertAttempts,
  executeAll,
  type RunMigrationStep,
  type MigrationDatabase,
} from './convert-attempts';
import { followRecentTransactions } from './follow-recent';
import { HOLDS_EXTERNAL_ID_CONDITION, OPEN_ATTEMPT_CONDITION } from './rows';
import type { Dialect } from './stored-values';

/**
 * Statements for a new journal only. They create the tables that older journals, even those from before the first
 * release, already have in the same form.
 */
const CREATE_FIRST_TABLES = [
  `CREATE TABLE confirms (
       service TEXT NOT NULL,
       channel TEXT NOT NULL,
       transaction_id TEXT NOT NULL,
       id TEXT NOT NULL UNIQUE,
       owner TEXT NOT NULL,
       lease_until BIGINT NOT NULL,
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
       confirmed_at BIGINT NOT NULL,
       PRIMARY KEY (service, channel, transaction_id, input_hash)
     )`,
  'CREATE INDEX confirmed_by_time ON confirmed (confirmed_at)',
  // This table has no foreign key to attempts, because an attempt can be purged before its proposal.
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
       proposed_at BIGINT NOT NULL,
       expires_at BIGINT NOT NULL,
       PRIMARY KEY (id, attempt_id)
     )`,
  // Row 1 is written to check whether the journal can be written. SQLite also writes row 2, to force a disk sync.
  `CREATE TABLE write_checks (
       id INTEGER PRIMARY KEY,
       checked_at BIGINT NOT NULL,
       filler TEXT NOT NULL
     )`,
];

/**
 * The table journal_state has one row. `identity` identifies the database or SQLite file in which the journal was last
 * used. `fence_since` is 0 and `fence_reason` is empty if no fence was raised or an operator lowered it. A fence that
 * has ended by itself (see Fence) stays recorded.
 */
const CREATE_JOURNAL_STATE = `CREATE TABLE journal_state (
       id INTEGER PRIMARY KEY,
       identity TEXT NOT NULL,
       fence_since BIGINT NOT NULL,
       fence_reason TEXT NOT NULL
     )`;

const insertJournalStateStatement = (dialect: Dialect): string =>
  `INSERT INTO journal_state (id, identity, fence_since, fence_reason) VALUES (1, ${INITIAL_IDENTITY_SQL_BY_DIALECT[dialect]}, 0, '')`;

/**
 * journal_identity() returns the identity of the database: `server/timeline/table`. `server` is PostgreSQL's system
 * identifier. `timeline` changes when a standby is promoted or an archive recovery ends. `table` is the OID of
 * stored_attempts, which changes when a dump is restored. `server` and `timeline` are empty if they cannot be read.
 */
const CREATE_IDENTITY_FUNCTION = `CREATE FUNCTION journal_identity() RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
     BEGIN
       RETURN concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
         left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), 'stored_attempts'::regclass::oid);
     EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
       RETURN '//' || 'stored_attempts'::regclass::oid;
     END $$`;

/**
 * Statements that only PostgreSQL needs. Two of the functions exist because a PostgreSQL statement does not see what
 * other instances commit after its start, but a volatile function that the statement calls sees it. SQLite has one
 * writer at a time, so nothing is committed while a write runs.
 *
 * `attempt_is_open` returns whether an attempt is open or has succeeded.
 *
 * `attempts_created_by_another` gets a batch of outcomes (`candidates`). It returns the ids of the attempts whose
 * outcome has a transaction that another attempt created. If several candidates have the same transaction, only one is
 * its creator: the attempt that is already recorded with this transaction, or otherwise the oldest open attempt. Before
 * the function reads, it takes an advisory lock for each transaction id, so that no transaction gets two creators.
 * Callers hold no row locks while they wait for these locks. OFFSET 0 keeps a planner without statistics from reading
 * all attempts of the service.
 */
const POSTGRES_ONLY_SCHEMA_STATEMENTS = [
  CREATE_IDENTITY_FUNCTION,
  `CREATE FUNCTION attempt_is_open(attempt BYTEA) RETURNS BOOLEAN LANGUAGE sql VOLATILE AS $$
     SELECT EXISTS (SELECT 1 FROM stored_attempts
       WHERE ${keyHashSql('id')} = ${keyHashSql('attempt')} AND id = attempt AND ${HOLDS_EXTERNAL_ID_CONDITION})
   $$`,
  `CREATE FUNCTION attempts_created_by_another(candidates JSONB) RETURNS SETOF BYTEA
     LANGUAGE plpgsql VOLATILE AS $$
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended(encode(transaction_id, 'hex'), 0)) FROM (
       SELECT DISTINCT transaction_id FROM jsonb_to_recordset(candidates) AS x(transaction_id BYTEA)
       WHERE transaction_id IS NOT NULL ORDER BY transaction_id) AS locked;
     RETURN QUERY SELECT mine.id FROM (
       SELECT own.id, service, kind, x.transaction_id, x.transaction_hash, row_number() OVER (
           PARTITION BY service, kind, x.transaction_id
           ORDER BY own.transaction_id IS NOT DISTINCT FROM x.transaction_id DESC, ${OPEN_ATTEMPT_CONDITION} DESC, seq) AS place
       FROM jsonb_to_recordset(candidates) AS x(id BYTEA, transaction_id BYTEA, transaction_hash INTEGER)
       JOIN stored_attempts AS own ON ${keyHashSql('own.id')} = ${keyHashSql('x.id')} AND own.id = x.id
       JOIN attempt_groups ON attempt_groups.id = group_id
       WHERE x.transaction_id IS NOT NULL) AS mine
     LEFT JOIN LATERAL (
       SELECT other.id FROM (
         SELECT * FROM stored_attempts WHERE transaction_hash = mine.transaction_hash OFFSET 0) AS other
       JOIN attempt_groups AS g ON g.id = other.group_id
       WHERE other.transaction_id = mine.transaction_id AND g.service = mine.service AND g.kind = mine.kind
         AND other.id <> mine.id
       LIMIT 1) AS holder ON TRUE
     WHERE mine.place > 1 OR holder.id IS NOT NULL;
   END $$`,
  // The filler is stored uncompressed. If it were compressed, even a large filler would fit on a full disk.
  'ALTER TABLE write_checks ALTER COLUMN filler SET STORAGE EXTERNAL',
];

/** Last migration before the first release. A journal without it has no tables yet. */
const FIRST_TABLES_MIGRATION_NAME = '0009-write-checks';
const ATTEMPTS_MIGRATION_NAME = '0010-stored-attempts';
const CHANGES_MIGRATION_NAME = '0011-changes';
const FOLLOWED_MIGRATION_NAME = '0012-followed-transactions';

/** Names of the migrations, in the order in which they are applied. */
const MIGRATION_NAMES = [
  FIRST_TABLES_MIGRATION_NAME,
  ATTEMPTS_MIGRATION_NAME,
  CHANGES_MIGRATION_NAME,
  FOLLOWED_MIGRATION_NAME,
];

/** Compares a journal's applied migrations with those of this version. */
export function compareMigrations(appliedNames: readonly string[]) {
  return {
    pendingMigrations: MIGRATION_NAMES.filter((name) => !appliedNames.includes(name)),
    /** Migrations that a newer version of the gateway applied. */
    unknownMigrations: appliedNames.filter((name) => name > FOLLOWED_MIGRATION_NAME),
  };
}

async function readPendingMigrations({ execute }: MigrationDatabase): Promise<string[]> {
  await execute('CREATE TABLE IF NOT EXISTS applied_migrations (name TEXT PRIMARY KEY)');
  const rows = await execute('SELECT name FROM applied_migrations');
  return compareMigrations(rows.map(({ name }) => String(name))).pendingMigrations;
}

/**
 * Applies pending migrations. After an interruption, the next call continues. Gateways of the previous version can use
 * the journal during the migrations, until convertAttempts() drops the tables that they use.
 */
export async function migrate(database: MigrationDatabase): Promise<void> {
  const { dialect, execute, runInTransaction } = database;
  const markApplied = async (names: readonly string[]): Promise<void> => {
    for (const name of names) await execute('INSERT INTO applied_migrations (name) VALUES (?)', [name]);
  };
  const createStepRunner =
    (name: string): RunMigrationStep =>
    (step) =>
      runInTransaction(async () =>
        (await readPendingMigrations(database)).includes(name) ? step() : undefined,
      );
  const viewAndStateStatements = [
    createAttemptsViewStatement(dialect),
    CREATE_JOURNAL_STATE,
    ...(dialect === 'postgres' ? POSTGRES_ONLY_SCHEMA_STATEMENTS : []),
    insertJournalStateStatement(dialect),
  ];
  const pendingMigrations = await runInTransaction(async () => {
    const pendingNames = await readPendingMigrations(database);
    if (!pendingNames.includes(FIRST_TABLES_MIGRATION_NAME)) return pendingNames;
    await executeAll(database, [
      ...CREATE_FIRST_TABLES,
      ...createAttemptTablesStatements(dialect),
      ...viewAndStateStatements,
      ...createChangeTablesStatements(dialect),
    ]);
    await markApplied(pendingNames);
    return [];
  });
  if (pendingMigrations.includes(ATTEMPTS_MIGRATION_NAME))
    await convertAttempts(database, createStepRunner(ATTEMPTS_MIGRATION_NAME), async () => {
      await executeAll(database, viewAndStateStatements);
      await markApplied([ATTEMPTS_MIGRATION_NAME]);
    });
  if (pendingMigrations.includes(CHANGES_MIGRATION_NAME))
    await createStepRunner(CHANGES_MIGRATION_NAME)(async () => {
      await executeAll(database, createChangeTablesStatements(dialect));
      await markApplied([CHANGES_MIGRATION_NAME]);
    });
  if (pendingMigrations.includes(FOLLOWED_MIGRATION_NAME))
    await followRecentTransactions(database, createStepRunner(FOLLOWED_MIGRATION_NAME), () =>
      markApplied([FOLLOWED_MIGRATION_NAME]),
    );
}
