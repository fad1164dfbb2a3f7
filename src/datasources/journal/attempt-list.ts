import { ATTEMPT_KINDS, ATTEMPT_OUTCOMES, type AttemptPage } from './journal';

const ORDER = 'ORDER BY started_at DESC, seq DESC LIMIT ?';

/** A number larger than any time or sequence number of the journal. */
const MAX = Number.MAX_SAFE_INTEGER;

/**
 * Returns the SELECT for a page of a client's attempts, newest first. It merges one index range per kind and outcome,
 * so that a page reads at most `limit` rows of each, however rare an outcome is among the client's attempts.
 * @param table returns the table `attempts`, with a hint for the index to read if the store supports hints
 */
export function listStatement(page: AttemptPage, table: (index: string) => string) {
  const { service, client, channel, kinds = ATTEMPT_KINDS, outcome, externalId, limit } = page;
  const { startedFrom, beforePosition: before } = page;
  const hasExternalId = typeof externalId === 'string';
  const from = table(hasExternalId ? 'attempts_by_external_id' : 'attempts_by_start');
  const range = `SELECT * FROM (SELECT * FROM ${from} WHERE channel = ? AND service = ? AND client = ?
    ${hasExternalId ? 'AND external_id = ?' : ''} AND kind = ? AND outcome = ?
    AND started_at >= ? AND (started_at, seq) < (?, ?) ${ORDER}) AS found`;
  const owner = [channel, service, client, ...(hasExternalId ? [externalId] : [])];
  const bounds = [startedFrom ?? 0, before?.startedAt ?? MAX, before?.seq ?? MAX, limit];
  const outcomes = outcome ? [outcome] : ATTEMPT_OUTCOMES;
  const ranges = kinds.flatMap((kind) => outcomes.map((each) => [...owner, kind, each, ...bounds]));
  return {
    text: `${ranges.map(() => range).join(' UNION ALL ')} ${ORDER}`,
    values: [...ranges.flat(), limit],
  };
}
