import { keyHashSql, STATE_BY_OUTCOME } from './attempt-tables';
import type { Attempt, AttemptPosition } from './journal';
import { attemptFromRow, type Row, type SqlValue } from './rows';
import type { Dialect } from './stored-values';

/** Selects attempts of all clients by service, channel and start time. Times are in ms since 1970. */
export interface AttemptsByStartQuery {
  service: string;
  /** Null: all channels. */
  channel: string | null;
  /** Earliest start time, inclusive. */
  from: number;
  /** Latest start time, exclusive. */
  to: number;
  /** Position of the last attempt that the caller already has: the pages begin after it. Null: they begin at `from`. */
  after: AttemptPosition | null;
}

const PAGE_SIZE = 500;
/** Length in ms of the first time window. Each page is read from one window of start times. */
const INITIAL_TIME_WINDOW_MS = 60_000;
/** After a page with fewer attempts than this, the next time window is twice as long. */
const WIDEN_WINDOW_BELOW_COUNT = PAGE_SIZE / 4;

const STATE_ROWS_SQL = Object.values(STATE_BY_OUTCOME)
  .map((state) => `('${state}')`)
  .join(', ');

const TIME_WINDOW_CONDITION = 'started_at >= ? AND started_at < ? AND (started_at, seq) > (?, ?)';
const OLDEST_FIRST_LIMIT_CLAUSE = `ORDER BY started_at, seq LIMIT ${PAGE_SIZE}`;

/**
 * For each dialect, a function that returns the SELECT of the attempts that started in a time window. `groupCondition`
 * is an SQL condition on rows of `attempt_groups`. Because of the inner LIMIT (PostgreSQL) or the CROSS JOINs
 * (SQLite), the database reads only this window of the index `stored_attempts_by_start`.
 */
const TIME_WINDOW_SELECT_BY_DIALECT: Record<Dialect, (groupCondition: string) => string> = {
  postgres: (
    groupCondition,
  ) => `SELECT page.* FROM (SELECT id FROM attempt_groups WHERE ${groupCondition}) AS attempt_group
    CROSS JOIN (VALUES ${STATE_ROWS_SQL}) AS states (of_attempt)
    CROSS JOIN LATERAL (
      SELECT id, started_at, seq FROM stored_attempts
      WHERE group_id = attempt_group.id AND state = states.of_attempt::"char"
        AND ${TIME_WINDOW_CONDITION} ${OLDEST_FIRST_LIMIT_CLAUSE}) AS page`,
  sqlite: (groupCondition) => `SELECT stored.id, started_at, seq
    FROM (SELECT id AS group_id FROM attempt_groups WHERE ${groupCondition}) AS attempt_group
    CROSS JOIN (SELECT column1 AS of_attempt FROM (VALUES ${STATE_ROWS_SQL})) AS states
    CROSS JOIN stored_attempts AS stored INDEXED BY stored_attempts_by_start
    WHERE stored.group_id = attempt_group.group_id AND state = of_attempt AND ${TIME_WINDOW_CONDITION}`,
};

/**
 * Returns the SELECT for a page. SQL parameters: service, channel (only if `hasChannel`), start and end of the window,
 * then the position (start time and `seq`) after which the page begins.
 */
export const attemptsByStartStatement = (dialect: Dialect, hasChannel: boolean): string =>
  `SELECT attempts.* FROM (${TIME_WINDOW_SELECT_BY_DIALECT[dialect](hasChannel ? 'service = ? AND channel = ?' : 'service = ?')}
     ${OLDEST_FIRST_LIMIT_CLAUSE}) AS found
   JOIN attempts ON ${keyHashSql('stored_id')} = ${keyHashSql('found.id')}
   ORDER BY attempts.started_at, attempts.seq`;

/**
 * Reads attempts in pages, in the order of start time, then `seq`.
 * @param readRows runs the SELECT of a page
 */
export async function* readAttemptPages(
  dialect: Dialect,
  readRows: (sqlText: string, values: SqlValue[]) => Promise<Row[]>,
  { service, channel, from, to, after }: AttemptsByStartQuery,
): AsyncGenerator<Attempt[], void> {
  const sqlText = attemptsByStartStatement(dialect, channel !== null);
  const groupConditionValues = channel === null ? [service] : [service, channel];
  let position = after ?? { startedAt: from, seq: 0 };
  for (let windowMs = INITIAL_TIME_WINDOW_MS; position.startedAt < to;) {
    const windowEnd = Math.min(to, position.startedAt + windowMs);
    const windowStart = position.startedAt;
    const values = [...groupConditionValues, windowStart, windowEnd, windowStart, position.seq];
    const rows = await readRows(sqlText, values);
    const page = rows.map(attemptFromRow);
    if (page.length > 0) yield page;
    const lastAttempt = page.at(-1);
    position = lastAttempt && page.length === PAGE_SIZE ? lastAttempt : { startedAt: windowEnd, seq: 0 };
    // After a full page, the next window begins at the last attempt of the page and is half as long.
    if (page.length === PAGE_SIZE) windowMs = Math.max(1, Math.floor(windowMs / 2));
    else if (page.length < WIDEN_WINDOW_BELOW_COUNT) windowMs *= 2;
  }
}
