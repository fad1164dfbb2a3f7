import { bytesToUuid } from '../../../shared/uuid';
import { STATE_BY_OUTCOME } from '../attempt-tables';
import type { OutcomeDetails } from '../journal';
import type { Row } from '../rows';
import { attemptIdBytes, shortHash, toJsonValue, toStorableText, toStoredBytes } from '../stored-values';
import { observedStateColumns } from './changes';

/** An outcome and the id of its attempt. */
export interface IdentifiedOutcome {
  attemptId: string;
  outcome: OutcomeDetails;
}

/**
 * Records a batch of outcomes of different attempts. For each, returns the result of Journal.recordOutcome(), or
 * `missing` if that method must reject with AttemptMissing.
 * @param runStatement runs RECORD_OUTCOMES with a JSON array of outcomes
 */
export async function recordOutcomes(
  outcomes: readonly IdentifiedOutcome[],
  runStatement: (outcomesJson: string) => Promise<Row[]>,
): Promise<(boolean | 'missing')[]> {
  const rows = await runStatement(JSON.stringify(outcomes.map(toOutcomeRow)));
  const isMissingByAttemptId = new Map(
    rows.map((row) => [bytesToUuid(row['id'] as Buffer), row['is_missing'] === true]),
  );
  return outcomes.map(({ attemptId, outcome: { outcome } }) => {
    const isMissing = isMissingByAttemptId.get(attemptId);
    // If `rejected` or `not_sent` was already recorded, a new attempt with the same key may have replaced this one.
    if (isMissing === true) return outcome === 'succeeded' || outcome === 'unknown' ? 'missing' : true;
    return isMissing === undefined;
  });
}

const toOutcomeRow = ({ attemptId, outcome: { outcome, ...fields } }: IdentifiedOutcome) => ({
  id: toJsonValue(attemptIdBytes(attemptId)),
  state: STATE_BY_OUTCOME[outcome],
  settled_at: 'settledAt' in fields ? fields.settledAt : null,
  ...('transactionId' in fields && {
    transaction_id: toJsonValue(toStoredBytes(fields.transactionId)),
    transaction_hash: shortHash(fields.transactionId),
  }),
  status: 'wireStatus' in fields ? toStorableText(fields.wireStatus) : null,
  next_check_at: 'nextRecheckAt' in fields ? fields.nextRecheckAt : null,
  ...('absence' in fields && {
    absent_lookups: fields.absence?.lookupCount,
    absent_ms: fields.absence?.spanMs,
    absent_observer: fields.absence?.observerId,
  }),
  observed:
    'observedState' in fields && fields.observedState ? observedStateColumns(fields.observedState) : {},
});
