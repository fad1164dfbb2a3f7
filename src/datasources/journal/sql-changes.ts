import {
  comparePositions,
  hasJournalMoved,
  lastExaminedPosition,
  newestPositionStatement,
  lastPurgedPosition,
  changeBatchFromRows,
  readChangesStatement,
} from './change-rows';
import { NOW_SQL_BY_DIALECT } from './change-tables';
import {
  BEFORE_FIRST_CHANGE,
  PositionExpired,
  type ChangeJournal,
  type ChangePosition,
  type ChangeRange,
  type FollowLookupClaim,
  type FollowedCounts,
  type FollowedTransaction,
  type NextLookup,
  type ChangeBatch,
} from './changes';
import { monotonicMs } from './deadline';
import { DIALECTS } from './dialects';
import type { TransactionKind } from './journal';
import { textOrNull, type Row, type SqlValue, type SqlWithValues } from './rows';
import { STORED_TEXT_SQL_BY_DIALECT, shortHash, type Dialect } from './stored-values';

const SERVICE_CONDITION = 'group_id IN (SELECT id FROM attempt_groups WHERE service = ?)';

/**
 * Returns the SELECT that finds which hashes of transaction ids belong to followed transactions (see
 * FollowedTransaction). Parameter: JSON array of hashes.
 */
function followedHashesStatement(dialect: Dialect): string {
  const { inClause, jsonElements } = DIALECTS[dialect];
  return `SELECT DISTINCT transaction_hash FROM followed_transactions
    WHERE transaction_hash ${inClause(`SELECT CAST(value AS INTEGER) FROM ${jsonElements}`)}`;
}

/**
 * Returns the UPDATE of claimFollowed(). It first claims up to `youngLimit` young transactions (changed after
 * `youngIfChangedAfter`), then the most overdue. To bound the search, it looks for young ones only among the
 * `4 * limit` due transactions with the latest due times.
 */
function claimFollowedStatement(dialect: Dialect): string {
  const { inClause, followedByDueTimeFromItem, skipLockedClause } = DIALECTS[dialect];
  const fromDueClause = `FROM ${followedByDueTimeFromItem} WHERE next_lookup_at <= ? AND ${SERVICE_CONDITION}`;
  return `WITH due_last AS MATERIALIZED (
      SELECT id, changed_at ${fromDueClause} ORDER BY next_lookup_at DESC LIMIT 4 * ?),
    young AS MATERIALIZED (
      SELECT id FROM followed_transactions
      WHERE id ${inClause('SELECT id FROM due_last WHERE changed_at > ? LIMIT ?')} AND next_lookup_at <= ? ${skipLockedClause}),
    most_overdue AS MATERIALIZED (
      SELECT id ${fromDueClause} AND NOT id ${inClause('SELECT id FROM young')}
      ORDER BY next_lookup_at LIMIT ? - (SELECT count(*) FROM young) ${skipLockedClause})
    UPDATE followed_transactions SET next_lookup_at = ?
    WHERE id ${inClause('SELECT id FROM young UNION ALL SELECT id FROM most_overdue')}
    RETURNING id, (SELECT kind FROM attempt_groups WHERE attempt_groups.id = group_id) AS kind,
      (SELECT channel FROM attempt_groups WHERE attempt_groups.id = group_id) AS channel,
      ${STORED_TEXT_SQL_BY_DIALECT[dialect]('transaction_id')} AS transaction_id, status, state, created_at, changed_at, failures`;
}

/**
 * Returns the statement that stores the due times of the next lookups. Skips rows that have changed since
 * `changedAt`. Locks rows in the order of their ids, as RECORD_OBSERVATIONS does, which prevents deadlocks. Parameter:
 * JSON array of [id, due time of the next lookup, failures, `changedAt`].
 */
