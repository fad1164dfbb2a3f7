import { Counter, Histogram, type Registry } from 'prom-client';
import { oncePerScrape, registerScrapedMetrics } from './register';

/** Numbers of followed transactions: those that the gateway looks up in the background (docs/changes.md). */
interface FollowedTransactions {
  followed: number;
  /** Number of followed transactions that are due for a lookup. */
  due: number;
  /** Due time of the most overdue lookup of a followed transaction, in ms since 1970; null if no lookup is due. */
  oldestDueAt: number | null;
}

/** Functions that read the state of followed transactions and of the record of changes. */
interface ChangesState {
  /** Reads the numbers of followed transactions; null if FOLLOW_DAYS is 0. Rejects if the journal cannot be read. */
  followed: () => Promise<FollowedTransactions | null>;
  /**
   * Reads the state of the record of changes.
   * - `queued`: number of responses with a possibly new status or state that are not written to the journal yet.
   * - `oldestQueuedMs`: age of the oldest of these responses in ms; 0 if there is none.
   * - `behindMs`: time in ms for which a database transaction has hidden the newest changes; 0 if none are
   *   hidden, or nobody reads them.
   */
  record: () => { queued: number; oldestQueuedMs: number; behindMs: number };
  /** Returns milliseconds since 1970, by the clock of the journal. */
  now: () => number;
}

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

/**
 * Registers the gauges of followed transactions and recorded changes. Do not add up the followed transactions of
 * several instances: every instance reports the total of all instances.
 */
export function registerChangeGauges(registry: Registry, state: ChangesState): void {
  const readFollowed = oncePerScrape(state.followed);
  const readFollowedValue = async (valueOf: (followed: FollowedTransactions) => number) => {
    const followed = await readFollowed();
    return followed && valueOf(followed);
  };
  registerScrapedMetrics(registry, {
    paygraph_followed_transactions: {
      help: 'Followed transactions of all instances. Each is looked up until it is completed or failed, or FOLLOW_DAYS have passed.',
      read: () => readFollowedValue(({ followed }) => followed),
    },
    paygraph_followed_transactions_due: {
      help: 'Followed transactions of all instances that are due for a lookup.',
      read: () => readFollowedValue(({ due }) => due),
    },
    paygraph_follow_lag_seconds: {
      help: 'Delay of the most overdue lookup of a followed transaction, of all instances; 0 if none is overdue.',
      read: () =>
        readFollowedValue(({ oldestDueAt }) =>
          oldestDueAt === null ? 0 : Math.max(0, state.now() - oldestDueAt) / 1000,
        ),
    },
    paygraph_observations_queued: {
      help: 'Responses with a possibly new status or state that are not written to the journal yet.',
      read: () => state.record().queued,
    },
    paygraph_observation_oldest_age_seconds: {
      help: 'Age of the oldest response with a possibly new status or state that is not written to the journal yet; 0 if there is none.',
      read: () => state.record().oldestQueuedMs / 1000,
    },
    paygraph_changes_behind_seconds: {
      help: 'Time for which a long database transaction has hidden the newest changes from their readers; 0 if none are hidden, or nobody reads.',
      read: () => state.record().behindMs / 1000,
    },
  });
}
