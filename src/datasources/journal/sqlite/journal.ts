import { statSync } from 'node:fs';
import { keyHashOf, STATE_OF } from '../attempt-tables';
import { BACKGROUND_READ_TIME_LIMIT_MS } from '../deadline';
import { AttemptMissing, journalStateFromRow, type FenceReason, type JournalState } from '../fence';
import type {
  BeginResult,
  ConfirmResult,
  Journal,
  NewAttempt,
  Outcome,
  PurgeProgress,
  PurgeStep,
} from '../journal';
import { fileOpenError, JournalOpenError } from '../journal-open-error';
import { migrate } from '../migrations';
import {
  FIND_BY_KEY,
  GROUP_ID_SUBQUERY,
  HOLDS_EXTERNAL_ID,
  INSERT_COLUMNS,
  IS_OPEN,
  UPSERT_RELEASED_KEY,
  insertColumnValues,
  isKeyReleased,
  attemptFromRow,
  idCondition,
  idValues,
  upsertReservationClause,
  type Row,
  type SqlValue,
} from '../rows';
import { END_CONFIRM, SqlJournal } from '../sql-journal';
import { shortHash, toStoredText } from '../stored-values';
import { firstChangeStatements, RAISE_EPOCH, SqliteChanges } from './changes';
import type { Statement } from './messages';
import { purgeStep } from './purge';
import { sql, SqliteThread } from './thread';

const RESERVE = `INSERT INTO reserved_external_ids (service, channel, external_id, attempt_id) VALUES (?, ?, ?, ?)
  ${upsertReservationClause(`NOT EXISTS (
    SELECT 1 FROM stored_attempts AS holder
    WHERE ${keyHashOf('holder.id')} = ${keyHashOf('reserved_external_ids.attempt_id')}
      AND holder.id = reserved_external_ids.attempt_id AND holder.${HOLDS_EXTERNAL_ID})`)}`;

const CREATE_GROUP =
  'INSERT INTO attempt_groups (service, client, channel, kind) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';

const INSERT = `INSERT INTO stored_attempts (${INSERT_COLUMNS.join(', ')}, group_id, state)
  SELECT ${INSERT_COLUMNS.map(() => '?').join(', ')}, ${GROUP_ID_SUBQUERY}, 'p'
  WHERE ? = 0 OR EXISTS (
    SELECT 1 FROM reserved_external_ids
    WHERE service = ? AND channel = ? AND external_id = ? AND attempt_id = ?)
  ${UPSERT_RELEASED_KEY} RETURNING 1 AS is_started`;

/** Returns a row if the fence has another `since`. Parameter: `fenceSince`. */
const SELECT_IF_FENCE_CHANGED =
  'SELECT fence_since AS changed_fence FROM journal_state WHERE fence_since <> ?';

/** Returns a row if the journal does not have the attempt. */
const SELECT_IF_MISSING = `SELECT 1 AS is_missing WHERE NOT EXISTS (SELECT 1 FROM stored_attempts WHERE ${idCondition('id')})`;

/** Returns a row if another attempt created the transaction. Parameters: hash and id of the transaction, `idValues`. */
const SELECT_OTHER_CREATOR = `SELECT other.id FROM attempts AS mine JOIN attempts AS other
  ON other.transaction_hash = ? AND other.transaction_id = ? AND +other.service = mine.service
    AND +other.kind = mine.kind AND other.id <> mine.id
  WHERE ${idCondition('mine.stored_id')}`;

const SETTLE = `UPDATE stored_attempts
  SET state = ?, settled_at = ?, transaction_hash = ?, transaction_id = ?, status = ?, lease_until = NULL,
    next_check_at = NULL, owner = NULL, service_started_at = NULL, send_until = NULL, absent_lookups = NULL,
    absent_ms = NULL, absent_observer = NULL
  WHERE ${idCondition('id')} AND ${IS_OPEN}`;

const SETTLE_AS_UNKNOWN = `UPDATE stored_attempts
  SET state = 'u', lease_until = 0, next_check_at = ?, checks = COALESCE(checks, 0) + 1,
    absent_lookups = COALESCE(?, absent_lookups), absent_ms = COALESCE(?, absent_ms),
    absent_observer = COALESCE(?, absent_observer)
  WHERE ${idCondition('id')} AND ${IS_OPEN}`;

/**
 * Finds attempts by transaction id or external id. The indexes include the group, so that no row of another client is
 * read.
 */