function scheduleFollowedStatement(dialect: Dialect): string {
  const { inClause, jsonElements, lockClause } = DIALECTS[dialect];
  return `WITH input AS MATERIALIZED (
      SELECT CAST(value ->> 0 AS BIGINT) AS id, CAST(value ->> 1 AS BIGINT) AS next_lookup_at,
        CAST(value ->> 2 AS INTEGER) AS failures, CAST(value ->> 3 AS BIGINT) AS changed_at FROM ${jsonElements}),
    locked AS MATERIALIZED (
      SELECT id FROM followed_transactions AS f WHERE id ${inClause('SELECT id FROM input')}
        AND changed_at = (SELECT input.changed_at FROM input WHERE input.id = f.id LIMIT 1)
      ORDER BY id ${lockClause})
    UPDATE followed_transactions AS f SET (next_lookup_at, failures) =
      (SELECT input.next_lookup_at, input.failures FROM input WHERE input.id = f.id LIMIT 1)
    WHERE f.id ${inClause('SELECT id FROM locked')}`;
}

/** Returns the SELECT for FollowedCounts. Parameter: the service. */
const countFollowedStatement = (dialect: Dialect): string =>
  `WITH clock AS MATERIALIZED (SELECT ${NOW_SQL_BY_DIALECT[dialect]} AS now)
  SELECT count(*) AS followed, count(*) FILTER (WHERE next_lookup_at <= (SELECT now FROM clock)) AS due,
    min(next_lookup_at) AS oldest
  FROM followed_transactions WHERE next_lookup_at IS NOT NULL AND ${SERVICE_CONDITION}`;

/**
 * Maximum time in ms for which the horizon may stay the same while some changes are not readable. Afterwards,
 * readChanges() calls readWritersHorizon().
 */
const HORIZON_STUCK_AFTER_MS = 50;

/**
 * The methods for the record of changes (see changes.ts) that are the same in PostgreSQL and SQLite. Reads return only
 * durable changes. Otherwise, if a crash lost a change that a reader already has, a later change could get the same
 * position, and the reader would skip it.
 */
export abstract class SqlChanges implements Omit<ChangeJournal, 'recordObservation'> {
  /** Changes up to this position are known to be durable. */
  #durableUpTo: ChangePosition = BEFORE_FIRST_CHANGE;

  /**
   * The horizon that was read last. Changes of the current epoch are readable only if their `xid` is below the horizon
   * (see EPOCH_SELECT_BY_DIALECT in change-rows.ts). `since`: when this horizon was first read, by `monotonicMs`.
   */
  #lastHorizon = { horizon: 0, since: 0 };

  protected constructor(protected readonly dialect: Dialect) {}

  /**
   * Reads over separate connections, so that creates are not delayed.
   * @param deadlineMs end of the time limit, by `monotonicMs`; SQLite ignores it
   */
  protected abstract readSeparately(text: string, values: SqlValue[], deadlineMs?: number): Promise<Row[]>;
  /** Runs a statement that writes. Does not wait until the write is durable. */
  protected abstract writeUnsynced(text: string, values: SqlValue[]): Promise<Row[]>;
  /** Resolves when everything that was committed before the call is durable. */
  protected abstract sync(): Promise<void>;
  /** Begins a new epoch (see ChangePosition) if the journal has moved to another database. */
  protected abstract raiseEpochIfJournalMoved(): Promise<void>;
  /**
   * Returns a horizon (see #lastHorizon) that does not depend on database transactions that write no changes; 0 if it
   * cannot be determined. See READ_WRITERS_HORIZON in postgres/change-statements.ts. SQLite does not have this method,
   * because there each committed change is readable immediately.
   */
  protected readWritersHorizon?(): Promise<number>;

