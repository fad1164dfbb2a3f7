import type { Observation, ObservationResult, ObservedState } from '../changes';
import { JournalUnavailable } from '../journal';
import { otherReasonError } from '../journal-error';
import type { Row } from '../rows';
import { toJsonValue, shortHash, toStorableText, toStoredBytes } from '../stored-values';

/**
 * Records a batch of observations of different transactions, and returns their results. If the journal has moved to
 * another database, begins a new epoch first (see ChangePosition). If it then moves again, rejects with
 * JournalUnavailable.
 * @param runStatement runs RECORD_OBSERVATIONS with a JSON array of observations
 */
export async function recordObservations(
  observations: readonly Observation[],
  runStatement: (observationsJson: string) => Promise<Row[]>,
  raiseEpochIfJournalMoved: () => Promise<void>,
): Promise<ObservationResult[]> {
  const observationsJson = JSON.stringify(observations.map(toObservationRow));
  let rows = await runStatement(observationsJson);
  if (isEpochOutdated(rows)) {
    await raiseEpochIfJournalMoved();
    rows = await runStatement(observationsJson);
    if (isEpochOutdated(rows))
      throw new JournalUnavailable(
        otherReasonError(
          'the journal moved to another database while changes were recorded; the gateway tries again',
        ),
      );
  }
  const resultByIndex = new Map(rows.map(({ place, result }) => [place, result as ObservationResult]));
  return observations.map((_, index) => resultByIndex.get(index) ?? 'not_followed');
}

const isEpochOutdated = (rows: readonly Row[]): boolean => rows.some(({ place }) => place === null);

const toObservationRow = (observation: Observation, index: number) => ({
  place: index,
  service: observation.service,
  kind: observation.kind,
  channel: observation.channel,
  transaction_hash: shortHash(observation.transactionId),
  transaction_id: toJsonValue(toStoredBytes(observation.transactionId)),
  requested_at: observation.requestedAt,
  observed_at: observation.observedAt,
  ...observedStateColumns(observation),
});

/** Returns the values of OBSERVED_STATE_COLUMNS, by column name. */
export const observedStateColumns = ({ status, state, received, isFinal, nextLookupAt }: ObservedState) => ({
  observed_status: toStorableText(status),
  observed_state: state && toStorableText(state),
  received: received && toStorableText(received),
  is_final: isFinal,
  next_lookup_at: nextLookupAt,
});
