import { keyHashSql } from '../attempt-tables';
import type { PurgeStepResult, PurgeStep } from '../purge-step';
import type { SqlWithValues } from '../rows';
import { toStatement, type SqliteThread } from './thread';

/** FROM clause for expired attempts, oldest first. Parameters: start and end (exclusive) of `settled_at`, limit. */
export const FROM_EXPIRED_ATTEMPTS_CLAUSE = `FROM stored_attempts INDEXED BY stored_attempts_settled
  WHERE settled_at >= ? AND settled_at < ? ORDER BY settled_at, seq LIMIT ?`;

const PURGE_EXPIRED_RESERVATIONS = `DELETE FROM reserved_external_ids WHERE rowid IN (
  SELECT held.rowid FROM (SELECT id, group_id, external_id ${FROM_EXPIRED_ATTEMPTS_CLAUSE}) AS expired
  CROSS JOIN attempt_groups ON attempt_groups.id = expired.group_id
  CROSS JOIN reserved_external_ids AS held ON held.service = attempt_groups.service
    AND held.channel = attempt_groups.channel AND held.external_id = expired.external_id
    AND held.attempt_id = expired.id)`;

const PURGE_EXPIRED_ATTEMPTS = `DELETE FROM stored_attempts WHERE seq IN (SELECT seq ${FROM_EXPIRED_ATTEMPTS_CLAUSE}) RETURNING settled_at AS time`;

const PURGE_CONFIRM_HASHES = `DELETE FROM confirmed WHERE rowid IN (
  SELECT rowid FROM confirmed INDEXED BY confirmed_by_time WHERE confirmed_at >= ? AND confirmed_at < ?
  ORDER BY confirmed_at LIMIT ?) RETURNING confirmed_at AS time`;

const ORPHANED_RESERVATION_CONDITION = `NOT EXISTS (SELECT 1 FROM stored_attempts AS holder
  WHERE ${keyHashSql('holder.id')} = ${keyHashSql('held.attempt_id')} AND holder.id = held.attempt_id)`;

const SELECT_RESERVATION_PAGE = `SELECT held.rowid AS place, ${ORPHANED_RESERVATION_CONDITION} AS is_orphaned
  FROM reserved_external_ids AS held WHERE held.rowid > ? ORDER BY held.rowid LIMIT ?`;

const PURGE_ORPHANED_RESERVATIONS = `DELETE FROM reserved_external_ids AS held
  WHERE held.rowid IN (SELECT value FROM json_each(?)) AND ${ORPHANED_RESERVATION_CONDITION} RETURNING 1`;

/**
 * FROM clause for the expired changes among the oldest changes. Parameters: number of oldest changes to examine, and
 * PurgeStep.expiredBefore.
 */
const FROM_EXPIRED_CHANGES_CLAUSE = `FROM (
  SELECT id, seq, epoch, feed_id, recorded_at FROM changes INDEXED BY changes_in_order
  WHERE (epoch, xid, seq) > (0, 0, 0) ORDER BY epoch, xid, seq LIMIT ?) WHERE recorded_at < ?`;

/**
 * For each channel's feed (row of `change_feeds`), stores the position of the newest change that PURGE_CHANGES deletes
 * next.
 */
const RAISE_PURGED_POSITIONS = `UPDATE change_feeds SET purged_epoch = newest.epoch, purged_seq = newest.seq
  FROM (SELECT feed_id, max(epoch) AS epoch, max(seq) AS seq ${FROM_EXPIRED_CHANGES_CLAUSE} GROUP BY feed_id) AS newest
  WHERE change_feeds.id = newest.feed_id AND newest.seq > purged_seq`;

const PURGE_CHANGES = `DELETE FROM changes WHERE id IN (SELECT id ${FROM_EXPIRED_CHANGES_CLAUSE}) RETURNING 1`;

/**
 * Deletes the expired rows among the rows of followed_transactions with the lowest ids. Ids are roughly in the order of
 * `created_at`. So a step that deletes fewer rows than the limit leaves hardly any expired rows: the purge can end
 * there, and `created_at` needs no index.
 */
const PURGE_FOLLOWED_TRANSACTIONS = `DELETE FROM followed_transactions WHERE id IN (
  SELECT id FROM (SELECT id, created_at FROM followed_transactions ORDER BY id LIMIT ?) WHERE created_at < ?)
  RETURNING 1`;

const PURGE_STATEMENTS_BY_TARGET = {
  attempts: [PURGE_EXPIRED_RESERVATIONS, PURGE_EXPIRED_ATTEMPTS],
  confirmed: [PURGE_CONFIRM_HASHES],
  changes: [RAISE_PURGED_POSITIONS, PURGE_CHANGES],
  followed: [PURGE_FOLLOWED_TRANSACTIONS],
};

/** Executes a step of the purge (see PurgeStep) with low priority: queued creates come first. */
export async function purgeStep(thread: SqliteThread, step: PurgeStep): Promise<PurgeStepResult> {
  const { target, expiredBefore, maxExaminedCount, after } = step;
  const deleteRows = (statements: SqlWithValues[]) => thread.run({ isWrite: true, statements }, 'low');
  const afterPosition = Number(after ?? 0);
  if (target === 'reservations') {
    const page = await thread.read(SELECT_RESERVATION_PAGE, [afterPosition, maxExaminedCount], 'low');
    const orphanedIds = page.filter((row) => row['is_orphaned'] === 1).map((row) => Number(row['place']));
    const rows =
      orphanedIds.length > 0
        ? await deleteRows([toStatement(PURGE_ORPHANED_RESERVATIONS, JSON.stringify(orphanedIds))])
        : [];
    return {
      deletedCount: rows.length,
      endPosition: page.length < maxExaminedCount ? null : String(page.at(-1)?.['place']),
    };
  }
  // Steps for changes and followed transactions always begin with the oldest row. So their statements have no parameter
  // for a start position.
  const values =
    target === 'attempts' || target === 'confirmed'
      ? [afterPosition, expiredBefore, maxExaminedCount]
      : [maxExaminedCount, expiredBefore];
  const rows = await deleteRows(
    PURGE_STATEMENTS_BY_TARGET[target].map((sqlText) => toStatement(sqlText, ...values)),
  );
  const lastDeletedTime = Math.max(...rows.map((row) => Number(row['time'] ?? 0)));
  return {
    deletedCount: rows.length,
    endPosition: rows.length < maxExaminedCount ? null : String(lastDeletedTime),
  };
}
