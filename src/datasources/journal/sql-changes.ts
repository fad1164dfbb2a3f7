import {
  comparePositions,
  isOfOtherDatabase,
  lastPosition,
  newestStatement,
  purgedPosition,
  readChangesFromRows,
  readStatement,
  type Query,
} from './change-rows';
import { NOW } from './change-tables';
import {
  FIRST_POSITION,
  PositionExpired,
  type ChangeJournal,
  type ChangePosition,
  type ChangeRange,
  type FollowClaim,
  type FollowCount,
  type FollowedTransaction,
  type FollowSchedule,
  type ReadChanges,
} from './changes';
import { monotonicMs } from './deadline';
import { DIALECTS } from './dialects';
import type { AttemptKind } from './journal';
import { textOrNull, type Row, type SqlValue } from './rows';
import { READ_STORED_TEXT, shortHash, type Dialect } from './stored-values';

const OF_SERVICE = 'group_id IN (SELECT id FROM attempt_groups WHERE service = ?)';

/** Parameter: hashes of transaction ids as JSON. */
function followedHashes(dialect: Dialect): string {
  const { isIn, jsonElements } = DIALECTS[dialect];
  return `SELECT DISTINCT transaction_hash FROM followed_transactions
    WHERE transaction_hash ${isIn(`SELECT CAST(value AS INTEGER) FROM ${jsonElements}`)}`;
}

/**
 * Finds young transactions among those that became due last, so that it reads no more of them than four times the limit.
 * Parameters: now, service, limit, the time since which a transaction is young, limit of young ones; now; now, service,
 * limit; end of the lease.
 */
function claimStatement(dialect: Dialect): string {
  const { isIn, followedByDueTime, skipLocked } = DIALECTS[dialect];
  const due = `FROM ${followedByDueTime} WHERE next_lookup_at <= ? AND ${OF_SERVICE}`;
  return `WITH due_last AS MATERIALIZED (
      SELECT id, changed_at ${due} ORDER BY next_lookup_at DESC LIMIT 4 * ?),
    young AS MATERIALIZED (
      SELECT id FROM followed_transactions
      WHERE id ${isIn('SELECT id FROM due_last WHERE changed_at > ? LIMIT ?')} AND next_lookup_at <= ? ${skipLocked}),
    longest AS MATERIALIZED (
      SELECT id ${due} AND NOT id ${isIn('SELECT id FROM young')}
      ORDER BY next_lookup_at LIMIT ? - (SELECT count(*) FROM young) ${skipLocked})
    UPDATE followed_transactions SET next_lookup_at = ?
    WHERE id ${isIn('SELECT id FROM young UNION ALL SELECT id FROM longest')}
    RETURNING id, (SELECT kind FROM attempt_groups WHERE attempt_groups.id = group_id) AS kind,
      (SELECT channel FROM attempt_groups WHERE attempt_groups.id = group_id) AS channel,
      ${READ_STORED_TEXT[dialect]('transaction_id')} AS transaction_id, status, created_at, changed_at, failures`;
}

/** Locks in the order of the ids, as RECORD_OBSERVATIONS does. Parameter: [id, next lookup, failures] of each as JSON. */
function scheduleStatement(dialect: Dialect): string {
  const { isIn, jsonElements, lock } = DIALECTS[dialect];
  return `WITH input AS MATERIALIZED (
      SELECT CAST(value ->> 0 AS BIGINT) AS id, CAST(value ->> 1 AS BIGINT) AS next_lookup_at,
        CAST(value ->> 2 AS INTEGER) AS failures FROM ${jsonElements}),
    locked AS MATERIALIZED (
      SELECT id FROM followed_transactions WHERE id ${isIn('SELECT id FROM input')} ORDER BY id ${lock})
    UPDATE followed_transactions AS f SET (next_lookup_at, failures) =
      (SELECT input.next_lookup_at, input.failures FROM input WHERE input.id = f.id LIMIT 1)
    WHERE f.id ${isIn('SELECT id FROM locked')}`;
}

/** Parameter: the service. */
const countStatement = (dialect: Dialect): string =>
  `WITH clock AS MATERIALIZED (SELECT ${NOW[dialect]} AS now)
  SELECT count(*) AS followed, count(*) FILTER (WHERE next_lookup_at <= (SELECT now FROM clock)) AS due,
    min(next_lookup_at) AS oldest
  FROM followed_transactions WHERE next_lookup_at IS NOT NULL AND ${OF_SERVICE}`;

/** Time in ms after which readOwnHorizon() checks whether a database transaction that delays changes writes changes itself. */
const DELAYED_MS = 50;

/**
 * The part of the record of changes that PostgreSQL and SQLite share. The changes that it returns are durable, so that no
 * crash can lose one and assign its position to another.
 */
