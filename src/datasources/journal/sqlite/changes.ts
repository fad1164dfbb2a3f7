import { followedColumns, followedFromRow } from '../change-rows';
import { ChangeReader } from '../change-reader';
import { NOW } from '../change-tables';
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
import { hasId, idValues } from '../rows';
import { shortHash, toStoredText } from '../stored-values';
import type { Statement } from './messages';
import { sql, type SqliteThread } from './thread';

/** Columns that a change and a followed transaction take from the attempt. */
const COMMON = 'group_id, transaction_id, external_id, method, currency, value';

const FEED_OF_GROUP = `(SELECT feeds.id FROM attempt_groups AS own JOIN change_feeds AS feeds USING (service, channel)
  WHERE own.id = group_id)`;

const CURRENT_EPOCH = '(SELECT epoch FROM change_epoch)';

/** These two follow the statement that settles an attempt. They do nothing if it changed no row. */
const RECORD_FIRST_CHANGE = `INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COMMON}, status, state, received)
  SELECT ${CURRENT_EPOCH}, 0, settled_at, ${FEED_OF_GROUP}, ${COMMON}, ?, ?, ?
  FROM stored_attempts WHERE ${hasId('id')} AND changes() = 1`;

const FOLLOW = `INSERT INTO followed_transactions (created_at, changed_at, observed_at, next_lookup_at, ${COMMON},
    transaction_hash, status, state)
  SELECT settled_at, settled_at, ?, ?, ${COMMON}, transaction_hash, ?, ?
  FROM stored_attempts WHERE ${hasId('id')} AND changes() = 1`;

/** Returns the statements that follow the one that settles an attempt which succeeded. */
export function firstChange(id: string, settledAt: number, observed: ObservedState | undefined): Statement[] {
  const attempt = idValues(id);
  if (!observed) return [sql(FOLLOW, 0, settledAt, null, null, ...attempt)];
  const { status, state, received, isFinal, nextLookupAt } = observed;
  const change = sql(RECORD_FIRST_CHANGE, status, state, received, ...attempt);
  return isFinal ? [change] : [change, sql(FOLLOW, settledAt, nextLookupAt, status, state, ...attempt)];
}

/** Parameters: hash and id of the transaction, service, kind, channel. */
const FOLLOWED_ID = `(SELECT f.id FROM followed_transactions AS f INDEXED BY followed_by_transaction
  JOIN attempt_groups AS own ON own.id = f.group_id
  WHERE f.transaction_hash = ? AND f.transaction_id = ? AND own.service = ? AND own.kind = ? AND own.channel = ?)`;

const IS_NOT_FOLLOWED = `SELECT 'not_followed' AS result WHERE ${FOLLOWED_ID} IS NULL`;

const UNCHANGED = `UPDATE followed_transactions
  SET failures = 0, next_lookup_at = ?, observed_at = max(observed_at, ?)
  WHERE id = ${FOLLOWED_ID} AND status = ? AND state IS ? RETURNING 'unchanged' AS result`;

const OUTDATED = `UPDATE followed_transactions SET failures = 0, next_lookup_at = ?
  WHERE id = ${FOLLOWED_ID} AND observed_at > ? RETURNING 'outdated' AS result`;

const RECORD = `INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COMMON}, previous_status, status, state, received)
  SELECT ${CURRENT_EPOCH}, 0, ?, ${FEED_OF_GROUP}, ${COMMON}, status, ?, ?, ?
  FROM followed_transactions WHERE id = ${FOLLOWED_ID}`;

const END = `DELETE FROM followed_transactions WHERE id = ${FOLLOWED_ID} RETURNING 'recorded' AS result`;

const UPDATE = `UPDATE followed_transactions
  SET failures = 0, status = ?, state = ?, changed_at = ?, observed_at = max(observed_at, ?), next_lookup_at = ?
  WHERE id = ${FOLLOWED_ID} RETURNING 'recorded' AS result`;

/** Returns statements of which each runs only if those before it do not apply. */
function observationStatements(observation: Observation): Statement[] {
  const { service, kind, channel, transactionId, requestedAt, observedAt } = observation;
  const { status, state, received, isFinal, nextLookupAt } = observation;
  const id = [shortHash(transactionId), toStoredText(transactionId), service, kind, channel];
  const soon = nextLookupAt === null ? null : observedAt;
  return [
    sql(IS_NOT_FOLLOWED, ...id),
    sql(UNCHANGED, nextLookupAt, observedAt, ...id, status, state),
    ...(isFinal ? [] : [sql(OUTDATED, soon, ...id, requestedAt)]),
    sql(RECORD, observedAt, status, state, received, ...id),
    isFinal ? sql(END, ...id) : sql(UPDATE, status, state, observedAt, observedAt, nextLookupAt, ...id),
  ];
}

