import { statSync } from 'node:fs';
import { STATE_BY_OUTCOME } from '../attempt-tables';
import { backgroundTimeLimitMs } from '../deadline';
import type { Observation, ObservationResult } from '../changes';
import { AttemptMissing, fenceStateFromRow, type FenceReason, type FenceState } from '../fence';
import type {
  InsertResult,
  EndedConfirm,
  Journal,
  NewAttempt,
  OutcomeDetails,
  PurgeStepResult,
  PurgeStep,
} from '../journal';
import { createFileOpenError, JournalOpenError } from '../journal-open-error';
import { migrate } from '../migrations';
import {
  FIND_BY_KEY,
  valuesOfInsertColumns,
  isKeyReleased,
  attemptFromRow,
  idConditionValues,
  type Row,
  type SqlValue,
  type SqlWithValues,
} from '../rows';
import { END_CONFIRM_BY_OUTCOME, attemptGroupKey, SqlJournal } from '../sql-journal';
import { shortHash, toStoredBytes } from '../stored-values';
import {
  recordFirstChangeStatements,
  recordObservationStatements,
  RAISE_EPOCH,
  SYNC_EARLIER_COMMITS,
} from './changes';
import { purgeStep } from './purge';
import {
  CHECK_WRITE,
  INSERT_ATTEMPT_GROUP,
  FIND_CREATING_ATTEMPTS,
  INSERT_ATTEMPT,
  RECORD_CONFIRMED_INPUT,
  RESERVE_EXTERNAL_ID,
  SELECT_IF_FENCE_CHANGED,
  SELECT_IF_ATTEMPT_MISSING,
  SELECT_IF_OTHER_CREATOR_OR_ATTEMPT_MISSING,
  SELECT_JOURNAL_STATE,
  SETTLE_ATTEMPT,
  RECORD_UNKNOWN_OUTCOME,
  SET_FENCE,
} from './statements';
import { toStatement, SqliteThread } from './thread';

/**
 * Returns the statements that store the identity of the file: its inode and time of creation. If the journal already
 * has another identity, the file is a copy, for example a restored backup. The statements then raise the fence, which
 * marks that attempts may have been lost (see Fence). They also begin a new epoch of changes (see ChangePosition).
 */
function replacedFileStatements(journalPath: string): string[] {
  const { ino, birthtimeNs } = statSync(journalPath, { bigint: true });
  const fileIdentitySql = `'${ino}/${birthtimeNs}'`;
  const raiseEpochStatement = `${RAISE_EPOCH} WHERE EXISTS (
    SELECT 1 FROM journal_state WHERE identity NOT IN ('', ${fileIdentitySql}))`;
  const raiseFenceStatement = `UPDATE journal_state SET identity = ${fileIdentitySql},
    fence_since = CASE identity WHEN '' THEN fence_since ELSE ${Date.now()} END,
    fence_reason = CASE identity WHEN '' THEN fence_reason ELSE 'restored' END
    WHERE identity <> ${fileIdentitySql}`;
  return [raiseEpochStatement, raiseFenceStatement];
}

/** The journal in a SQLite file, for one gateway. Operators can run commands on the file at the same time. */
export class SqliteJournal extends SqlJournal implements Journal {
  protected readonly creatingAttemptsStatement = FIND_CREATING_ATTEMPTS;

  private constructor(
    private readonly thread: SqliteThread,
    /** Thread with a read-only connection, for reads that must not delay creates. */
    private readonly backgroundThread: SqliteThread,
    timeLimitMs: number,
  ) {
    super(timeLimitMs, 'sqlite');
  }

