/**
 * The record of changes has a row for each new status or state of a transaction, as seen in responses of the payment
 * service. The gateway follows each transaction that was created through it: it repeats lookups until the status is
 * final, for at most FOLLOW_DAYS (docs/changes.md). Times are in milliseconds since 1970, by the journal's clock.
 */

import type { AttemptKind } from './attempt-kind';

/** Position in the record of changes. Changes become readable in the order of their positions. */
export interface ChangePosition {
  /** Increases when the journal moves to another database (failover, restore), or when a Fence is raised. */
  epoch: number;
  /** PostgreSQL: id of the database transaction that recorded the change. SQLite: 0. */
  transaction: number;
  /** Sequence number of the row in the table `changes`. */
  seq: number;
}

/** The position before all changes. */
export const FIRST_POSITION: ChangePosition = { epoch: 0, transaction: 0, seq: 0 };

/** Status and state of a transaction in a response of the payment service, and the next lookup. */
export interface ObservedState {
  /** GraphQL value of PaymentStatus or PayoutStatus. */
  status: string;
  /** GraphQL value of PaymentState; null for payouts, and if the response shows no state. */
  state: string | null;
  /** Amount received, if the status is MISPAID and the response shows this amount; null in all other cases. */
  received: string | null;
  /** Whether the status is final: COMPLETED or FAILED. */
  isFinal: boolean;
  /** Due time of the next lookup by the gateway itself; null if there will be none. */
  nextLookupAt: number | null;
}

/** An ObservedState, the transaction that it belongs to, and the times of the request and of the response. */
export interface Observation extends ObservedState {
  service: string;
  kind: AttemptKind;
  channel: string;
  transactionId: string;
  /** When the request to the payment service was sent. */
  requestedAt: number;
  /** When the response of the payment service was received. */
  observedAt: number;
}

/**
 * Result of recordObservation():
 * - `recorded`: the status or the state was new, so a change was recorded.
 * - `unchanged`: status and state are those that were recorded last.
 * - `outdated`: status or state differ from those that were recorded last, but a response with the recorded ones was
 *   received after this request was sent. So no change was recorded. A lookup is due at once, unless `nextLookupAt` is
 *   null. A final status is never outdated.
 * - `not_followed`: the transaction was not created through the gateway, is recorded as final, or was purged.
 */
export type ObservationResult = 'recorded' | 'unchanged' | 'outdated' | 'not_followed';

/** A transaction that was created through the gateway, and whose final status is not recorded yet. */
export interface FollowedTransaction {
  /** Id of the row in followed_transactions. */
  id: number;
  kind: AttemptKind;
  channel: string;
  transactionId: string;
  /** The recorded status; null if none is recorded yet. */
  status: string | null;
  /** When the create was recorded as succeeded. */
  createdAt: number;
  /** When the recorded status and state were first observed; `createdAt` if none are recorded. */
  changedAt: number;
  /** Number of consecutive failed lookups. */
  failures: number;
}

/** Claim of due lookups of followed transactions. The claimed lookups are then due again at `leaseUntil`. */
export interface FollowedClaim {
  service: string;
  now: number;
  /** End of the lease: from then on, any instance can claim the lookups that were not rescheduled. */
  leaseUntil: number;
  /** A transaction that changed after this time counts as young: it is likely to change again soon. */
  youngIfChangedAfter: number;
  /** Maximum number of transactions to claim. */
  limit: number;
  /** Maximum number of young transactions to claim first. The rest of `limit` is for the most overdue, young or not. */
  youngLimit: number;
}

/** The next lookup of a followed transaction. */
export interface NextLookup {
  /** Id of the row in followed_transactions. */
  id: number;
  /** Due time of the next lookup; null if there will be none. */
  nextLookupAt: number | null;
  /** Number of consecutive failed lookups. */
  failures: number;
}

/** Counts of the followed transactions of one payment service. */
export interface FollowedCounts {
  /** Number of transactions that will be looked up, now or later. */
  followed: number;
  /** Number of transactions whose lookup is due now. */
  due: number;
  /** Due time of the most overdue lookup; null if no lookup is due. */
  oldestDueAt: number | null;
}

/** A change in the record: a transaction got a new status or state. */
export interface RecordedChange {
  position: ChangePosition;
  recordedAt: number;
  kind: AttemptKind;
  /** The client that created the transaction. */
  client: string;
  channel: string;
  transactionId: string;
  externalId: string;
  /** Wire type of the method. */
  method: string;
  /** Status before the change; null for the first change of a transaction. */
  previousStatus: string | null;
  /** GraphQL value of PaymentStatus or PayoutStatus after the change. */
  status: string;
  /** GraphQL value of PaymentState after the change; null for payouts, and if the response showed no state. */
  state: string | null;
  currency: string;
  value: string;
  /** Amount received, if the status is MISPAID and the response shows this amount; null in all other cases. */
  received: string | null;
}

/** By kind: the client whose transactions are read; null: all clients. A kind without an entry is not read. */
export type ChangeCreators = Readonly<Partial<Record<AttemptKind, string | null>>>;

/** Selects changes, oldest first. */
export interface ChangeRange {
  service: string;
  /** Null: all channels (for operators). */
  channel: string | null;
  creators: ChangeCreators;
  /** Position of the last change that the reader has; null: start with the oldest stored change. */
  after: ChangePosition | null;
  limit: number;
}

/** Result of readChanges(): a page of changes, oldest first. */
export interface ChangeBatch {
  changes: RecordedChange[];
  /** Whether more changes of this range may follow. */
  hasMore: boolean;
  /** `after` of the next read. `changes` has all changes of the range up to this position. */
  readUntil: ChangePosition;
  /** Whether some committed changes are not readable yet, because an earlier database transaction is in progress. */
  isBehind: boolean;
}

/** A reader cannot continue from its position, because changes after this position were deleted. */
export class PositionExpired extends Error {
  /** @param oldest position from which the reader can continue, to get all changes that are still stored */
  constructor(readonly oldest: ChangePosition) {
    super('Changes after this position were deleted when their retention period ended.');
    this.name = 'PositionExpired';
  }
}

/** The part of the journal that records changes. Every method rejects with JournalUnavailable if the store fails. */
export interface ChangeJournal {
  /** Records a change if the observed status or state is new. If several instances observe it, only one records it. */
  recordObservation(observation: Observation): Promise<ObservationResult>;
  /** Returns a value for each id. False: not followed. True: followed, or a followed transaction has the same hash. */
  mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]>;
  /** Claims due lookups, and returns their transactions. Their next lookup is then due at `leaseUntil`. */
  claimFollowed(claim: FollowedClaim): Promise<FollowedTransaction[]>;
  /** Stores the next lookups. Skips transactions that are not followed any more. */
  scheduleFollowed(schedules: readonly NextLookup[]): Promise<void>;
  countFollowed(service: string): Promise<FollowedCounts>;
  /** Returns changes that no crash can lose. Rejects with PositionExpired if changes after `after` were deleted. */
  readChanges(range: ChangeRange): Promise<ChangeBatch>;
  /**
   * Returns the position of a channel's newest readable change. Reading after it returns only later changes. If the
   * channel has no readable change, returns the position of its last purged change; if there is none, FIRST_POSITION.
   */
  newestChange(service: string, channel: string): Promise<ChangePosition>;
}
