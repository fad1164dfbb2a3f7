import { keyHashOf, STATE_OF } from './attempt-tables';
import { ATTEMPT_KINDS, ATTEMPT_OUTCOMES, type AttemptPage } from './journal';
import { GROUP_ID } from './rows';
import { shortHash, toStoredText } from './stored-values';

const ORDER = 'ORDER BY started_at DESC, seq DESC LIMIT ?';

/** A number larger than any time or sequence number of the journal. */
const MAX = Number.MAX_SAFE_INTEGER;

/**
 * Returns the SELECT for a page of a client's attempts, newest first. It merges one index range per kind and outcome,
 * so that a page reads at most `limit` rows of each, however rare an outcome is among the client's attempts. With an
 * external id it reads all of the client's attempts with that id, which are few.
 * @param table returns the table of attempts, with a hint for the index to read if the store supports hints
 */
export function listStatement(page: AttemptPage, table: (index: string) => string) {
  const { service, client, channel, kinds = ATTEMPT_KINDS, outcome, externalId, limit } = page;
  const { startedFrom, beforePosition: before } = page;
  const hasExternalId = typeof externalId === 'string';
  const from = table(hasExternalId ? 'attempts_by_external_id' : 'attempts_by_start');
  const isOutcome = outcome || !hasExternalId ? 'AND state = ?' : '';
  const rows = `SELECT id, started_at, seq FROM ${from} WHERE group_id = ${GROUP_ID} ${isOutcome}
    AND started_at >= ? AND started_at <= ? AND (started_at, seq) < (?, ?)`;
  const range = hasExternalId
    ? // The LIMIT keeps PostgreSQL from reading all attempts of the group in the order of the page.
      `SELECT * FROM (${rows} AND external_id_hash = ? AND external_id = ? LIMIT ${MAX}) AS found`
    : `SELECT * FROM (${rows} ${ORDER}) AS found`;
  const end = hasExternalId ? [shortHash(externalId), toStoredText(externalId)] : [limit];
  const last = before?.startedAt ?? MAX;
  const bounds = [startedFrom ?? 0, last, last, before?.seq ?? MAX, ...end];
  const states = outcome
    ? [[STATE_OF[outcome]]]
    : hasExternalId
      ? [[]]
      : ATTEMPT_OUTCOMES.map((each) => [STATE_OF[each]]);
  const ranges = kinds.flatMap((kind) =>
    states.map((state) => [service, client, channel, kind, ...state, ...bounds]),
  );
  return {
    text: `SELECT attempts.* FROM (${ranges.map(() => range).join(' UNION ALL ')} ${ORDER}) AS page
      JOIN attempts ON ${keyHashOf('stored_id')} = ${keyHashOf('page.id')}
      ORDER BY attempts.started_at DESC, attempts.seq DESC`,
    values: [...ranges.flat(), limit],
  };
}