  /** Opens the file and applies pending migrations. Rejects with a JournalOpenError on failure. */
  static async open(journalPath: string, timeLimitMs: number): Promise<SqliteJournal> {
    const thread = await SqliteThread.open(journalPath, timeLimitMs);
    const execute = (sqlText: string, values?: readonly SqlValue[]): Promise<Row[]> =>
      thread.runWhileOpening(sqlText, values);
    // BEGIN IMMEDIATE locks the file, so that other processes that start at the same time wait.
    const runInTransaction = async <T>(runStatements: () => Promise<T>): Promise<T> => {
      await execute('BEGIN IMMEDIATE');
      const result = await runStatements();
      await execute('COMMIT');
      return result;
    };
    try {
      await migrate({ dialect: 'sqlite', execute, runInTransaction });
      await runInTransaction(async () => {
        for (const statement of replacedFileStatements(journalPath)) await execute(statement);
      });
      const backgroundThread = await SqliteThread.open(journalPath, backgroundTimeLimitMs(timeLimitMs), true);
      return new SqliteJournal(thread, backgroundThread, timeLimitMs);
    } catch (error) {
      await thread.close();
      throw error instanceof JournalOpenError ? error : createFileOpenError(journalPath, error);
    }
  }

  async insertAttempt(attempt: NewAttempt): Promise<InsertResult> {
    const { service, client, channel, kind, externalId, id, reservesExternalId, fenceSince } = attempt;
    const [keyHash, idBytes] = idConditionValues(id);
    const externalIdReservationValues = [service, channel, toStoredBytes(externalId), idBytes];
    const groupValues = [service, client, channel, kind];
    const conditionValues = [fenceSince, reservesExternalId ? 1 : 0, ...externalIdReservationValues];
    const selectIfFenceChanged = toStatement(SELECT_IF_FENCE_CHANGED, fenceSince);
    const [row] = await this.#writeStatements(
      ...(reservesExternalId
        ? [selectIfFenceChanged, toStatement(RESERVE_EXTERNAL_ID, ...externalIdReservationValues)]
        : []),
      ...(this.knownGroupKeys.has(attemptGroupKey(attempt))
        ? []
        : [toStatement(INSERT_ATTEMPT_GROUP, ...groupValues)]),
      toStatement(INSERT_ATTEMPT, ...valuesOfInsertColumns(attempt), ...groupValues, ...conditionValues),
      selectIfFenceChanged,
      toStatement(FIND_BY_KEY, keyHash),
    );
    if (!row) return { kind: 'reserved' };
    if ('changed_fence' in row) return { kind: 'fence_changed' };
    if ('is_started' in row) {
      this.knownGroupKeys.set(attemptGroupKey(attempt), true);
      return { kind: 'started' };
    }
    if (row['id'] === id) return { kind: 'started' };
    const keyHolder = attemptFromRow(row);
    return isKeyReleased(keyHolder) ? { kind: 'reserved' } : { kind: 'exists', attempt: keyHolder };
  }

  async recordOutcome(attemptId: string, outcome: OutcomeDetails): Promise<boolean> {
    const attemptIdValues = idConditionValues(attemptId);
    if (outcome.outcome === 'unknown') {
      const { lookupCount = null, spanMs = null, observerId = null } = outcome.absence ?? {};
      const outcomeValues = [outcome.nextRecheckAt, lookupCount, spanMs, observerId];
      await this.#writeOutcome(
        toStatement(RECORD_UNKNOWN_OUTCOME, ...outcomeValues, ...attemptIdValues),
        toStatement(SELECT_IF_ATTEMPT_MISSING, ...attemptIdValues),
      );
      return true;
    }
    const { settledAt } = outcome;
    const state = STATE_BY_OUTCOME[outcome.outcome];
    if (outcome.outcome !== 'succeeded') {
      await this.#writeOutcome(
        toStatement(SETTLE_ATTEMPT, state, settledAt, null, null, null, ...attemptIdValues),
      );
      return true;
    }
    const { transactionId, wireStatus: status, observedState } = outcome;
    const hash = shortHash(transactionId);
    const otherCreatorRows = await this.#writeOutcome(
      toStatement(SELECT_IF_OTHER_CREATOR_OR_ATTEMPT_MISSING, ...attemptIdValues, hash, transactionId),
      toStatement(
        SETTLE_ATTEMPT,
        state,
        settledAt,
        hash,
        toStoredBytes(transactionId),
        status,
        ...attemptIdValues,
      ),
      ...recordFirstChangeStatements(attemptIdValues, settledAt, observedState),
    );
    return otherCreatorRows.length === 0;
  }

  async recordObservation(observation: Observation): Promise<ObservationResult> {
    const [row] = await this.#writeStatementsUnsynced(...recordObservationStatements(observation));
    return row?.['result'] as ObservationResult;
  }

  async readFenceState(): Promise<FenceState> {
    const [row = {}] = await this.read(SELECT_JOURNAL_STATE);
    return fenceStateFromRow(row);
  }

  async setFence(reason: FenceReason | null): Promise<void> {
    await this.#writeStatements(
      toStatement(SET_FENCE, reason === null ? 0 : Date.now(), reason ?? ''),
      ...(reason === null ? [] : [toStatement(RAISE_EPOCH)]),
    );
  }

  async endConfirm(confirmId: string, { outcome, confirmedInputs }: EndedConfirm): Promise<void> {
    const insertStatements = confirmedInputs.map(
      ({ service, channel, transactionId, inputHash, status, confirmedAt }) =>
        toStatement(RECORD_CONFIRMED_INPUT, service, channel, transactionId, inputHash, status, confirmedAt),
    );
    await this.#writeStatements(...insertStatements, toStatement(END_CONFIRM_BY_OUTCOME[outcome], confirmId));
  }

  /** Returns the time of this machine, on which all processes that use the file run. */
  async time(): Promise<number> {
    return Promise.resolve(Date.now());
  }

  purgeStep(step: PurgeStep): Promise<PurgeStepResult> {
    return purgeStep(this.thread, step);
  }

  async checkWrite(fillerSizeBytes: number): Promise<void> {
    await this.thread.run(
      { isWrite: true, statements: [toStatement(CHECK_WRITE, Date.now(), fillerSizeBytes)] },
      'low',
    );
  }

  async close(): Promise<void> {
    // The connection that closes last checkpoints the write-ahead log. So this must be the connection that can write.
    await this.backgroundThread.close();
    await this.thread.close();
  }

  protected read(sqlText: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.thread.read(sqlText, values);
  }

  protected write(sqlText: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#writeStatements(toStatement(sqlText, ...values));
  }

  protected readSeparately(sqlText: string, values: SqlValue[]): Promise<Row[]> {
    return this.backgroundThread.read(sqlText, values);
  }

  protected writeUnsynced(sqlText: string, values: SqlValue[]): Promise<Row[]> {
    return this.#writeStatementsUnsynced(toStatement(sqlText, ...values));
  }

  protected async sync(): Promise<void> {
    await this.write(SYNC_EARLIER_COMMITS);
  }

  /** Does nothing, because open() already begins a new epoch if the file was replaced. */
  protected async raiseEpochIfJournalMoved(): Promise<void> {}

  /** Runs the statements that record an outcome. Rejects with AttemptMissing if a returned row has `is_missing` = 1. */
  async #writeOutcome(...statements: SqlWithValues[]): Promise<Row[]> {
    const rows = await this.#writeStatementsUnsynced(...statements);
    if (rows.some((row) => row['is_missing'] === 1)) throw new AttemptMissing();
    return rows;
  }

  #writeStatements(...statements: SqlWithValues[]): Promise<Row[]> {
    return this.thread.run({ isWrite: true, statements });
  }

  /** Like #writeStatements(), but does not wait until the writes are durable. */
  #writeStatementsUnsynced(...statements: SqlWithValues[]): Promise<Row[]> {
    return this.thread.run({ isWrite: true, isUnsynced: true, statements });
  }
}
