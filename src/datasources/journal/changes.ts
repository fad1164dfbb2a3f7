/**
 * The record of changes: one row for each status or state of a transaction that a response of the service showed for
 * the first time, and the transactions that are followed until they are completed or failed. Times are in milliseconds
 * since 1970, by the clock of the journal.
 */

import type { AttemptKind } from './attempt-kind';

/** Position of a change in the record. Changes are ordered by it: no change becomes readable before a later read one. */
export interface ChangePosition {
  /** Rises when the journal is found in another database, for example after a failover or in a restored backup. */
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
  /** Number of the row. */
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

/** Claims followed transactions that are due. Those that changed lately come first, but not all of the time. */
export interface FollowClaim {
  service: string;
  now: number;
  /** Other instances may claim the transactions again after this time. */
  leaseUntil: number;
  /** A transaction that changed after this time is young. */
  youngSince: number;
  /** Maximum number of transactions. */
  limit: number;
  /** Of these, how many are claimed among young transactions first; the rest goes to those that have been due longest. */
  youngLimit: number;
}

/** When a followed transaction is due next; null: it is not looked up again. */
export interface FollowSchedule {
  id: number;
  nextLookupAt: number | null;
  failures: number;
}

export interface FollowCount {
  /** Number of followed transactions that will be looked up. */
  followed: number;
  /** Number of those that are due. */
  due: number;
  /** Since when the longest due one has been due; null if none is due. */
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

/** The kinds of transactions to read, each with the only client whose transactions are read; null: those of all. */
export type ChangeCreators = Readonly<Partial<Record<AttemptKind, string | null>>>;

/** Selects changes, oldest first. */
export interface ChangeRange {
  service: string;
  /** Null for operators: every channel. */
  channel: string | null;
  creators: ChangeCreators;
  /** Position of the last change that the reader has; null: from the oldest change kept. */
  after: ChangePosition | null;
  limit: number;
}

export interface ReadChanges {
  changes: RecordedChange[];
  /** Whether more changes of this range follow. */
  hasMore: boolean;
  /**
   * Position up to which everything was read, including changes that `creators` excludes. Where the next read of the
   * same range continues.
   */
  readUntil: ChangePosition;
  /** Whether changes may have been committed that cannot be read yet, because an earlier transaction is in progress. */
  isBehind: boolean;
}

/** A position older than the oldest change kept. */
export class PositionExpired extends Error {
  /** @param oldest position after which every change is kept */
  constructor(readonly oldest: ChangePosition) {
    super('The changes after this position were deleted.');
    this.name = 'PositionExpired';
  }
}

/** The part of the journal that records changes. Every method rejects with JournalUnavailable as the others do. */
export interface ChangeJournal {
  /** Records an observation, batched, if it shows a new status or state. Once, however many instances observe it. */
  recordObservation(observation: Observation): Promise<ObservationResult>;
  /** Returns for each transaction id false if it is certainly not followed. Cheaper than recording an observation. */
  mayBeFollowed(transactionIds: readonly string[]): Promise<boolean[]>;
  claimFollowed(claim: FollowClaim): Promise<FollowedTransaction[]>;
  scheduleFollowed(schedules: readonly FollowSchedule[]): Promise<void>;
  countFollowed(service: string): Promise<FollowCount>;
  /** Reads durable changes only. Rejects with PositionExpired if changes after `after` were deleted. */
  readChanges(range: ChangeRange): Promise<ReadChanges>;
  /** Returns the position of the newest readable change of a channel, from which a reader continues with new ones. */
  newestChange(service: string, channel: string): Promise<ChangePosition>;
}
