/**
 * The record of changes is the history of the payments and payouts (here called transactions) that were created through
 * the gateway. It has a row for each new status or state of a transaction that a response of the payment service
 * showed. To notice changes, the gateway follows each transaction: it repeats lookups until the status is final, for at
 * most FOLLOW_DAYS (docs/changes.md). Times are in milliseconds since 1970, by the journal's clock.
 */

import type { TransactionKind } from './attempt-kind';

/** Position in the record of changes. Changes become readable in the order of `epoch`, then `xid`, then `seq`. */
export interface ChangePosition {
  /**
   * Number of the epoch. A new epoch, with a higher number, begins in two cases: the journal moves to another database,
   * for example after a failover or restore, or the fence is raised. A raised fence marks that the journal may have
   * lost attempts (see Fence).
   */
  epoch: number;
  /** Id of the database transaction that recorded the change, not of a payment or payout. In SQLite, it is always 0. */
  xid: number;
  /** Sequence number of the row in the table `changes`. */
  seq: number;
}

/** Position before all changes, where a reader without a position starts. Every real epoch is greater than 0. */
export const BEFORE_FIRST_CHANGE: ChangePosition = { epoch: 0, xid: 0, seq: 0 };

/** Status and state of a transaction in a response of the payment service, and the due time of the next lookup. */
export interface ObservedState {
  /** GraphQL value of PaymentStatus or PayoutStatus. */
  status: string;
  /** GraphQL value of PaymentState; null for payouts, and if the response shows no state. */
  state: string | null;
  /** Amount received, if the status is MISPAID and the response shows this amount; null in all other cases. */
  received: string | null;
  /** Whether the status is final: COMPLETED or FAILED. */
  isFinal: boolean;
  /** Due time of the next lookup that the gateway makes to follow the transaction; null if it will make none. */
  nextLookupAt: number | null;
}

/** An ObservedState, the transaction that it belongs to, and the times of the request and of the response. */
export interface Observation extends ObservedState {
  service: string;
  kind: TransactionKind;
  channel: string;
  transactionId: string;
  /** Start of the request to the payment service, in ms by the journal's clock: `observedAt` minus its duration. */
  requestedAt: number;
  /** When the response of the payment service was received, in ms by the journal's clock. */
  observedAt: number;
}

/**
 * Result of recordObservation():
 * - `recorded`: the status or the state was new, so a change was recorded.
 * - `unchanged`: status and state are the same as in the last recorded change.
 * - `outdated`: status or state differ from the last recorded change, but the observation may be older than that
 *   change. After this request was sent, another response with the recorded status and state was received. So no change
 *   was recorded. The next lookup is due immediately, unless `nextLookupAt` is null. An observation with a final status
 *   is never outdated.
 * - `not_followed`: the gateway does not follow the transaction. It was not created through the gateway, the outcome of
 *   its create is not recorded yet, its final status is already recorded, or it was purged.
 */
export type ObservationResult = 'recorded' | 'unchanged' | 'outdated' | 'not_followed';

/** A transaction that was created through the gateway, and whose final status is not recorded yet. */
export interface FollowedTransaction {
  /** Id of the row in followed_transactions. */
  followedId: number;
  kind: TransactionKind;
  channel: string;
  transactionId: string;
  /** The recorded status; null if none is recorded yet. */
  status: string | null;
  /** The recorded state of a payment; null for payouts, and if the recorded response showed no state. */
  state: string | null;
  /** When the create was recorded as succeeded. */
  createSucceededAt: number;
  /** When the recorded status and state were first observed; equal to `createSucceededAt` if none are recorded yet. */
  changedAt: number;
  /** Number of consecutive failed lookups. */
  failures: number;
}

/**
 * A claim of due lookups of followed transactions. It keeps other instances from making the same lookups. The claimed
 * lookups become due again at `leaseUntil`.
 */
