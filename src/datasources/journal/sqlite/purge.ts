import type { PurgeProgress, PurgeStep } from '../journal';
import { sql, type SqliteThread } from './thread';

export const EXPIRED = `FROM attempts INDEXED BY attempts_settled WHERE settled_at >= ? AND settled_at < ?
  ORDER BY settled_at, seq LIMIT ?`;

const PURGE_HELD = `DELETE FROM reservations WHERE rowid IN (
  SELECT held.rowid FROM (SELECT id, service, channel, external_id ${EXPIRED}) AS expired
  CROSS JOIN reservations AS held ON held.service = expired.service AND held.channel = expired.channel
    AND held.external_id = expired.external_id AND held.attempt_id = expired.id)`;

const PURGE_ATTEMPTS = `DELETE FROM attempts WHERE seq IN (SELECT seq ${EXPIRED}) RETURNING settled_at`;

const PURGE_CONFIRMED = `DELETE FROM confirmed WHERE rowid IN (
  SELECT rowid FROM confirmed INDEXED BY confirmed_by_time WHERE confirmed_at >= ? AND confirmed_at < ?
  ORDER BY confirmed_at LIMIT ?) RETURNING confirmed_at`;

const IS_LEFT_OVER = 'NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.id = held.attempt_id)';

const RESERVATIONS = `SELECT held.rowid AS place, ${IS_LEFT_OVER} AS is_left_over FROM reservations AS held
  WHERE held.rowid > ? ORDER BY held.rowid LIMIT ?`;

const PURGE_LEFT_OVER = `DELETE FROM reservations AS held
  WHERE held.rowid IN (SELECT value FROM json_each(?)) AND ${IS_LEFT_OVER} RETURNING 1`;

/** Deletes a few rows of what is no longer kept, in a transaction of its own that waits until nobody else writes. */
export function purgeStep(thread: SqliteThread, step: PurgeStep): Promise<PurgeProgress> {
  return PURGES[step.target](thread, step);
}

const PURGES = { attempts: purgeAttempts, reservations: purgeReservations, confirmed: purgeConfirmed };

async function purgeConfirmed(
  thread: SqliteThread,
  { settledBefore, limit, after }: PurgeStep,
): Promise<PurgeProgress> {
  const statements = [sql(PURGE_CONFIRMED, Number(after ?? 0), settledBefore, limit)];
  const rows = await thread.run({ write: true, statements }, 'low');
  const last = Math.max(...rows.map((row) => Number(row['confirmed_at'])));
  return { deleted: rows.length, after: rows.length < limit ? null : String(last) };
}

async function purgeAttempts(
  thread: SqliteThread,
  { settledBefore, limit, after }: PurgeStep,
): Promise<PurgeProgress> {
  const values = [Number(after ?? 0), settledBefore, limit];
  const statements = [sql(PURGE_HELD, ...values), sql(PURGE_ATTEMPTS, ...values)];
  const rows = await thread.run({ write: true, statements }, 'low');
  const last = Math.max(...rows.map((row) => Number(row['settled_at'])));
  return { deleted: rows.length, after: rows.length < limit ? null : String(last) };
}

async function purgeReservations(thread: SqliteThread, { limit, after }: PurgeStep): Promise<PurgeProgress> {
  const page = sql(RESERVATIONS, Number(after ?? 0), limit);
  const rows = await thread.run({ write: false, statements: [page] }, 'low');
  const leftOver = rows.filter((row) => row['is_left_over'] === 1).map((row) => Number(row['place']));
  const deletion = sql(PURGE_LEFT_OVER, JSON.stringify(leftOver));
  const deleted = leftOver.length > 0 ? await thread.run({ write: true, statements: [deletion] }, 'low') : [];
  return { deleted: deleted.length, after: rows.length < limit ? null : String(rows.at(-1)?.['place']) };
}