const FIND_BY_TRANSACTION = `WITH creator AS (SELECT ? AS service, ? AS client, ? AS kind),
  input AS MATERIALIZED (
    SELECT key AS place, unhex(value ->> 1) AS transaction_id, value ->> 2 AS transaction_hash,
      unhex(value ->> 3) AS external_id, value ->> 4 AS external_id_hash,
      (SELECT id FROM attempt_groups, creator WHERE attempt_groups.service = creator.service
        AND attempt_groups.client = creator.client AND channel = value ->> 0
        AND attempt_groups.kind = creator.kind) AS group_id
    FROM json_each(?))
  SELECT input.place, found.* FROM input CROSS JOIN attempts AS found
  WHERE found.seq = CASE WHEN input.transaction_id IS NOT NULL
    THEN (SELECT seq FROM stored_attempts AS own INDEXED BY stored_attempts_by_transaction
      WHERE own.transaction_hash = input.transaction_hash AND own.group_id = input.group_id
        AND own.transaction_id = input.transaction_id
        AND (input.external_id IS NULL OR own.external_id = input.external_id))
    ELSE (SELECT seq FROM stored_attempts AS own INDEXED BY stored_attempts_by_external_id
      WHERE own.external_id_hash = input.external_id_hash AND own.group_id = input.group_id
        AND own.external_id = input.external_id AND own.state IN ('s', 'u')
      ORDER BY seq DESC LIMIT 1)
    END`;

const RECORD_CONFIRMED = `INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, zeroblob(?))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler`;

const SELECT_STATE = `SELECT state.*, (SELECT seq FROM sqlite_sequence WHERE name = 'stored_attempts') AS last_sequence
  FROM journal_state AS state`;

const SET_FENCE = 'UPDATE journal_state SET fence_since = ?, fence_reason = ?';

/**
 * Returns the statements that raise the fence and begin a new epoch of changes if this is not the file of the last
 * start, for example after a backup was restored.
 */
function replacedFileStatements(file: string): string[] {
  const { ino, birthtimeNs } = statSync(file, { bigint: true });
  const identity = `'${ino}/${birthtimeNs}'`;
  const raiseEpoch = `${RAISE_EPOCH} WHERE EXISTS (
    SELECT 1 FROM journal_state WHERE identity NOT IN ('', ${identity}))`;
  const raiseFence = `UPDATE journal_state SET identity = ${identity},
    fence_since = CASE identity WHEN '' THEN fence_since ELSE ${Date.now()} END,
    fence_reason = CASE identity WHEN '' THEN fence_reason ELSE 'restored' END
    WHERE identity <> ${identity}`;
  return [raiseEpoch, raiseFence];
}

/** The journal in a SQLite file, which several processes of one machine may share. */
export class SqliteJournal extends SqlJournal implements Journal {
  protected readonly findByTransactionStatement = FIND_BY_TRANSACTION;
  protected readonly changes: SqliteChanges;

  private constructor(
    private readonly thread: SqliteThread,
    /** A second thread with a read-only connection, for reads that must not delay creates. */
    private readonly backgroundThread: SqliteThread,
    timeLimitMs: number,
  ) {
    super(timeLimitMs, 'sqlite');
    this.changes = new SqliteChanges(thread, backgroundThread);
  }

