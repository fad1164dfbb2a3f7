import { FEED_ID_SUBQUERY, COPIED_ATTEMPT_COLUMN_LIST } from '../change-tables';

/**
 * SELECT of the current epoch of changes (see ChangePosition). It returns no row if the journal has moved to another
 * database since the epoch began.
 */
const SELECT_CURRENT_EPOCH = 'SELECT epoch FROM change_epoch WHERE identity = journal_identity()';

/**
 * Column definitions for reading an ObservedState from JSON. In RECORD_OUTCOMES, the columns are null if the outcome
 * has no observed state.
 */
export const OBSERVED_STATE_COLUMNS =
  'observed_status TEXT, observed_state TEXT, received TEXT, is_final BOOLEAN, next_lookup_at BIGINT';

/**
 * CTEs of RECORD_OUTCOMES that record the first change of each created transaction. Unless the recorded status is
 * final, they also start to follow the transaction. If SELECT_CURRENT_EPOCH returns no row, or if the outcome has no
 * observed state, they record no change. The first lookup is then due immediately, and its result is recorded as the
 * first change.
 */
export const RECORD_FIRST_CHANGES_CTES = `current_epoch AS MATERIALIZED (${SELECT_CURRENT_EPOCH}),
  created AS MATERIALIZED (
    SELECT settled.*, epoch, observed_status IS NOT NULL AND epoch IS NOT NULL AS is_recorded
    FROM settled LEFT JOIN current_epoch ON TRUE WHERE transaction_id IS NOT NULL),
  first_changes AS (
    INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COPIED_ATTEMPT_COLUMN_LIST}, status, state, received)
    SELECT epoch, txid_current(), settled_at, ${FEED_ID_SUBQUERY}, ${COPIED_ATTEMPT_COLUMN_LIST}, observed_status, observed_state, received
    FROM created WHERE is_recorded),
  followed AS (
    INSERT INTO followed_transactions (created_at, changed_at, observed_at, next_lookup_at, ${COPIED_ATTEMPT_COLUMN_LIST},
      transaction_hash, status, state)
    SELECT settled_at, settled_at, CASE WHEN is_recorded THEN settled_at ELSE 0 END,
      CASE WHEN is_recorded THEN next_lookup_at ELSE settled_at END, ${COPIED_ATTEMPT_COLUMN_LIST}, transaction_hash,
      CASE WHEN is_recorded THEN observed_status END, CASE WHEN is_recorded THEN observed_state END
    FROM created WHERE NOT (is_recorded AND is_final))`;

/** Columns that the CTE `settled` must return, because RECORD_FIRST_CHANGES_CTES reads them. */
export const SETTLED_CTE_COLUMNS = `own.group_id, own.transaction_id, own.external_id, own.method, own.currency, own.value,
  own.transaction_hash, own.settled_at, observed_status, observed_state, received, is_final, next_lookup_at`;

/**
 * Records a batch of observations of different transactions. Parameter: the observations as a JSON array. Returns one
 * row for each observation whose transaction is followed: `place`, its index in the array, and `result`. If
 * SELECT_CURRENT_EPOCH has no row, records nothing and returns one row whose `place` is null. Locks rows
 * in ascending order of id, as scheduleFollowed() does, so that the two cannot deadlock. After waiting for a lock, the
 * statement sees what the previous holder has committed.
 */
