import { Batcher } from '../batcher';
import { followedFromRow } from '../change-rows';
import { ChangeReader } from '../change-reader';
import type {
  ChangeJournal,
  ChangePosition,
  ChangeRange,
  FollowClaim,
  FollowCount,
  FollowedTransaction,
  FollowSchedule,
  Observation,
  ObservationResult,
  ObservedState,
  ReadChanges,
} from '../changes';
import { JournalUnavailable } from '../journal';
import type { Row } from '../rows';
import { shortHash, toStorableText, toStoredText } from '../stored-values';
import {
  CLAIM_FOLLOWED,
  FOLLOWED_HASHES,
  RAISE_EPOCH,
  READ_OWN_HORIZON,
  RECORD_OBSERVATIONS,
  SCHEDULE_FOLLOWED,
  SYNC,
} from './change-statements';
import { inJson } from './json';
import type { PostgresPool } from './pool';

const MAX_BATCH = 256;

interface PostgresChangesOptions {
  /** Connections whose commits wait until they are durable. */
  pool: PostgresPool;
  /** Connections whose commits wait for no sync, with limits like those of `pool`. */
  unsyncedPool: PostgresPool;
  /** Connections for reads that no create waits for. */
  backgroundPool: PostgresPool;
  timeLimitMs: number;
}

/** The record of changes in PostgreSQL. Changes wait for no sync, because `ChangeReader` syncs before it returns them. */
export class PostgresChanges implements ChangeJournal {
  readonly #options: PostgresChangesOptions;
  readonly #observations: Batcher<Observation, ObservationResult>;
  readonly #syncs: Batcher<null, null>;
  readonly #reader: ChangeReader;

  constructor(options: PostgresChangesOptions) {
    const { timeLimitMs, pool, backgroundPool } = options;
    this.#options = options;
    this.#observations = new Batcher({
      flush: (observations, until) => this.#recordAll(observations, until),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      timeLimitMs,
      // One statement cannot write a row twice.
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
    this.#reader = new ChangeReader({
      dialect: 'postgres',
      read: (text, values) => backgroundPool.query(text, values),
      sync: async () => void (await this.#syncs.add(null)),
      readOwnHorizon: async () => Number((await backgroundPool.query(READ_OWN_HORIZON, []))[0]?.['horizon']),
      raiseEpoch: () => this.raiseEpoch(false),
    });
  }

  recordObservation(observation: Observation): Promise<ObservationResult> {
    return this.#observations.add(observation);
  }

  async mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]> {
    const hashes = transactionIds.map(shortHash);
    const rows = await this.#options.backgroundPool.query(FOLLOWED_HASHES, [JSON.stringify(hashes)]);
    const followed = new Set(rows.map((row) => row['transaction_hash']));
    return hashes.map((hash) => followed.has(hash));
  }

  async claimFollowed(claim: FollowClaim): Promise<FollowedTransaction[]> {
    const { service, now, youngSince, youngLimit, limit, leaseUntil } = claim;
    const values = [service, now, youngSince, youngLimit, limit, leaseUntil];
    return (await this.#options.backgroundPool.query(CLAIM_FOLLOWED, values)).map(followedFromRow);
  }

  async scheduleFollowed(schedules: readonly FollowSchedule[]): Promise<void> {
    const rows = schedules.map(({ id, nextLookupAt, failures }) => ({
      id,
      next_lookup_at: nextLookupAt,
      failures,
    }));
    await this.#options.backgroundPool.query(SCHEDULE_FOLLOWED, [JSON.stringify(rows)]);
  }

  countFollowed(service: string): Promise<FollowCount> {
    return this.#reader.countFollowed(service);
  }

  readChanges(range: ChangeRange): Promise<ReadChanges> {
    return this.#reader.readChanges(range);
  }

  newestChange(service: string, channel: string): Promise<ChangePosition> {
    return this.#reader.newestChange(service, channel);
  }

  /** Begins a new epoch. @param always also if the database is the one of the current epoch */
  async raiseEpoch(always: boolean, until?: number): Promise<void> {
    await this.#options.pool.query(RAISE_EPOCH, [always], until);
  }

  /** Completes queued writes. */
  async close(): Promise<void> {
    await Promise.all([this.#observations.close(), this.#syncs.close()]);
  }

  async #recordAll(observations: readonly Observation[], until: number): Promise<ObservationResult[]> {
    const records = JSON.stringify(observations.map(observationRecord));
    const record = (): Promise<Row[]> =>
      this.#options.unsyncedPool.query(RECORD_OBSERVATIONS, [records], until);
    let rows = await record();
    if (isWithoutEpoch(rows)) {
      await this.raiseEpoch(false, until);
      rows = await record();
      if (isWithoutEpoch(rows))
        throw new JournalUnavailable(new Error('The journal moves between databases.'));
    }
    const results = new Map(rows.map(({ place, result }) => [place, result as ObservationResult]));
    return observations.map((_, place) => results.get(place) ?? 'not_followed');
  }
}

const isWithoutEpoch = (rows: readonly Row[]): boolean => rows.some(({ place }) => place === null);

const transactionKey = ({ service, kind, channel, transactionId }: Observation): string =>
  JSON.stringify([service, kind, channel, transactionId]);

const observationRecord = (observation: Observation, place: number) => ({
  place,
  service: observation.service,
  kind: observation.kind,
  channel: observation.channel,
  transaction_hash: shortHash(observation.transactionId),
  transaction_id: inJson(toStoredText(observation.transactionId)),
  status: toStorableText(observation.status),
  state: observation.state && toStorableText(observation.state),
  received: observation.received && toStorableText(observation.received),
  is_final: observation.isFinal,
  next_lookup_at: observation.nextLookupAt,
  requested_at: observation.requestedAt,
  observed_at: observation.observedAt,
});

/** Returns the input of RECORD_OUTCOMES for what the response to a create showed. */
export const observedRecord = ({ status, state, received, isFinal, nextLookupAt }: ObservedState) => ({
  observed_status: toStorableText(status),
  observed_state: state && toStorableText(state),
  received: received && toStorableText(received),
  is_final: isFinal,
  next_lookup_at: nextLookupAt,
});