export abstract class SqlChanges implements Omit<ChangeJournal, 'recordObservation'> {
  /** Position up to which changes are known to be durable. */
  #durableUntil: ChangePosition = FIRST_POSITION;

  /** The oldest transaction in progress, and since when this instance knows of it, by `monotonicMs`. */
  #oldest = { horizon: 0, since: 0 };

  protected constructor(private readonly dialect: Dialect) {}

  /** Reads without delaying creates. */
  protected abstract read(text: string, values: SqlValue[]): Promise<Row[]>;
  /** Writes without a sync and without delaying creates. */
  protected abstract writeUnsynced(text: string, values: SqlValue[]): Promise<Row[]>;
  /** Makes everything durable that was committed before the call. */
  protected abstract sync(): Promise<void>;
  /** Begins a new epoch if the database is not the one of the current epoch. */
  protected abstract correctEpoch(): Promise<void>;
  /**
   * Reads up to which id of a database transaction no transaction that writes changes is in progress. Absent if none of
   * another kind delays changes.
   */
  protected readOwnHorizon?(): Promise<number>;

  async mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]> {
    const hashes = transactionIds.map(shortHash);
    const rows = await this.read(followedHashes(this.dialect), [JSON.stringify(hashes)]);
    const followed = new Set(rows.map((row) => row['transaction_hash']));
    return hashes.map((hash) => followed.has(hash));
  }

  async claimFollowed(claim: FollowClaim): Promise<FollowedTransaction[]> {
    const { service, now, youngSince, youngLimit, limit, leaseUntil } = claim;
    const values = [now, service, limit, youngSince, youngLimit, now, now, service, limit, leaseUntil];
    const rows = await this.writeUnsynced(claimStatement(this.dialect), values);
    return rows.map(followedFromRow);
  }

  async scheduleFollowed(schedules: readonly FollowSchedule[]): Promise<void> {
    const rows = schedules.map(({ id, nextLookupAt, failures }) => [id, nextLookupAt, failures]);
    await this.writeUnsynced(scheduleStatement(this.dialect), [JSON.stringify(rows)]);
  }

  async countFollowed(service: string): Promise<FollowCount> {
    const [row = {}] = await this.read(countStatement(this.dialect), [service]);
    const due = Number(row['due']);
    return { followed: Number(row['followed']), due, oldestDueAt: due > 0 ? Number(row['oldest']) : null };
  }

  /** @throws PositionExpired */
  async readChanges(range: ChangeRange): Promise<ReadChanges> {
    let [first = {}, ...others] = await this.#read(readStatement(this.dialect, range));
    if (this.readOwnHorizon && this.#isDelayed(first)) {
      const horizon = await this.readOwnHorizon();
      [first = {}, ...others] = await this.#read(readStatement(this.dialect, range, horizon));
    }
    const purged = purgedPosition(first);
    if (range.after && comparePositions(range.after, purged) < 0) throw new PositionExpired(purged);
    await this.#ensureDurable(lastPosition(first));
    return readChangesFromRows([first, ...others], range);
  }

  async newestChange(service: string, channel: string): Promise<ChangePosition> {
    const horizon = (await this.readOwnHorizon?.()) ?? 0;
    const [row = {}] = await this.#read(newestStatement(this.dialect, [service, channel], horizon));
    const newest = lastPosition(row);
    await this.#ensureDurable(newest);
    return newest ?? purgedPosition(row);
  }

  async #read({ text, values }: Query): Promise<Row[]> {
    const rows = await this.read(text, values);
    if (!isOfOtherDatabase(rows[0])) return rows;
    await this.correctEpoch();
    return this.read(text, values);
  }

  /** Whether the same database transaction has delayed changes for more than DELAYED_MS. */
  #isDelayed(row: Row): boolean {
    const horizon = Number(row['horizon']);
    const now = monotonicMs();
    if (horizon !== this.#oldest.horizon) this.#oldest = { horizon, since: now };
    return row['is_behind'] === true && now - this.#oldest.since > DELAYED_MS;
  }

  async #ensureDurable(position: ChangePosition | null): Promise<void> {
    if (!position || comparePositions(position, this.#durableUntil) <= 0) return;
    await this.sync();
    if (comparePositions(position, this.#durableUntil) > 0) this.#durableUntil = position;
  }
}

const followedFromRow = (row: Row): FollowedTransaction => ({
  id: Number(row['id']),
  kind: row['kind'] as AttemptKind,
  channel: String(row['channel']),
  transactionId: String(row['transaction_id']),
  status: textOrNull(row['status']),
  createdAt: Number(row['created_at']),
  changedAt: Number(row['changed_at']),
  failures: Number(row['failures']),
});