export const RECORD_OBSERVATIONS = `WITH current_epoch AS MATERIALIZED (${SELECT_CURRENT_EPOCH}),
  input AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(place INTEGER, service TEXT, kind TEXT, channel TEXT,
      transaction_hash INTEGER, transaction_id BYTEA, requested_at BIGINT, observed_at BIGINT, ${OBSERVED_STATE_COLUMNS})),
  found AS MATERIALIZED (
    SELECT input.*, followed.id AS followed_id FROM input
    CROSS JOIN LATERAL (
      SELECT id, group_id, f.transaction_id FROM followed_transactions AS f
      WHERE f.transaction_hash = input.transaction_hash OFFSET 0) AS followed
    CROSS JOIN LATERAL (
      SELECT service, kind, channel FROM attempt_groups WHERE id = followed.group_id OFFSET 0) AS own_group
    WHERE followed.transaction_id = input.transaction_id AND own_group.service = input.service
      AND own_group.kind = input.kind AND own_group.channel = input.channel),
  locked AS MATERIALIZED (
    SELECT found.*, f.status, f.state, f.observed_at AS old_observed_at,
      f.group_id, f.external_id, f.method, f.currency, f.value
    FROM found JOIN followed_transactions AS f ON f.id = found.followed_id
    ORDER BY f.id FOR UPDATE OF f),
  decided AS MATERIALIZED (
    SELECT locked.*, epoch, CASE
        WHEN status = observed_status AND state IS NOT DISTINCT FROM observed_state THEN 'unchanged'
        WHEN NOT is_final AND requested_at < old_observed_at THEN 'outdated'
        ELSE 'recorded' END AS result
    FROM locked CROSS JOIN current_epoch),
  recorded AS (
    INSERT INTO changes (epoch, xid, recorded_at, feed_id, ${COPIED_ATTEMPT_COLUMN_LIST}, status, state, previous_status, received)
    SELECT epoch, txid_current(), observed_at, ${FEED_ID_SUBQUERY}, ${COPIED_ATTEMPT_COLUMN_LIST}, observed_status, observed_state, status, received
    FROM decided WHERE result = 'recorded'),
  ended AS (
    DELETE FROM followed_transactions AS f USING decided
    WHERE f.id = decided.followed_id AND result = 'recorded' AND is_final),
  updated AS (
    UPDATE followed_transactions AS f SET failures = 0,
      status = CASE result WHEN 'recorded' THEN observed_status ELSE f.status END,
      state = CASE result WHEN 'recorded' THEN observed_state ELSE f.state END,
      changed_at = CASE result WHEN 'recorded' THEN decided.observed_at ELSE f.changed_at END,
      observed_at = CASE result WHEN 'outdated' THEN f.observed_at
        ELSE GREATEST(f.observed_at, decided.observed_at) END,
      next_lookup_at = CASE WHEN result = 'outdated' AND decided.next_lookup_at IS NOT NULL
        THEN decided.observed_at ELSE decided.next_lookup_at END
    FROM decided WHERE f.id = decided.followed_id AND NOT (result = 'recorded' AND is_final))
  SELECT place, result FROM decided
  UNION ALL
  SELECT NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM current_epoch)`;

/** Makes all earlier commits durable: the commit of this message waits until the write-ahead log is durable. */
export const SYNC_EARLIER_COMMITS = "SELECT pg_logical_emit_message(true, 'paygraph', '')";

/** Begins a new epoch if the journal has moved to another database. */
export const RAISE_EPOCH_IF_MOVED = 'SELECT raise_change_epoch(FALSE)';

/**
 * Returns a horizon (see EPOCH_SELECT_BY_DIALECT): the id below which all database transactions that write changes
 * have ended. Unlike txid_snapshot_xmin, this horizon does not depend on database transactions that write no changes.
 * It is 0 if this database user lacks the privilege to see all database transactions that write changes.
 *
 * A database transaction that writes changes locks the table `changes` before it gets an id. It keeps the lock until
 * its changes are visible. The locks are read after the snapshot. So each writing transaction with an id below `xmax`
 * has ended, or holds a lock and shows its id in pg_stat_activity. The id is not read from
 * pg_locks, where it appears too late. `backend_xid` contains only the lower 32 bits of the id.
 */
export const READ_WRITERS_HORIZON = `WITH snapshot AS MATERIALIZED (
    SELECT txid_snapshot_xmax(txid_current_snapshot()) AS xmax),
  writers AS MATERIALIZED (
    SELECT backend_xid::text::bigint AS xid, pg_has_role(usesysid, 'USAGE') IS TRUE AS is_visible
    FROM pg_stat_activity WHERE pid IN (
      SELECT pid FROM pg_locks
      WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = 'changes'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))),
  ages AS MATERIALIZED (
    SELECT (xmax - xid) & 4294967295 AS age FROM writers CROSS JOIN snapshot WHERE xid IS NOT NULL)
  SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM writers WHERE NOT is_visible)
    THEN xmax - COALESCE((SELECT max(age) FROM ages WHERE age < 2147483648), 0) ELSE 0 END AS horizon FROM snapshot`;
