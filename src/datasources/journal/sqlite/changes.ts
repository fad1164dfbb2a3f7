import { FEED_ID_SUBQUERY, COPIED_ATTEMPT_COLUMN_LIST, NOW_SQL_BY_DIALECT } from '../change-tables';
import type { Observation, ObservedState } from '../changes';
import { idCondition, type SqlValue, type SqlWithValues } from '../rows';
import { shortHash, toStoredBytes } from '../stored-values';
import { toStatement } from './thread';

const CURRENT_EPOCH_SUBQUERY = '(SELECT epoch FROM change_epoch)';

/**
 * Records the first change of a transaction. Must run directly after SETTLE_ATTEMPT. The function changes() of SQLite
 * returns the number of rows that the previous statement wrote: 1 if SETTLE_ATTEMPT settled the attempt, 0 if not.
 */
const RECORD_FIRST_CHANGE = `INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COPIED_ATTEMPT_COLUMN_LIST}, status, state, received)
  SELECT ${CURRENT_EPOCH_SUBQUERY}, 0, settled_at, ${FEED_ID_SUBQUERY}, ${COPIED_ATTEMPT_COLUMN_LIST}, ?, ?, ?
  FROM stored_attempts WHERE ${idCondition('id')} AND changes() = 1`;

/**
 * Starts to follow a transaction. Must run directly after RECORD_FIRST_CHANGE or, if no change is recorded, directly
 * after SETTLE_ATTEMPT. Inserts nothing if that statement wrote no row (see RECORD_FIRST_CHANGE).
 */
const FOLLOW_TRANSACTION = `INSERT INTO followed_transactions (created_at, changed_at, observed_at, next_lookup_at, ${COPIED_ATTEMPT_COLUMN_LIST},
    transaction_hash, status, state)
  SELECT settled_at, settled_at, ?, ?, ${COPIED_ATTEMPT_COLUMN_LIST}, transaction_hash, ?, ?
  FROM stored_attempts WHERE ${idCondition('id')} AND changes() = 1`;

/**
 * Returns the statements to run directly after SETTLE_ATTEMPT has recorded the outcome `succeeded`. They record the
 * first change of the transaction. Unless the status is final, they also start to follow the transaction.
 * @param attemptIdValues idConditionValues() of the attempt
 * @param observedState state in the response. If undefined, no change is recorded, and the first lookup is due at once.
 */
export function recordFirstChangeStatements(
  attemptIdValues: readonly SqlValue[],
  settledAt: number,
  observedState: ObservedState | undefined,
): SqlWithValues[] {
  if (!observedState) return [toStatement(FOLLOW_TRANSACTION, 0, settledAt, null, null, ...attemptIdValues)];
  const { status, state, received, isFinal, nextLookupAt } = observedState;
  const changeStatement = toStatement(RECORD_FIRST_CHANGE, status, state, received, ...attemptIdValues);
  return isFinal
    ? [changeStatement]
    : [
        changeStatement,
        toStatement(FOLLOW_TRANSACTION, settledAt, nextLookupAt, status, state, ...attemptIdValues),
      ];
}

/**
 * Subquery for the id of a row in followed_transactions. Parameters: hash and id of the transaction, service, kind,
 * channel.
 */
const FOLLOWED_ID_SUBQUERY = `(SELECT f.id FROM followed_transactions AS f INDEXED BY followed_by_transaction
  JOIN attempt_groups AS own ON own.id = f.group_id
  WHERE f.transaction_hash = ? AND f.transaction_id = ? AND own.service = ? AND own.kind = ? AND own.channel = ?)`;

const SELECT_IF_NOT_FOLLOWED = `SELECT 'not_followed' AS result WHERE ${FOLLOWED_ID_SUBQUERY} IS NULL`;

const RESCHEDULE_IF_UNCHANGED = `UPDATE followed_transactions
  SET failures = 0, next_lookup_at = ?, observed_at = max(observed_at, ?)
  WHERE id = ${FOLLOWED_ID_SUBQUERY} AND status = ? AND state IS ? RETURNING 'unchanged' AS result`;

const RESCHEDULE_IF_OUTDATED = `UPDATE followed_transactions SET failures = 0, next_lookup_at = ?
  WHERE id = ${FOLLOWED_ID_SUBQUERY} AND observed_at > ? RETURNING 'outdated' AS result`;

const RECORD_CHANGE = `INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COPIED_ATTEMPT_COLUMN_LIST}, previous_status, status, state, received)
  SELECT ${CURRENT_EPOCH_SUBQUERY}, 0, ?, ${FEED_ID_SUBQUERY}, ${COPIED_ATTEMPT_COLUMN_LIST}, status, ?, ?, ?
  FROM followed_transactions WHERE id = ${FOLLOWED_ID_SUBQUERY}`;

const STOP_FOLLOWING = `DELETE FROM followed_transactions WHERE id = ${FOLLOWED_ID_SUBQUERY} RETURNING 'recorded' AS result`;

const UPDATE_FOLLOWED = `UPDATE followed_transactions
  SET failures = 0, status = ?, state = ?, changed_at = ?, observed_at = max(observed_at, ?), next_lookup_at = ?
  WHERE id = ${FOLLOWED_ID_SUBQUERY} RETURNING 'recorded' AS result`;

/**
 * Returns the statements that record an observation. They run in order until one returns a row, which contains the
 * ObservationResult.
 */
export function recordObservationStatements(observation: Observation): SqlWithValues[] {
  const { service, kind, channel, transactionId, requestedAt, observedAt } = observation;
  const { status, state, received, isFinal, nextLookupAt } = observation;
  const idValues = [shortHash(transactionId), toStoredBytes(transactionId), service, kind, channel];
  const rescheduledLookupAt = nextLookupAt === null ? null : observedAt;
  return [
    toStatement(SELECT_IF_NOT_FOLLOWED, ...idValues),
    toStatement(RESCHEDULE_IF_UNCHANGED, nextLookupAt, observedAt, ...idValues, status, state),
    ...(isFinal ? [] : [toStatement(RESCHEDULE_IF_OUTDATED, rescheduledLookupAt, ...idValues, requestedAt)]),
    toStatement(RECORD_CHANGE, observedAt, status, state, received, ...idValues),
    isFinal
      ? toStatement(STOP_FOLLOWING, ...idValues)
      : toStatement(UPDATE_FOLLOWED, status, state, observedAt, observedAt, nextLookupAt, ...idValues),
  ];
}

/** Makes all earlier commits durable. Always writes a new value, because SQLite does not sync if nothing is written. */
export const SYNC_EARLIER_COMMITS = `INSERT INTO write_checks (id, checked_at, filler) VALUES (2, 0, zeroblob(0))
  ON CONFLICT (id) DO UPDATE SET checked_at = checked_at + 1`;

/** Begins a new epoch (see ChangePosition), whose positions are after those of all earlier epochs. */
export const RAISE_EPOCH = `UPDATE change_epoch SET epoch = max(epoch + 1, ${NOW_SQL_BY_DIALECT.sqlite})`;
