import { bytesToUuid } from '../../../shared/uuid';
import { toWireFields } from '../../../shared/wire-object';
import { Batcher } from '../batcher';
import type { Observation, ObservationResult } from '../changes';
import { AttemptMissing, type FenceReason, type FenceState } from '../fence';
import { notDurableError } from '../journal-error';
import { backgroundTimeLimitMs, monotonicMs } from '../deadline';
import {
  JournalUnavailable,
  type AttemptKey,
  type InsertResult,
  type EndedConfirm,
  type Journal,
  type NewAttempt,
  type OutcomeDetails,
  type PurgeStepResult,
  type PurgeStep,
} from '../journal';
import {
  FIND_BY_KEY,
  attemptFromRow,
  jsonValueByInsertColumn,
  isKeyReleased,
  type Row,
  type SqlValue,
} from '../rows';
import { END_CONFIRM_BY_OUTCOME, attemptGroupKey, SqlJournal } from '../sql-journal';
import { keyHash, toStorableText } from '../stored-values';
import {
  RAISE_EPOCH_IF_MOVED,
  READ_WRITERS_HORIZON,
  RECORD_OBSERVATIONS,
  SYNC_EARLIER_COMMITS,
} from './change-statements';
import { recordObservations } from './changes';
import { readFenceState } from './fence';
import { PostgresHostChooser } from './hosts';
import { recordOutcomes, type IdentifiedOutcome } from './outcomes';
import { PLANNER_OPTIONS, INDEX_ORDER_OPTIONS, PostgresPool } from './pool';
import { purgeStep } from './purge';
import {
  CHECK_WRITE,
  INSERT_ATTEMPT_GROUPS,
  FIND_CREATING_ATTEMPTS,
  INSERT_ATTEMPTS,
  LOWER_FENCE,
  RAISE_FENCE,
  RAISE_FENCE_IF_MOVED_RETURNING_STATE,
  RECORD_CONFIRMED_INPUTS_CTE,
  RECORD_OUTCOMES,
} from './statements';

const MAX_BATCH_SIZE = 256;
const MAX_SYNCED_CONNECTIONS = 8;
/** Maximum number of connections for work that must not delay creates: lists, changes, commands, purge, metrics. */
const MAX_BACKGROUND_CONNECTIONS = 4;
/** Server setting: commits do not wait for a disk sync. For writes that the gateway repeats if a crash loses them. */
const ASYNC_COMMIT_OPTION = '-c synchronous_commit=off';
const BACKGROUND_CONNECTION_OPTIONS = `${INDEX_ORDER_OPTIONS} ${ASYNC_COMMIT_OPTION}`;
/** Maximum number of connections for outcomes and observations (one batch of each at a time) and for new groups. */
const MAX_UNSYNCED_CONNECTIONS = 2;

