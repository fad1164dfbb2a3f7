/**
 * The record of changes: one row for each status or state of a transaction that a response of the service showed for
 * the first time, and the transactions that are followed until they are completed or failed. Times are in milliseconds
 * since 1970, by the clock of the journal.
 */

import type { AttemptKind } from './attempt-kind';

/** Position of a change in the record. Changes are ordered by it: no change becomes readable before a later read one. */
export interface ChangePosition {
  /** Number that rises when the journal moves to another database, for example after a failover or a restore. */
  epoch: number;
  /** PostgreSQL: id of the database transaction that recorded the change. SQLite: 0. */
  transaction: number;
  /** Sequence number. */
  seq: number;
}

/** Position before every change. */
export const FIRST_POSITION: ChangePosition = { epoch: 0, transaction: 0, seq: 0 };

/** The state of a transaction in a response. */
export interface ObservedState {
  /** GraphQL value of PaymentStatus or PayoutStatus. */
  status: string;
  /** GraphQL value of PaymentState; null for payouts, and if the response shows none. */
  state: string | null;
  /** Amount actually paid by a MISPAID payment; otherwise null. */
  received: string | null;
  /** Whether the status never changes again: COMPLETED or FAILED. */
  isFinal: boolean;
  /** When the transaction is due to be looked up next; null: the gateway does not look it up on its own. */
  nextLookupAt: number | null;
}

/** A transaction and its state in a response of the service. */
export interface Observation extends ObservedState {
  service: string;
  kind: AttemptKind;
  channel: string;
  transactionId: string;
  /** When the request was sent. */
  requestedAt: number;
  /** When the response was received. */
  observedAt: number;
}

/**
 * `recorded`: the status or state is new; a change was recorded. `unchanged`: it is the recorded one. `outdated`: the
 * request was sent before the recorded response was received, so the observation may be older; the transaction is due
 * to be looked up again. A final status is never outdated. `not_followed`: the transaction was not created through the
 * gateway, or its last change is recorded.
 */
export type ObservationResult = 'recorded' | 'unchanged' | 'outdated' | 'not_followed';

/** A transaction that was created through the gateway and has not been seen completed or failed. */
export interface FollowedTransaction {
  /** Id of the row in followed_transactions. */
  id: number;
  kind: AttemptKind;
  channel: string;
  transactionId: string;
  /** The recorded status; null if none is recorded yet. */
  status: string | null;
  /** When the create was recorded. */
  createdAt: number;
  /** When the recorded status or state was observed for the first time; `createdAt` if none is recorded. */
  changedAt: number;
  /** Number of consecutive failed lookups. */
  failures: number;
}

/** Parameters for claiming followed transactions whose lookup is due. A share is reserved for young transactions. */
export interface FollowClaim {
  service: string;
  now: number;
  /** Other instances may claim the transactions again after this time. */
  leaseUntil: number;
  /** A transaction that changed after this time is young. */
  youngSince: number;
  /** Maximum number of transactions to claim. */
  limit: number;
  /** Maximum number of young transactions that are claimed first. Transactions that are due longest fill the rest of `limit`. */
  youngLimit: number;
}

/** The next lookup of a followed transaction. `nextLookupAt`: null if there is no further lookup. */
export interface FollowSchedule {
  id: number;
  nextLookupAt: number | null;
  failures: number;
}

export interface FollowCount {
  /** Number of followed transactions that will be looked up. */
  followed: number;
  /** Number of followed transactions whose lookup is due. */
  due: number;
  /** Due time of the most overdue lookup of a followed transaction; null if no lookup is due. */
  oldestDueAt: number | null;
}

/** A recorded change. */
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
  /** Status of the change before; null for the first change of a transaction. */
  previousStatus: string | null;
  status: string;
  state: string | null;
  currency: string;
  value: string;
  received: string | null;
}

/** For each kind to read, the client whose transactions are read; null: the transactions of all clients. */
export type ChangeCreators = Readonly<Partial<Record<AttemptKind, string | null>>>;

/** Selects changes, oldest first. */
export interface ChangeRange {
  service: string;
  /** Null for operators: every channel. */
  channel: string | null;
  creators: ChangeCreators;
  /** Position of the last change that the reader has; null: start with the oldest stored change. */
  after: ChangePosition | null;
  limit: number;
}

export interface ReadChanges {
  changes: RecordedChange[];
  /** Whether more changes of this range follow. */
  hasMore: boolean;
  /**
   * Position from which the next read of this range continues. Changes up to it were read, or excluded by `creators`.
   */
  readUntil: ChangePosition;
  /** Whether changes may have been committed that cannot be read yet, because an earlier transaction is in progress. */
  isBehind: boolean;
}

/** A position older than the oldest stored change. */
export class PositionExpired extends Error {
  /** @param oldest position after which no change was deleted */
  constructor(readonly oldest: ChangePosition) {
    super('Changes after this position were deleted when their retention period ended.');
    this.name = 'PositionExpired';
  }
}

/** The part of the journal that records changes. Every method rejects with JournalUnavailable if the store fails. */
export interface ChangeJournal {
  /** Records an observation if it shows a new status or state. Records a state once even if several instances observe it. */
  recordObservation(observation: Observation): Promise<ObservationResult>;
  /** Checks whether transactions may be followed: false only if one certainly is not. Cheaper than recordObservation(). */
  mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]>;
  claimFollowed(claim: FollowClaim): Promise<FollowedTransaction[]>;
  scheduleFollowed(schedules: readonly FollowSchedule[]): Promise<void>;
  countFollowed(service: string): Promise<FollowCount>;
  /** Reads durable changes only. Rejects with PositionExpired if changes after `after` were deleted. */
  readChanges(range: ChangeRange): Promise<ReadChanges>;
  /** Returns the position of the newest readable change of a channel. A reader of new changes starts there. */
  newestChange(service: string, channel: string): Promise<ChangePosition>;
}
