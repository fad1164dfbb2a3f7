import { Counter, Histogram, type Registry } from 'prom-client';

/** Creates the metrics of followed transactions, recorded changes and their delivery. */
export function changeMetrics(registry: Registry) {
  const registers = [registry];
  const recordedCounter = new Counter({
    name: 'paygraph_changes_recorded_total',
    help: 'Changes of the status or state of payments and payouts that this instance recorded.',
    labelNames: ['kind', 'status'],
    registers,
  });
  const droppedCounter = new Counter({
    name: 'paygraph_observations_dropped_total',
    help: 'Responses that were dropped before their status and state were compared with the journal: it could not be written for ten minutes, or too many were queued. A later lookup shows the state again.',
    registers,
  });
  const followLookupCounter = new Counter({
    name: 'paygraph_follow_lookups_total',
    help: 'Due lookups of followed transactions, by result. found: the service returned the transaction. missing: the service did not find it. failed: the lookup failed. postponed: not sent, another response had just shown the state. expired: not sent, FOLLOW_DAYS have passed since the create.',
    labelNames: ['kind', 'result'],
    registers,
  });
  const deliveryHistogram = new Histogram({
    name: 'paygraph_change_delivery_seconds',
    help: 'Time from recording a change until this instance delivers it to a subscriber. Subscribers that are catching up are not measured.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    /** Counts a recorded change. If `isRecorded` is false, counts a response that was dropped without recording. */
    onChange: (kind: string, status: string, isRecorded: boolean): void =>
      isRecorded ? recordedCounter.inc({ kind, status }) : droppedCounter.inc(),
    /** Counts a followed transaction that was due for a lookup. `result`: see the help of the metric. */
    onFollowLookup: (kind: string, result: string): void => followLookupCounter.inc({ kind, result }),
    /** Records the delivery of a change to a subscriber. `ageMs`: time since the change was recorded. */
    onDelivered: (ageMs: number): void => deliveryHistogram.observe(Math.max(0, ageMs) / 1000),
  };
}