export interface FollowLookupClaim {
  service: string;
  now: number;
  /** End of the lease. From then on, any instance can claim the lookups that were not rescheduled. */
  leaseUntil: number;
  /** A transaction that changed after this time is called young. It is likely to change again soon. */
  youngIfChangedAfter: number;
  /** Maximum number of transactions to claim. */
  limit: number;
  /** Maximum number of young transactions to claim first. The rest of `limit` is for the most overdue, young or not. */
  youngLimit: number;
}

/** When a claimed transaction is looked up again. scheduleFollowed() stores it. */
export interface NextLookup {
  /** Id of the row in followed_transactions. */
  followedId: number;
  /** `changedAt` of the claimed transaction. If a change was recorded since, its due time is kept. */
  changedAt: number;
  /** Due time of the next lookup; null if the gateway will make none. */
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

/** A recorded change: a transaction got a new status or state. */
export interface RecordedChange {
  position: ChangePosition;
  recordedAt: number;
  kind: TransactionKind;
  /** The client that created the transaction. */
  client: string;
  channel: string;
  transactionId: string;
  externalId: string;
  /** Wire type of the payment or payout method. */
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

/**
 * For each kind, the client whose transactions are read. Null: the transactions of all clients are read. If a kind has
 * no entry, its transactions are not read.
 */
export type ClientByKind = Readonly<Partial<Record<TransactionKind, string | null>>>;

/** Selects changes, oldest first. */
export interface ChangeRange {
  service: string;
  /** Null: all channels (for operators). */
  channel: string | null;
  clientByKind: ClientByKind;
  /** Position of the last change that the reader already has. Null: start with the oldest stored change. */
  after: ChangePosition | null;
  limit: number;
}

/** Result of readChanges(): a page of changes, oldest first. */
export interface ChangeBatch {
  changes: RecordedChange[];
  /** Whether more changes of this range may follow. */
  hasMore: boolean;
  /** Position to pass as `after` to the next read. `changes` has all changes of the range up to this position. */
  endPosition: ChangePosition;
  /** Whether some committed changes are not readable yet, because an earlier database transaction is in progress. */
  hasUnreadableChanges: boolean;
}

/** A reader cannot continue from its position, because changes after this position were deleted. */
export class PositionExpired extends Error {
  /** @param oldestPosition position from which the reader can continue, to get all changes that are still stored */
  constructor(readonly oldestPosition: ChangePosition) {
    super('Changes after this position were deleted when their retention period ended.');
    this.name = 'PositionExpired';
  }
}

/**
 * The part of the journal that records and reads changes. Every method rejects with JournalUnavailable if the database
 * fails or exceeds the time limit.
 */
export interface ChangeJournal {
  /**
   * Records a change if the observed status or state is new. If several instances observe the same change, only one of
   * them records it.
   */
  recordObservation(observation: Observation): Promise<ObservationResult>;
  /**
   * Returns for each id whether the transaction may be followed. False: it is certainly not followed. True: it is
   * followed, or its id has the same hash as the id of a followed transaction.
   */
  mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]>;
  /** Claims due lookups, and returns their transactions. The next lookup of each is then due at `leaseUntil`. */
  claimFollowed(claim: FollowLookupClaim): Promise<FollowedTransaction[]>;
  /** Stores the next lookups. Skips transactions that have changed since the claim, or are not followed any more. */
  scheduleFollowed(nextLookups: readonly NextLookup[]): Promise<void>;
  countFollowed(serviceName: string): Promise<FollowedCounts>;
  /**
   * Returns a page of changes. All of them are durable, so no crash can lose them. Rejects with PositionExpired if
   * changes after `range.after` were deleted.
   */
  readChanges(range: ChangeRange): Promise<ChangeBatch>;
  /**
   * Returns the position of a channel's newest readable change. A read after this position returns only later changes.
   * If the channel has no readable change, returns the position of its last purged change. If no change was purged
   * either, returns BEFORE_FIRST_CHANGE.
   */
  newestChange(serviceName: string, channel: string): Promise<ChangePosition>;
}
