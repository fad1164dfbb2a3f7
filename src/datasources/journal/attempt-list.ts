import type { AttemptKind, AttemptOutcome, AttemptPage } from './journal';

const KINDS: readonly AttemptKind[] = ['payment', 'payout'];
const OUTCOMES: readonly AttemptOutcome[] = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'];

const ORDER = 'ORDER BY started_at DESC, seq DESC LIMIT ?';

/** Larger than any time or sequence number of the journal. */
const MAX = Number.MAX_SAFE_INTEGER;

/** A statement with a question mark for each value. */
export interface ListStatement {
  text: string;
  values: (string | number)[];
}

/**
 * Selects a page of a client's attempts, newest first. One range of the index for each kind and outcome, merged: so a
 * page reads at most `limit` rows of each, however rare an outcome is among a client's attempts.
 * @param table the attempts, with a hint which index to read where the store takes one
 */
export function listStatement(page: AttemptPage, table: (index: string) => string): ListStatement {
  const { service, client, channel, kinds = KINDS, outcome, externalId, limit } = page;
  const { startedFrom = 0, before } = page;
  const hasExternalId = typeof externalId === 'string';
  const from = table(hasExternalId ? 'attempts_by_external_id' : 'attempts_by_start');
  const range = `SELECT * FROM (SELECT * FROM ${from} WHERE channel = ? AND service = ? AND client = ?
    ${hasExternalId ? 'AND external_id = ?' : ''} AND kind = ? AND outcome = ?
    AND started_at >= ? AND (started_at, seq) < (?, ?) ${ORDER}) AS found`;
  const owner = [channel, service, client, ...(hasExternalId ? [externalId] : [])];
  const bounds = [startedFrom ?? 0, before?.startedAt ?? MAX, before?.seq ?? MAX];
  const ranges = kinds.flatMap((kind) => (outcome ? [outcome] : OUTCOMES).map((one) => [kind, one]));
  return {
    text: `${ranges.map(() => range).join(' UNION ALL ')} ${ORDER}`,
    values: [...ranges.flatMap((one) => [...owner, ...one, ...bounds, limit]), limit],
  };
}