/** The journal in PostgreSQL, which gateways on several machines can share. */
export class PostgresJournal extends SqlJournal implements Journal {
  protected readonly creatingAttemptsStatement = FIND_CREATING_ATTEMPTS;
  /** Connections whose commits wait until they are durable. */
  readonly #syncedPool: PostgresPool;
  /** Like `#syncedPool`, but commits do not wait until they are durable. */
  readonly #unsyncedPool: PostgresPool;
  /** Connections for work that must not delay creates. Their commits do not wait until they are durable. */
  readonly #backgroundPool: PostgresPool;
  readonly #insertBatcher = new Batcher<NewAttempt, InsertResult | null>({
    flush: (attempts, deadlineMs) => this.#insertBatch(attempts, deadlineMs),
    maxBatchSize: MAX_BATCH_SIZE,
    maxBatchesInFlight: 2,
    timeLimitMs: this.timeLimitMs,
    batchExclusion: (attempt) => {
      const { service, channel, externalId, reservesExternalId } = attempt;
      return reservesExternalId
        ? { key: JSON.stringify([service, channel, externalId]), owner: mapKeyOf(attempt) }
        : null;
    },
  });
  readonly #outcomeBatcher = new Batcher<IdentifiedOutcome, boolean | 'missing'>({
    flush: (outcomes, deadlineMs) =>
      recordOutcomes(outcomes, (json) => this.#unsyncedPool.query(RECORD_OUTCOMES, [json], deadlineMs)),
    maxBatchSize: MAX_BATCH_SIZE,
    maxBatchesInFlight: 1,
    timeLimitMs: this.timeLimitMs,
    batchExclusion: (outcome) => ({ key: outcome.attemptId, owner: outcome }),
  });
  readonly #observationBatcher = new Batcher<Observation, ObservationResult>({
    flush: (observations, deadlineMs) =>
      recordObservations(
        observations,
        (json) => this.#unsyncedPool.query(RECORD_OBSERVATIONS, [json], deadlineMs),
        () => this.raiseEpochIfJournalMoved(deadlineMs),
      ),
    maxBatchSize: MAX_BATCH_SIZE,
    maxBatchesInFlight: 1,
    timeLimitMs: this.timeLimitMs,
    // One statement cannot write a row twice. So a batch has at most one observation of each payment or payout.
    batchExclusion: (observation) => {
      const { service, kind, channel, transactionId } = observation;
      return { key: JSON.stringify([service, kind, channel, transactionId]), owner: observation };
    },
  });
  readonly #syncBatcher = new Batcher<null, null>({
    flush: async (waitingSyncs, deadlineMs) => {
      await this.#syncedPool.queryDurably(SYNC_EARLIER_COMMITS, [], deadlineMs);
      return waitingSyncs;
    },
    maxBatchSize: Number.MAX_SAFE_INTEGER,
    maxBatchesInFlight: 1,
    timeLimitMs: this.timeLimitMs,
  });

  constructor(databaseUrl: string, timeLimitMs: number) {
    super(timeLimitMs, 'postgres');
    const hostChooser = new PostgresHostChooser(databaseUrl);
    this.#syncedPool = new PostgresPool(hostChooser, {
      timeLimitMs,
      maxConnections: MAX_SYNCED_CONNECTIONS,
      serverOptions: PLANNER_OPTIONS,
    });
    this.#unsyncedPool = new PostgresPool(hostChooser, {
      timeLimitMs,
      maxConnections: MAX_UNSYNCED_CONNECTIONS,
      serverOptions: `${PLANNER_OPTIONS} ${ASYNC_COMMIT_OPTION}`,
      migrate: () => this.migrate(),
    });
    this.#backgroundPool = new PostgresPool(hostChooser, {
      timeLimitMs: backgroundTimeLimitMs(timeLimitMs),
      maxConnections: MAX_BACKGROUND_CONNECTIONS,
      serverOptions: BACKGROUND_CONNECTION_OPTIONS,
      migrate: () => this.migrate(),
    });
  }

  /** Applies pending migrations, without a time limit. */
  migrate(): Promise<void> {
    return this.#syncedPool.migrate();
  }

  async insertAttempt(attempt: NewAttempt): Promise<InsertResult> {
    const deadlineMs = monotonicMs() + this.timeLimitMs;
    const result = await this.#insertBatcher.add(attempt);
    if (result) return result;
    const { fence } = await this.readFenceState(deadlineMs);
    if ((fence?.since ?? 0) !== attempt.fenceSince) return { kind: 'fence_changed' };
    // Another instance may have taken or released the idempotency key while the INSERT ran.
    const [row] = await this.#syncedPool.query(FIND_BY_KEY, [keyHash(attempt)], deadlineMs);
    const keyHolder = row && attemptFromRow(row);
    if (keyHolder && !isKeyReleased(keyHolder)) return { kind: 'exists', attempt: keyHolder };
    // A failover may have lost the group, although knownGroupKeys contains it.
    const wasGroupMissing = await this.#createAttemptGroups([attempt], deadlineMs);
    if (wasGroupMissing) return this.insertAttempt(attempt);
    return attempt.reservesExternalId ? { kind: 'reserved' } : this.insertAttempt(attempt);
  }

  async recordOutcome(attemptId: string, outcome: OutcomeDetails): Promise<boolean> {
    const result = await this.#outcomeBatcher.add({ attemptId, outcome });
    if (result === 'missing') throw new AttemptMissing();
    return result;
  }

  recordObservation(observation: Observation): Promise<ObservationResult> {
    return this.#observationBatcher.add(observation);
  }

  /**
   * As Journal.readFenceState(). Also rejects with JournalUnavailable if a crash could lose commits (see
   * DURABILITY_CONDITION).
   */
  readFenceState(deadlineMs?: number): Promise<FenceState> {
    return readFenceState(() => this.#syncedPool.query(RAISE_FENCE_IF_MOVED_RETURNING_STATE, [], deadlineMs));
  }

  async setFence(reason: FenceReason | null): Promise<void> {
    await (reason === null ? this.write(LOWER_FENCE) : this.write(RAISE_FENCE, reason));
  }

  async endConfirm(confirmId: string, { outcome, confirmedInputs }: EndedConfirm): Promise<void> {
    const rows = confirmedInputs.map((row) => toWireFields({ ...row, status: toStorableText(row.status) }));
    const sqlText = `${RECORD_CONFIRMED_INPUTS_CTE} ${END_CONFIRM_BY_OUTCOME[outcome]}`;
    await this.write(sqlText, JSON.stringify(rows), confirmId);
  }

  async time(): Promise<number> {
    const [row] = await this.read('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(row?.['now']);
  }

  purgeStep(step: PurgeStep): Promise<PurgeStepResult | null> {
    return purgeStep(this.#backgroundPool, step);
  }

  async checkWrite(fillerSizeBytes: number): Promise<void> {
    const deadlineMs = monotonicMs() + this.timeLimitMs;
    const [row] = await this.#syncedPool.queryDurably(CHECK_WRITE, [Date.now(), fillerSizeBytes], deadlineMs);
    if (row?.['may'] !== true) {
      const message = 'The database user lacks privileges on the tables or sequences of the journal.';
      throw new JournalUnavailable(Object.assign(new Error(message), { code: '42501' }));
    }
    if (row['is_durable'] !== true) throw new JournalUnavailable(notDurableError());
  }

  /** Completes queued attempts, outcomes, observations and syncs, then closes the connections. */
  async close(): Promise<void> {
    const batchers = [this.#insertBatcher, this.#outcomeBatcher, this.#observationBatcher, this.#syncBatcher];
    await Promise.all(batchers.map((batcher) => batcher.close()));
    const pools = [this.#syncedPool, this.#unsyncedPool, this.#backgroundPool];
    await Promise.all(pools.map((pool) => pool.close()));
  }

  protected read(sqlText: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#syncedPool.query(sqlText, values);
  }

  protected write(sqlText: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#syncedPool.query(sqlText, values);
  }

  protected readSeparately(sqlText: string, values: SqlValue[], deadlineMs?: number): Promise<Row[]> {
    return this.#backgroundPool.query(sqlText, values, deadlineMs);
  }

  protected writeUnsynced(sqlText: string, values: SqlValue[]): Promise<Row[]> {
    return this.#backgroundPool.query(sqlText, values);
  }

  protected async sync(): Promise<void> {
    await this.#syncBatcher.add(null);
  }

  protected async raiseEpochIfJournalMoved(deadlineMs?: number): Promise<void> {
    await this.#syncedPool.query(RAISE_EPOCH_IF_MOVED, [], deadlineMs);
  }

  protected override async readWritersHorizon(): Promise<number> {
    const [row] = await this.readSeparately(READ_WRITERS_HORIZON, []);
    return Number(row?.['horizon']);
  }

  /** Inserts a batch of attempts. A null result: the attempt was not inserted, and insertAttempt() finds out why. */
  async #insertBatch(attempts: readonly NewAttempt[], deadlineMs: number): Promise<(InsertResult | null)[]> {
    // One statement cannot write a row twice. So of attempts with the same key, only the first is inserted.
    const attemptByKey = new Map(attempts.toReversed().map((attempt) => [mapKeyOf(attempt), attempt]));
    const records = [...attemptByKey.values()].map((attempt) => {
      const { service, client, channel, kind, reservesExternalId, fenceSince } = attempt;
      const group = { service, client, channel, kind };
      return {
        ...jsonValueByInsertColumn(attempt),
        ...group,
        reserve: reservesExternalId,
        fence_since: fenceSince,
      };
    });
    const ungrouped = attempts.filter((attempt) => !this.knownGroupKeys.has(attemptGroupKey(attempt)));
    if (ungrouped.length > 0) await this.#createAttemptGroups(ungrouped, deadlineMs);
    const rows = await this.#syncedPool.queryDurably(INSERT_ATTEMPTS, [JSON.stringify(records)], deadlineMs);
    const insertedIds = rows.flatMap(({ begun_id: id }) => (id === null ? [] : [bytesToUuid(id as Buffer)]));
    const foundAttempts = rows.flatMap((row) => (row['id'] === null ? [] : [attemptFromRow(row)]));
    const startedAttemptIds = new Set([...insertedIds, ...foundAttempts.map(({ id }) => id)]);
    const keyHolders = foundAttempts.filter((foundAttempt) => !isKeyReleased(foundAttempt));
    const keyHolderByKey = new Map(keyHolders.map((keyHolder) => [mapKeyOf(keyHolder), keyHolder]));
    return attempts.map((attempt): InsertResult | null => {
      if (startedAttemptIds.has(attempt.id)) return { kind: 'started' };
      const keyHolder = keyHolderByKey.get(mapKeyOf(attempt));
      return keyHolder ? { kind: 'exists', attempt: keyHolder } : null;
    });
  }

  /** Creates the groups of attempts. Returns whether at least one group did not exist. */
  async #createAttemptGroups(attempts: readonly NewAttempt[], deadlineMs: number): Promise<boolean> {
    const groups = attempts.map(({ service, client, channel, kind }) => ({ service, client, channel, kind }));
    // Groups need no sync of their own: the sync of the attempts, which are inserted next, includes them.
    const rows = await this.#unsyncedPool.query(INSERT_ATTEMPT_GROUPS, [JSON.stringify(groups)], deadlineMs);
    for (const attempt of attempts) this.knownGroupKeys.set(attemptGroupKey(attempt), true);
    return rows.length > 0;
  }
}

const mapKeyOf = ({ service, client, key }: AttemptKey): string => JSON.stringify([service, client, key]);