const DUE = `FROM followed_transactions AS f INDEXED BY followed_due
  WHERE next_lookup_at <= ? AND group_id IN (SELECT id FROM attempt_groups WHERE service = ?)`;

/** Finds young transactions among those that became due last, so that it reads no more of them than four times the limit. */
const CLAIM = `WITH young AS MATERIALIZED (
    SELECT id FROM (SELECT id, changed_at ${DUE} ORDER BY next_lookup_at DESC LIMIT 4 * ?)
    WHERE changed_at > ? LIMIT ?),
  longest AS MATERIALIZED (
    SELECT id ${DUE} AND id NOT IN (SELECT id FROM young)
    ORDER BY next_lookup_at LIMIT ? - (SELECT count(*) FROM young))
  UPDATE followed_transactions SET next_lookup_at = ?
  WHERE id IN (SELECT id FROM young UNION ALL SELECT id FROM longest)
  RETURNING ${followedColumns('sqlite')}`;

const FOLLOWED_HASHES = `SELECT input.value AS transaction_hash FROM json_each(?) AS input
  WHERE EXISTS (SELECT 1 FROM followed_transactions AS f WHERE f.transaction_hash = input.value)`;

const SCHEDULE = `UPDATE followed_transactions AS f
  SET next_lookup_at = input.value ->> 1, failures = input.value ->> 2
  FROM json_each(?) AS input WHERE f.id = input.value ->> 0`;

/** Changes a row, because SQLite neither writes nor syncs anything when an update leaves the values as they are. */
const SYNC = `INSERT INTO write_checks (id, checked_at, filler) VALUES (2, 0, zeroblob(0))
  ON CONFLICT (id) DO UPDATE SET checked_at = checked_at + 1`;

/** Begins a new epoch. Everything written earlier is ordered before it. */
export const RAISE_EPOCH = `UPDATE change_epoch SET epoch = max(epoch + 1, ${NOW.sqlite})`;

/** The record of changes in SQLite. Changes wait for no sync, because `ChangeReader` syncs before it returns them. */
export class SqliteChanges implements ChangeJournal {
  readonly #thread: SqliteThread;
  readonly #background: SqliteThread;
  readonly #reader: ChangeReader;

  /** @param background thread for reads that no create waits for */
  constructor(thread: SqliteThread, background: SqliteThread) {
    this.#thread = thread;
    this.#background = background;
    this.#reader = new ChangeReader({
      dialect: 'sqlite',
      read: (text, values) => background.run({ write: false, statements: [sql(text, ...values)] }),
      sync: async () => void (await thread.run({ write: true, statements: [sql(SYNC)] })),
      // Opening the file does this.
      raiseEpoch: async () => undefined,
    });
  }

  async recordObservation(observation: Observation): Promise<ObservationResult> {
    const statements = observationStatements(observation);
    const [row] = await this.#thread.run({ write: true, isUnsynced: true, statements });
    return row?.['result'] as ObservationResult;
  }

  async mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]> {
    const hashes = transactionIds.map(shortHash);
    const statements = [sql(FOLLOWED_HASHES, JSON.stringify(hashes))];
    const rows = await this.#background.run({ write: false, statements });
    const followed = new Set(rows.map((row) => row['transaction_hash']));
    return hashes.map((hash) => followed.has(hash));
  }

  async claimFollowed(claim: FollowClaim): Promise<FollowedTransaction[]> {
    const { service, now, youngSince, youngLimit, limit, leaseUntil } = claim;
    const due = [now, service];
    const statement = sql(CLAIM, ...due, limit, youngSince, youngLimit, ...due, limit, leaseUntil);
    const rows = await this.#thread.run({ write: true, isUnsynced: true, statements: [statement] });
    return rows.map(followedFromRow);
  }

  async scheduleFollowed(schedules: readonly FollowSchedule[]): Promise<void> {
    const rows = schedules.map(({ id, nextLookupAt, failures }) => [id, nextLookupAt, failures]);
    const statements = [sql(SCHEDULE, JSON.stringify(rows))];
    await this.#thread.run({ write: true, isUnsynced: true, statements });
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
}
