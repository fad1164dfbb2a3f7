import { Batcher } from '../batcher';
import type { ChangeJournal, Observation, ObservationResult, ObservedState } from '../changes';
import { JournalUnavailable } from '../journal';
import { unclassifiedError } from '../journal-error';
import type { Row, SqlValue } from '../rows';
import { SqlChanges } from '../sql-changes';
import { toJsonValue, shortHash, toStorableText, toStoredText } from '../stored-values';
import { RAISE_EPOCH_IF_MOVED, READ_WRITERS_HORIZON, RECORD_OBSERVATIONS, SYNC } from './change-statements';
import type { PostgresPool } from './pool';

const MAX_BATCH = 256;

interface PostgresChangesOptions {
  /** Connections whose commits wait until they are durable. */
  pool: PostgresPool;
  /** Connections with the same time limit as `pool`. Their commits do not wait until they are durable. */
  unsyncedPool: PostgresPool;
  /** Connections for work that must not delay creates. Their commits do not wait until they are durable. */
  backgroundPool: PostgresPool;
  /** Time limit of an observation or a sync in ms, including its time in the queue. */
  timeLimitMs: number;
}

/** The record of changes in PostgreSQL. */
export class PostgresChanges extends SqlChanges implements ChangeJournal {
  readonly #observations: Batcher<Observation, ObservationResult>;
  readonly #syncs: Batcher<null, null>;

  constructor(private readonly options: PostgresChangesOptions) {
    super('postgres');
    const { timeLimitMs, pool } = options;
    this.#observations = new Batcher({
      flush: (observations, until) => this.#recordAll(observations, until),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      timeLimitMs,
      // One statement cannot write a row twice. So a batch has at most one observation of each payment or payout.
      batchExclusion: (observation) => ({ key: transactionKey(observation), owner: observation }),
    });
    this.#syncs = new Batcher({
      flush: async (requests, until) => {
        await pool.queryDurably(SYNC, [], until);
        return requests;
      },
      maxBatch: Number.MAX_SAFE_INTEGER,
      concurrency: 1,
      timeLimitMs,
    });
  }

  recordObservation(observation: Observation): Promise<ObservationResult> {
    return this.#observations.add(observation);
  }

  /** Resolves when all queued observations and syncs have succeeded or failed. */
  async close(): Promise<void> {
    await Promise.all([this.#observations.close(), this.#syncs.close()]);
  }

  protected read(text: string, values: SqlValue[]): Promise<Row[]> {
    return this.options.backgroundPool.query(text, values);
  }

  protected writeUnsynced(text: string, values: SqlValue[]): Promise<Row[]> {
    return this.options.backgroundPool.query(text, values);
  }

  protected async sync(): Promise<void> {
    await this.#syncs.add(null);
  }

  protected async raiseEpochIfMoved(until?: number): Promise<void> {
    await this.options.pool.query(RAISE_EPOCH_IF_MOVED, [], until);
  }

  protected override async readWritersHorizon(): Promise<number> {
    const [row] = await this.read(READ_WRITERS_HORIZON, []);
    return Number(row?.['horizon']);
  }

  async #recordAll(observations: readonly Observation[], until: number): Promise<ObservationResult[]> {
    const records = JSON.stringify(observations.map(observationValues));
    const recordBatch = (): Promise<Row[]> =>
      this.options.unsyncedPool.query(RECORD_OBSERVATIONS, [records], until);
    let rows = await recordBatch();
    if (isEpochOutdated(rows)) {
      await this.raiseEpochIfMoved(until);
      rows = await recordBatch();
      if (isEpochOutdated(rows))
        throw new JournalUnavailable(
          unclassifiedError(
            'the journal moved to another database while changes were recorded; the gateway tries again',
          ),
        );
    }
    const results = new Map(rows.map(({ place, result }) => [place, result as ObservationResult]));
    return observations.map((_, place) => results.get(place) ?? 'not_followed');
  }
}

const isEpochOutdated = (rows: readonly Row[]): boolean => rows.some(({ place }) => place === null);

const transactionKey = ({ service, kind, channel, transactionId }: Observation): string =>
  JSON.stringify([service, kind, channel, transactionId]);

const observationValues = (observation: Observation, place: number) => ({
  place,
  service: observation.service,
  kind: observation.kind,
  channel: observation.channel,
  transaction_hash: shortHash(observation.transactionId),
  transaction_id: toJsonValue(toStoredText(observation.transactionId)),
  requested_at: observation.requestedAt,
  observed_at: observation.observedAt,
  ...observedStateValues(observation),
});

/** Returns the values of OBSERVED_STATE_COLUMNS, by column name. */
export const observedStateValues = ({ status, state, received, isFinal, nextLookupAt }: ObservedState) => ({
  observed_status: toStorableText(status),
  observed_state: state && toStorableText(state),
  received: received && toStorableText(received),
  is_final: isFinal,
  next_lookup_at: nextLookupAt,
});