  /** Opens the file and applies pending migrations. */
  static async open(file: string, timeLimitMs: number): Promise<SqliteJournal> {
    const thread = await SqliteThread.open(file, timeLimitMs);
    const execute = (text: string, values?: readonly SqlValue[]): Promise<Row[]> =>
      thread.runWhileOpening(text, values);
    // Locks the file, so that other processes that start at the same time wait.
    const transaction = async <T>(work: () => Promise<T>): Promise<T> => {
      await execute('BEGIN IMMEDIATE');
      const result = await work();
      await execute('COMMIT');
      return result;
    };
    try {
      await migrate({ dialect: 'sqlite', execute, transaction });
      await transaction(async () => {
        for (const statement of replacedFileStatements(file)) await execute(statement);
      });
      const backgroundThread = await SqliteThread.open(
        file,
        Math.max(timeLimitMs, BACKGROUND_READ_TIME_LIMIT_MS),
        true,
      );
      return new SqliteJournal(thread, backgroundThread, timeLimitMs);
    } catch (error) {
      await thread.close();
      throw error instanceof JournalOpenError ? error : fileOpenError(file, error);
    }
  }

  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const { service, client, channel, kind, externalId, id, reserve } = attempt;
    const [idHash, idBytes] = idValues(id);
    const reservation = [service, channel, toStoredText(externalId), idBytes];
    const group = [service, client, channel, kind];
    const [row] = await this.#writeAll(
      sql(SELECT_IF_FENCE_CHANGED, attempt.fenceSince),
      ...(reserve ? [sql(RESERVE, ...reservation)] : []),
      sql(CREATE_GROUP, ...group),
      sql(INSERT, ...insertColumnValues(attempt), ...group, reserve ? 1 : 0, ...reservation),
      sql(FIND_BY_KEY, idHash),
    );
    if (!row) return { kind: 'reserved' };
    if ('changed_fence' in row) return { kind: 'fence_changed' };
    if ('is_started' in row || row['id'] === id) return { kind: 'started' };
    const holder = attemptFromRow(row);
    return isKeyReleased(holder) ? { kind: 'reserved' } : { kind: 'exists', attempt: holder };
  }

  async recordOutcome(id: string, result: Outcome): Promise<boolean> {
    const attempt = idValues(id);
    if (result.outcome === 'unknown') {
      const { lookups = null, spanMs = null, observer = null } = result.absence ?? {};
      const values = [result.nextRecheckAt, lookups, spanMs, observer];
      await this.#writeOutcome(
        sql(SETTLE_AS_UNKNOWN, ...values, ...attempt),
        sql(SELECT_IF_MISSING, ...attempt),
      );
      return true;
    }
    const { outcome, settledAt } = result;
    if (outcome !== 'succeeded') {
      await this.#writeOutcome(sql(SETTLE, STATE_OF[outcome], settledAt, null, null, null, ...attempt));
      return true;
    }
    const { transactionId, status, observed } = result;
    const hash = shortHash(transactionId);
    const otherCreators = await this.#writeOutcome(
      sql(SELECT_OTHER_CREATOR, hash, transactionId, ...attempt),
      sql(SETTLE, STATE_OF[outcome], settledAt, hash, toStoredText(transactionId), status, ...attempt),
      ...firstChangeStatements(attempt, settledAt, observed),
      sql(SELECT_IF_MISSING, ...attempt),
    );
    return otherCreators.length === 0;
  }

  async readState(): Promise<JournalState> {
    const [row = {}] = await this.read(SELECT_STATE);
    return journalStateFromRow(row);
  }

  async setFence(reason: FenceReason | null): Promise<void> {
    await this.#writeAll(
      sql(SET_FENCE, reason === null ? 0 : Date.now(), reason ?? ''),
      ...(reason === null ? [] : [sql(RAISE_EPOCH)]),
    );
  }

  async endConfirm(id: string, { outcome, confirmed }: ConfirmResult): Promise<void> {
    const records = confirmed.map(({ service, channel, transactionId, inputHash, status, confirmedAt }) =>
      sql(RECORD_CONFIRMED, service, channel, transactionId, inputHash, status, confirmedAt),
    );
    await this.#writeAll(...records, sql(END_CONFIRM[outcome], id));
  }

  /** Returns the machine's time, because all processes that share a file run on one machine. */
  async time(): Promise<number> {
    return Promise.resolve(Date.now());
  }

  purgeStep(step: PurgeStep): Promise<PurgeProgress> {
    return purgeStep(this.thread, step);
  }

  async checkWrite(bytes: number): Promise<void> {
    await this.thread.run({ write: true, statements: [sql(CHECK_WRITE, Date.now(), bytes)] }, 'low');
  }

  async close(): Promise<void> {
    // The writing connection is closed last, because the last connection checkpoints the write-ahead log.
    await this.backgroundThread.close();
    await this.thread.close();
  }

  protected read(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.thread.read(text, values);
  }

  protected write(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#writeAll(sql(text, ...values));
  }

  protected readInBackground(text: string, values: SqlValue[]): Promise<Row[]> {
    return this.backgroundThread.read(text, values);
  }

  /** Writes without a sync. @throws AttemptMissing */
  async #writeOutcome(...statements: Statement[]): Promise<Row[]> {
    const rows = await this.thread.run({ write: true, isUnsynced: true, statements });
    if (rows.some((row) => 'is_missing' in row)) throw new AttemptMissing();
    return rows;
  }

  #writeAll(...statements: Statement[]): Promise<Row[]> {
    return this.thread.run({ write: true, statements });
  }
}
