import { keyHashSql, STATE_BY_OUTCOME } from './attempt-tables';
import { TRANSACTION_KINDS, type AttemptQuery } from './journal';
import { ATTEMPT_GROUP_ID_SUBQUERY } from './rows';
import { shortHash, toStoredBytes } from './stored-values';

const NEWEST_FIRST_LIMIT_CLAUSE = 'ORDER BY started_at DESC, seq DESC LIMIT ?';

/**
 * Returns the SELECT for a page of a client's attempts on a channel, newest first. If `query.externalId` is a string,
 * the database examines all attempts of the client with this external id, which are few. Otherwise, for each kind and
 * outcome, it examines at most `limit` entries of the index `stored_attempts_by_start`. So even a list of a rare
 * outcome is fast.
 * @param attemptsFromItem returns the FROM item for the table of attempts, in SQLite with a hint to use the index
 */
export function listAttemptsStatement(query: AttemptQuery, attemptsFromItem: (indexName: string) => string) {
  const { service, client, channel, kinds = TRANSACTION_KINDS, outcome, externalId, limit } = query;
  const { startedFrom, beforePosition } = query;
  const hasExternalIdFilter = typeof externalId === 'string';
  const fromItem = attemptsFromItem(hasExternalIdFilter ? 'attempts_by_external_id' : 'attempts_by_start');
  const outcomeCondition = outcome || !hasExternalIdFilter ? 'AND state = ?' : '';
  const rowsSelect = `SELECT id, started_at, seq FROM ${fromItem} WHERE group_id = ${ATTEMPT_GROUP_ID_SUBQUERY} ${outcomeCondition}
    AND started_at >= ? AND started_at <= ? AND (started_at, seq) < (?, ?)`;
  const rangeSelect = hasExternalIdFilter
    ? // This LIMIT omits no row. Without it, PostgreSQL may read all attempts of the group in the order of start times.
      `SELECT * FROM (${rowsSelect} AND external_id_hash = ? AND external_id = ? LIMIT ${Number.MAX_SAFE_INTEGER}) AS found`
    : `SELECT * FROM (${rowsSelect} ${NEWEST_FIRST_LIMIT_CLAUSE}) AS found`;
  const externalIdOrLimitValues = hasExternalIdFilter
    ? [shortHash(externalId), toStoredBytes(externalId)]
    : [limit];
  const before = beforePosition ?? { startedAt: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };
  const rangeParameters = [startedFrom ?? 0, before.startedAt, before.startedAt, before.seq];
  const stateValuesPerRange = outcome
    ? [[STATE_BY_OUTCOME[outcome]]]
    : hasExternalIdFilter
      ? [[]]
      : Object.values(STATE_BY_OUTCOME).map((state) => [state]);
  const rangeValueLists = kinds.flatMap((kind) =>
    stateValuesPerRange.map((states) => [
      service,
      client,
      channel,
      kind,
      ...states,
      ...rangeParameters,
      ...externalIdOrLimitValues,
    ]),
  );
  return {
    text: `SELECT attempts.* FROM (${rangeValueLists.map(() => rangeSelect).join(' UNION ALL ')} ${NEWEST_FIRST_LIMIT_CLAUSE}) AS page
      JOIN attempts ON ${keyHashSql('stored_id')} = ${keyHashSql('page.id')}
      ORDER BY attempts.started_at DESC, attempts.seq DESC`,
    values: [...rangeValueLists.flat(), limit],
  };
}