  async mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]> {
    const hashes = transactionIds.map(shortHash);
    const rows = await this.readSeparately(followedHashesStatement(this.dialect), [JSON.stringify(hashes)]);
    const followedHashes = new Set(rows.map((row) => row['transaction_hash']));
    return hashes.map((hash) => followedHashes.has(hash));
  }

  async claimFollowed(claim: FollowLookupClaim): Promise<FollowedTransaction[]> {
    const { service, now, youngIfChangedAfter, youngLimit, limit, leaseUntil } = claim;
    const youngParameters = [now, service, limit, youngIfChangedAfter, youngLimit, now];
    const values = [...youngParameters, now, service, limit, leaseUntil];
    const rows = await this.writeUnsynced(claimFollowedStatement(this.dialect), values);
    return rows.map(followedFromRow);
  }

  async scheduleFollowed(nextLookups: readonly NextLookup[]): Promise<void> {
    const lookupTuples = nextLookups.map((lookup) => [
      lookup.followedId,
      lookup.nextLookupAt,
      lookup.failures,
      lookup.changedAt,
    ]);
    await this.writeUnsynced(scheduleFollowedStatement(this.dialect), [JSON.stringify(lookupTuples)]);
  }

  async countFollowed(serviceName: string): Promise<FollowedCounts> {
    const [row = {}] = await this.readSeparately(countFollowedStatement(this.dialect), [serviceName]);
    const dueCount = Number(row['due']);
    return {
      followed: Number(row['followed']),
      due: dueCount,
      oldestDueAt: dueCount > 0 ? Number(row['oldest']) : null,
    };
  }

  async readChanges(range: ChangeRange): Promise<ChangeBatch> {
    let [firstRow = {}, ...otherRows] = await this.#readInCurrentEpoch(
      readChangesStatement(this.dialect, range),
    );
    if (this.readWritersHorizon && this.#isHorizonStuck(firstRow)) {
      const writersHorizon = await this.readWritersHorizon();
      [firstRow = {}, ...otherRows] = await this.#readInCurrentEpoch(
        readChangesStatement(this.dialect, range, writersHorizon),
      );
    }
    const purgedUpTo = lastPurgedPosition(firstRow);
    if (range.after && comparePositions(range.after, purgedUpTo) < 0) throw new PositionExpired(purgedUpTo);
    await this.#ensureDurable(lastExaminedPosition(firstRow));
    return changeBatchFromRows([firstRow, ...otherRows], range);
  }

  async newestChange(serviceName: string, channel: string): Promise<ChangePosition> {
    const writersHorizon = (await this.readWritersHorizon?.()) ?? 0;
    const [row = {}] = await this.#readInCurrentEpoch(
      newestPositionStatement(this.dialect, [serviceName, channel], writersHorizon),
    );
    const newestPosition = lastExaminedPosition(row);
    await this.#ensureDurable(newestPosition);
    return newestPosition ?? lastPurgedPosition(row);
  }

  async #readInCurrentEpoch({ text, values }: SqlWithValues): Promise<Row[]> {
    const rows = await this.readSeparately(text, values);
    if (!hasJournalMoved(rows[0])) return rows;
    await this.raiseEpochIfJournalMoved();
    return this.readSeparately(text, values);
  }

  /**
   * Whether some changes are not readable yet, and the horizon (see #lastHorizon) has been the same for more than
   * HORIZON_STUCK_AFTER_MS. If so, readChanges() reads again, with the horizon of readWritersHorizon().
   */
  #isHorizonStuck(row: Row): boolean {
    const horizon = Number(row['horizon']);
    const now = monotonicMs();
    if (horizon !== this.#lastHorizon.horizon) this.#lastHorizon = { horizon, since: now };
    return row['has_unreadable'] === true && now - this.#lastHorizon.since > HORIZON_STUCK_AFTER_MS;
  }

  async #ensureDurable(position: ChangePosition | null): Promise<void> {
    if (!position || comparePositions(position, this.#durableUpTo) <= 0) return;
    await this.sync();
    if (comparePositions(position, this.#durableUpTo) > 0) this.#durableUpTo = position;
  }
}

const followedFromRow = (row: Row): FollowedTransaction => ({
  followedId: Number(row['id']),
  kind: row['kind'] as TransactionKind,
  channel: String(row['channel']),
  transactionId: String(row['transaction_id']),
  status: textOrNull(row['status']),
  state: textOrNull(row['state']),
  createSucceededAt: Number(row['created_at']),
  changedAt: Number(row['changed_at']),
  failures: Number(row['failures']),
});
