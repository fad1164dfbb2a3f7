import { createAttemptTablesStatements, keyHashSql, STATE_BY_OUTCOME } from './attempt-tables';
import type { Attempt } from './journal';
import {
  attemptFromRow,
  INSERT_COLUMNS,
  jsonValueByInsertColumn,
  OPEN_ATTEMPT_CONDITION,
  COLUMNS_NULL_AT_INSERT,
  type Row,
  type SqlValue,
} from './rows';
import { hexToUuid } from '../../shared/uuid';
import { toJsonValue, newAttemptId, shortHash, toStoredBytes, type Dialect } from './stored-values';

/**
 * This module converts the attempts of a journal from before the first release: the table `attempts` becomes
 * `stored_attempts`, and the table `reservations` becomes `reserved_external_ids`.
 */

export interface MigrationDatabase {
  dialect: Dialect;
  execute(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** Runs `callback` in a database transaction, under a lock that only one process at a time holds. */
  runInTransaction<T>(callback: () => Promise<T>): Promise<T>;
}

/**
 * Runs a step of a migration in a database transaction, in one process at a time. If the migration has already been
 * applied, resolves to undefined without running the step.
 */
export type RunMigrationStep = <T>(step: () => Promise<T>) => Promise<T | undefined>;

export async function executeAll(
  { execute }: MigrationDatabase,
  statements: readonly string[],
): Promise<void> {
  for (const statement of statements) await execute(statement);
}

const ROWS_PER_BATCH = 2000;

const ATTEMPT_COLUMNS = ['seq', 'group_id', 'state', ...COLUMNS_NULL_AT_INSERT, ...INSERT_COLUMNS];
const RESERVATION_COLUMNS = ['service', 'channel', 'external_id', 'attempt_id'];
const BYTES_COLUMNS = new Set(['id', 'key', 'fingerprint', 'external_id', 'transaction_id', 'attempt_id']);

/**
 * Returns an upsert whose only parameter is a JSON array of rows.
 * @param conflictTarget the conflict target: columns or expressions of a unique index
 */
function jsonUpsertStatement(
  dialect: Dialect,
  tableName: string,
  columns: readonly string[],
  conflictTarget: string,
): string {
  const columnExpressions = columns.map((column) =>
    BYTES_COLUMNS.has(column) ? `unhex(substr(value ->> '${column}', 3))` : `value ->> '${column}'`,
  );
  const rowsSelectByDialect = {
    postgres: `SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::${tableName}, ?::jsonb)`,
    sqlite: `SELECT ${columnExpressions.join(', ')} FROM json_each(?) WHERE TRUE`,
  };
  return `INSERT INTO ${tableName} (${columns.join(', ')}) ${rowsSelectByDialect[dialect]}
    ON CONFLICT (${conflictTarget}) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

/** Converts an old fingerprint (keyed hash of the input) to the new form, a UUID. Returns other texts unchanged. */
const shortenFingerprint = (fingerprint: string): string =>
  /^[0-9a-f]{8}\.[0-9a-f]{24,}$/.test(fingerprint)
    ? hexToUuid(fingerprint.replace('.', '').slice(0, 32))
    : fingerprint;

function convertAttemptRow(row: Row, groupId: number): Record<string, SqlValue> {
  const oldAttempt = attemptFromRow({ ...row, public_details: row['shown'] });
  const fingerprint = shortenFingerprint(oldAttempt.fingerprint);
  // The new id ends with a hash of the old id, so that repeated copies of a row get the same id.
  const oldIdHashDigits = (shortHash(oldAttempt.id) >>> 0).toString(16).padStart(8, '0');
  const id = newAttemptId(oldAttempt, { randomUUID: () => oldIdHashDigits });
  const attempt: Attempt = { ...oldAttempt, id, fingerprint };
  const isOpen = attempt.outcome === 'in_progress' || attempt.outcome === 'unknown';
  const { transactionId, absence } = attempt;
  return {
    ...jsonValueByInsertColumn(attempt),
    ...(!isOpen && { owner: null, lease_until: null, send_until: null, service_started_at: null }),
    seq: attempt.seq,
    group_id: groupId,
    state: STATE_BY_OUTCOME[attempt.outcome],
    settled_at: attempt.settledAt,
    next_check_at: attempt.nextRecheckAt,
    transaction_hash: transactionId === null ? null : shortHash(transactionId),
    transaction_id: transactionId === null ? null : toJsonValue(toStoredBytes(transactionId)),
    status: attempt.wireStatus,
    checks: attempt.recheckCount || null,
    absent_ms: isOpen ? absence.spanMs : null,
    absent_lookups: isOpen ? absence.lookupCount : null,
    absent_observer: isOpen ? absence.observerId : null,
  };
}

/** Converts rows of the tables that versions before the first release used. */
class OldAttemptConverter {
  readonly #groupIdByKey = new Map<string, number>();

  constructor(private readonly database: MigrationDatabase) {}

  /**
   * Copies rows of the old table `attempts`, and their reserved external ids, to the new tables. Replaces earlier
   * copies of the same rows.
   */
  async copyToNewTables(rows: readonly Row[]): Promise<void> {
    const { dialect, execute } = this.database;
    const attempts = [];
    const reservations = [];
    for (const row of rows) {
      const attempt = convertAttemptRow(row, await this.#ensureGroupId(row));
      attempts.push(attempt);
      const { service, channel, is_reserved: reservesExternalId } = row;
      const { external_id, id: attempt_id } = attempt;
      if (Number(reservesExternalId)) reservations.push({ service, channel, external_id, attempt_id });
    }
    const attemptsUpsert = jsonUpsertStatement(dialect, 'stored_attempts', ATTEMPT_COLUMNS, keyHashSql('id'));
    await execute(attemptsUpsert, [JSON.stringify(attempts)]);
    const [table, conflictTarget] = ['reserved_external_ids', 'service, channel, external_id'];
    const reservationsUpsert = jsonUpsertStatement(dialect, table, RESERVATION_COLUMNS, conflictTarget);
    await execute(reservationsUpsert, [JSON.stringify(reservations)]);
  }

  async #ensureGroupId(row: Row): Promise<number> {
    const values = ['service', 'client', 'channel', 'kind'].map((columnName) => String(row[columnName]));
    const groupKey = JSON.stringify(values);
    const cachedGroupId = this.#groupIdByKey.get(groupKey);
    if (cachedGroupId !== undefined) return cachedGroupId;
    const upsertSql = `INSERT INTO attempt_groups (service, client, channel, kind) VALUES (?, ?, ?, ?)
      ON CONFLICT (service, client, channel, kind) DO UPDATE SET kind = excluded.kind RETURNING id`;
    const [groupRow] = await this.database.execute(upsertSql, values);
    const groupId = Number(groupRow?.['id']);
    this.#groupIdByKey.set(groupKey, groupId);
    return groupId;
  }
}

const IS_RESERVED_COLUMN_SQL = `EXISTS (SELECT 1 FROM reservations AS held WHERE held.service = attempts.service
  AND held.channel = attempts.channel AND held.external_id = attempts.external_id
  AND held.attempt_id = attempts.id) AS is_reserved`;

const SELECT_NEXT_OLD_ATTEMPTS = `SELECT attempts.*, ${IS_RESERVED_COLUMN_SQL} FROM attempts WHERE seq > ? ORDER BY seq LIMIT ${ROWS_PER_BATCH}`;
const SELECT_OLD_ATTEMPTS_COPIED_WHILE_OPEN = `SELECT attempts.*, ${IS_RESERVED_COLUMN_SQL} FROM attempts
  WHERE seq IN (SELECT seq FROM stored_attempts WHERE ${OPEN_ATTEMPT_CONDITION})`;

/**
 * Statements of the final step: `lock` runs before the last rows are copied, `finish` afterwards. In PostgreSQL, `lock`
 * blocks the queries of gateways of the previous version until the final step ends. Their inserts then fail, because
 * `attempts` has become a view.
 */
const FINAL_STEP_STATEMENTS_BY_DIALECT = {
  sqlite: { lock: [], finish: [] },
  postgres: {
    lock: ["SET LOCAL lock_timeout = '5s'", 'LOCK TABLE attempts, reservations IN ACCESS EXCLUSIVE MODE'],
    finish: [
      "SELECT setval('stored_attempts_seq_seq', (SELECT last_value FROM attempts_seq_seq))",
      'DROP FUNCTION attempt_is_open(TEXT), attempts_with_transaction_of_another(JSONB)',
    ],
  },
} satisfies Record<Dialect, { lock: string[]; finish: string[] }>;

/**
 * Copies attempts to the new tables in batches. Meanwhile, gateways of the previous version can use the journal. The
 * final step copies the attempts that were added meanwhile, and those that may have changed after they were copied. It
 * then drops the old tables. Several instances can call this function at the same time.
 * @param completeMigration runs at the end of the final step. It must create the view `attempts`, the table
 *   `journal_state` and, in PostgreSQL, the journal's SQL functions. It must also mark the migration as applied.
 */
export async function convertAttempts(
  database: MigrationDatabase,
  runStep: RunMigrationStep,
  completeMigration: () => Promise<void>,
): Promise<void> {
  const { dialect, execute } = database;
  const converter = new OldAttemptConverter(database);
  const copyNextBatch = async (): Promise<boolean> => {
    const [progress] = await execute('SELECT copied_seq FROM attempt_conversion');
    const rows = await execute(SELECT_NEXT_OLD_ATTEMPTS, [Number(progress?.['copied_seq'])]);
    if (rows.length > 0) await converter.copyToNewTables(rows);
    const lastRow = rows.at(-1);
    if (lastRow) await execute('UPDATE attempt_conversion SET copied_seq = ?', [Number(lastRow['seq'])]);
    return rows.length === ROWS_PER_BATCH;
  };
  await runStep(async () => {
    await execute('CREATE TABLE IF NOT EXISTS attempt_conversion (copied_seq BIGINT NOT NULL)');
    if ((await execute('SELECT 1 FROM attempt_conversion')).length > 0) return;
    await executeAll(database, createAttemptTablesStatements(dialect));
    await execute('INSERT INTO attempt_conversion (copied_seq) VALUES (-1)');
  });
  while (await runStep(copyNextBatch));
  await runStep(async () => {
    await executeAll(database, FINAL_STEP_STATEMENTS_BY_DIALECT[dialect].lock);
    while (await copyNextBatch());
    const attemptsCopiedWhileOpen = await execute(SELECT_OLD_ATTEMPTS_COPIED_WHILE_OPEN);
    if (attemptsCopiedWhileOpen.length > 0) await converter.copyToNewTables(attemptsCopiedWhileOpen);
    await executeAll(database, FINAL_STEP_STATEMENTS_BY_DIALECT[dialect].finish);
    for (const tableName of ['attempts', 'reservations', 'attempt_conversion'])
      await execute(`DROP TABLE ${tableName}`);
    // Settlement proposals refer to the old ids of attempts, so all proposals are deleted.
    await execute('DELETE FROM settlement_proposals');
    await completeMigration();
  });
}
