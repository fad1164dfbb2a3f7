import { keyHashSql } from '../attempt-tables';
import type { PurgeStepResult, PurgeStep } from '../purge-step';
import type { PostgresPool } from './pool';

/** Key of the advisory lock that lets only one instance at a time purge. */
const PURGE_LOCK_KEY = 7_215_045;

/** CTE that takes the purge lock if it is free. Column: `is_acquired`, whether this database transaction has it. */
const TRY_PURGE_LOCK_CTE = `purge_lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${PURGE_LOCK_KEY}) AS is_acquired)`;

/**
 * Returns the SELECT at the end of a step, with the columns `is_acquired` (see TRY_PURGE_LOCK_CTE), `found` (number of
 * rows in the CTE that `examinedCte` names), `deleted` (number of deleted rows) and `last` (where the next step
 * begins).
 */
const progressSelect = (
  examinedCte: string,
  lastExaminedSelect: string,
): string => `SELECT (SELECT is_acquired FROM purge_lock) AS is_acquired,
  (SELECT count(*) FROM ${examinedCte}) AS found, (SELECT count(*) FROM deleted) AS deleted, (${lastExaminedSelect}) AS last`;

/** Deletes expired attempts and their reserved external ids. Skips locked rows, because waiting could deadlock. */
export const PURGE_EXPIRED_ATTEMPTS = `WITH ${TRY_PURGE_LOCK_CTE},
  expired AS MATERIALIZED (
    SELECT ctid, id, group_id, external_id FROM stored_attempts
    WHERE (SELECT is_acquired FROM purge_lock) AND settled_at >= $1 AND settled_at < $2
    ORDER BY settled_at LIMIT $3 FOR UPDATE SKIP LOCKED),
  released AS MATERIALIZED (
    SELECT held.ctid FROM expired JOIN attempt_groups ON attempt_groups.id = expired.group_id
      JOIN reserved_external_ids AS held ON held.service = attempt_groups.service
      AND held.channel = attempt_groups.channel AND held.external_id = expired.external_id
      AND held.attempt_id = expired.id
    FOR UPDATE OF held SKIP LOCKED),
  deleted_reservations AS (
    DELETE FROM reserved_external_ids WHERE ctid = ANY (ARRAY (SELECT ctid FROM released))),
  deleted AS (
    DELETE FROM stored_attempts WHERE ctid = ANY (ARRAY (SELECT ctid FROM expired)) RETURNING settled_at)
  ${progressSelect('expired', 'SELECT max(settled_at)::text FROM deleted')}`;

/**
 * Deletes reserved external ids whose attempt does not exist. Keeps a row that a new attempt is taking over: the row
 * is locked, or already has the id of the new attempt.
 */
export const PURGE_RESERVATIONS = `WITH ${TRY_PURGE_LOCK_CTE},
  page AS MATERIALIZED (
    SELECT service, channel, external_id, attempt_id FROM reserved_external_ids
    WHERE (SELECT is_acquired FROM purge_lock)
      AND (external_id, channel, service) > (($1::jsonb ->> 0)::bytea, $1::jsonb ->> 1, $1::jsonb ->> 2)
    ORDER BY external_id, channel, service LIMIT $2),
  orphaned AS MATERIALIZED (
    SELECT held.service, held.channel, held.external_id FROM page JOIN reserved_external_ids AS held
      USING (service, channel, external_id)
    WHERE held.attempt_id = page.attempt_id
      AND (SELECT count(*) FROM stored_attempts
        WHERE ${keyHashSql('id')} = ${keyHashSql('page.attempt_id')} AND id = page.attempt_id) = 0
    FOR UPDATE OF held SKIP LOCKED),
  deleted AS (
    DELETE FROM reserved_external_ids AS held USING orphaned
    WHERE held.service = orphaned.service AND held.channel = orphaned.channel
      AND held.external_id = orphaned.external_id
    RETURNING 1)
  ${progressSelect(
    'page',
    `SELECT jsonb_build_array(external_id, channel, service)::text FROM page
      ORDER BY external_id DESC, channel DESC, service DESC LIMIT 1`,
  )}`;

export const PURGE_CONFIRMED_INPUTS = `WITH ${TRY_PURGE_LOCK_CTE},
  expired AS MATERIALIZED (
    SELECT ctid, confirmed_at FROM confirmed
    WHERE (SELECT is_acquired FROM purge_lock) AND confirmed_at >= $1 AND confirmed_at < $2
    ORDER BY confirmed_at LIMIT $3 FOR UPDATE SKIP LOCKED),
  deleted AS (
    DELETE FROM confirmed WHERE ctid = ANY (ARRAY (SELECT ctid FROM expired)) RETURNING confirmed_at)
  ${progressSelect('expired', 'SELECT max(confirmed_at)::text FROM deleted')}`;

