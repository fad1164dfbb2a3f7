import { bytesToUuid } from '../../../shared/uuid';
import { STATE_BY_OUTCOME } from '../attempt-tables';
import type { Outcome } from '../journal';
import type { Row } from '../rows';
import { attemptIdBytes, shortHash, toJsonValue, toStorableText, toStoredBytes } from '../stored-values';
import { observedStateValues } from './changes';

/** An outcome and the id of its attempt. */
export interface IdentifiedOutcome {
  attemptId: string;
  outcome: Outcome;
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
  const rows = await runStatement(JSON.stringify(outcomes.map(outcomeValues)));
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

const outcomeValues = ({ attemptId, outcome: { outcome, ...facts } }: IdentifiedOutcome) => ({
  id: toJsonValue(attemptIdBytes(attemptId)),
  state: STATE_BY_OUTCOME[outcome],
  settled_at: 'settledAt' in facts ? facts.settledAt : null,
  ...('transactionId' in facts && {
    transaction_id: toJsonValue(toStoredBytes(facts.transactionId)),
    transaction_hash: shortHash(facts.transactionId),
  }),
  status: 'status' in facts ? toStorableText(facts.status) : null,
  next_check_at: 'nextRecheckAt' in facts ? facts.nextRecheckAt : null,
  ...('absence' in facts && {
    absent_lookups: facts.absence?.lookups,
    absent_ms: facts.absence?.spanMs,
    absent_observer: facts.absence?.observer,
  }),
  observed: 'observedState' in facts && facts.observedState ? observedStateValues(facts.observedState) : {},
});