/**
 * Deletes expired changes in the order of positions. Stores the position of the last deleted change of each channel in
 * the channel's feed (row of `change_feeds`).
 */
export const PURGE_CHANGES = `WITH ${TRY_PURGE_LOCK_CTE},
  page AS MATERIALIZED (
    SELECT ctid, epoch, xid, seq, feed_id, recorded_at FROM changes
    WHERE (SELECT is_acquired FROM purge_lock) AND (epoch, xid, seq) >
      (($1::jsonb ->> 0)::bigint, ($1::jsonb ->> 1)::bigint, ($1::jsonb ->> 2)::bigint)
    ORDER BY epoch, xid, seq LIMIT $3),
  expired AS MATERIALIZED (SELECT * FROM page WHERE recorded_at < $2),
  purged AS (
    UPDATE change_feeds SET purged_epoch = newest.epoch, purged_xid = newest.xid, purged_seq = newest.seq
    FROM (SELECT DISTINCT ON (feed_id) * FROM expired ORDER BY feed_id, epoch DESC, xid DESC, seq DESC) AS newest
    WHERE change_feeds.id = newest.feed_id
      AND (newest.epoch, newest.xid, newest.seq) > (purged_epoch, purged_xid, purged_seq)),
  deleted AS (
    DELETE FROM changes WHERE ctid = ANY (ARRAY (SELECT ctid FROM expired)) RETURNING 1)
  ${progressSelect(
    'page',
    `SELECT jsonb_build_array(epoch, xid, seq)::text FROM page
      ORDER BY epoch DESC, xid DESC, seq DESC LIMIT 1`,
  )}`;

/**
 * Deletes the expired rows of a page of followed transactions. Pages are in the order of ids, which is roughly the
 * order of `created_at`. So the purge can end at a page without an expired row, and `created_at` needs no index.
 */
export const PURGE_FOLLOWED_TRANSACTIONS = `WITH ${TRY_PURGE_LOCK_CTE},
  page AS MATERIALIZED (
    SELECT id, created_at FROM followed_transactions WHERE (SELECT is_acquired FROM purge_lock) AND id > $1::bigint
    ORDER BY id LIMIT $3),
  expired AS MATERIALIZED (
    SELECT id FROM followed_transactions
    WHERE id = ANY (ARRAY (SELECT id FROM page WHERE created_at < $2)) FOR UPDATE SKIP LOCKED),
  deleted AS (
    DELETE FROM followed_transactions WHERE id = ANY (ARRAY (SELECT id FROM expired)) RETURNING 1)
  ${progressSelect('page', 'SELECT max(id)::text FROM page')}`;

/** Value of `after` for the first step of the purge target `reservations`. */
export const BEFORE_FIRST_RESERVATION = JSON.stringify(['', '', '']);

const PURGE_STATEMENT_BY_TARGET = {
  attempts: PURGE_EXPIRED_ATTEMPTS,
  confirmed: PURGE_CONFIRMED_INPUTS,
  changes: PURGE_CHANGES,
  followed: PURGE_FOLLOWED_TRANSACTIONS,
};

/** The value of `after` for the first step of each purge target. For `reservations`, see BEFORE_FIRST_RESERVATION. */
const INITIAL_AFTER_BY_TARGET = { attempts: 0, confirmed: 0, changes: '[0, 0, 0]', followed: 0 };

/** Executes a step of the purge (see PurgeStep). Returns null if another instance is purging. */
export async function purgeStep(
  pool: PostgresPool,
  { target, expiredBefore, maxExaminedCount, after }: PurgeStep,
): Promise<PurgeStepResult | null> {
  const [row] =
    target === 'reservations'
      ? await pool.query(PURGE_RESERVATIONS, [after ?? BEFORE_FIRST_RESERVATION, maxExaminedCount])
      : await pool.query(PURGE_STATEMENT_BY_TARGET[target], [
          after ?? INITIAL_AFTER_BY_TARGET[target],
          expiredBefore,
          maxExaminedCount,
        ]);
  if (row?.['is_acquired'] !== true) return null;
  // Changes and followed transactions are read roughly oldest first. So if nothing in a page has expired, hardly
  // anything after the page has.
  const isOldestFirst = target === 'changes' || target === 'followed';
  const isLastStep =
    Number(row['found']) < maxExaminedCount || (isOldestFirst && Number(row['deleted']) === 0);
  return { deletedCount: Number(row['deleted']), endPosition: isLastStep ? null : String(row['last']) };
}
