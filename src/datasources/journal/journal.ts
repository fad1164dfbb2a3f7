/**
 * The journal: a write-ahead record, in PostgreSQL or SQLite, of the requests that create payments and payouts and that
 * confirm payments. Times are in milliseconds since 1970.
 */

import type { TransactionKind } from './attempt-kind';
import type { ChangeJournal, ObservedState } from './changes';
import type { ConfirmBeginResult, ConfirmClaim, ConfirmedInput, EndedConfirm, PaymentRef } from './confirms';
import type { FenceReason, FenceState } from './fence';
import type { PurgeStepResult, PurgeStep } from './purge-step';

export type * from './confirms';
export type * from './purge-step';

export { TRANSACTION_KINDS, type TransactionKind } from './attempt-kind';

/** Maximum time in ms from now to a `leaseUntil`. A lease that ends later is void: the clock has been set back. */
export const MAX_LEASE_MS = 60 * 60 * 1000;

export const ATTEMPT_OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;
/**
 * - `in_progress`: no outcome is recorded yet. `succeeded`: the service created the transaction.
 * - `rejected`: the service refused the input. The idempotency key can be used again.
 * - `not_sent`: certainly nothing was created. The request was not executed, or lookups or an operator found nothing.
 *   The idempotency key can be used again.
 * - `unknown`: the service may have created a transaction.
 */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** An idempotency key of a client. `service`: base URL of the payment service, or the id of the embedded sandbox. */
export interface AttemptKey {
  service: string;
  client: string;
  key: string;
}

/**
 * Record of an attempt to create a payment or payout, written before the request is sent. Never contains a card number,
 * a security code or a credential.
 */
export interface NewAttempt extends AttemptKey {
  /** UUID of the attempt. Another attempt with the same idempotency key has another id. */
  id: string;
  kind: TransactionKind;
  /** Keyed hash of the input, without security codes. Equal inputs in different notations have the same hash. */
  fingerprint: string;
  channel: string;
  /** Wire type of the payment or payout method. */
  method: string;
  externalId: string;
  currency: string;
  value: string;
  /** Method details that are safe to show to callers, as JSON. */
  publicDetails: string;
  /**
   * Whether to reserve the external id on the channel. Until this attempt is `rejected`, `not_sent` or purged,
   * insertAttempt() returns `reserved` for attempts with other keys that would reserve the same external id on the
   * channel.
   */
  reservesExternalId: boolean;
  /** Id of the instance that sends the request. */
  owner: string;
  /** End of the lease of `owner`. Afterwards, other instances treat the owner as dead, and can claim the attempt. */
  leaseUntil: number;
  startedAt: number;
  /**
   * `startedAt` by the payment service's clock; null if that clock is unknown. If this attempt replaces one that the
   * journal has lost: the time at which the service created the payment of the lost attempt.
   */
  serviceStartedAt: number | null;
  /** Time after which the request can neither be sent nor be in flight. */
  sendUntil: number;
  /** `Fence.since` as last read before the insert; 0 if there was no fence. See `fence_changed` in InsertResult. */
  fenceSince: number;
}

/**
 * When a lookup of an attempt becomes due, claimDue() leaves the attempt to the instance `absence.observerId` for this
 * time in ms. Afterwards, or if `absence.observerId` is empty, any instance can claim the attempt.
 */
export const OBSERVER_EXCLUSIVE_CLAIM_MS = 5000;

/** Evidence from lookups that the service has no transaction for an attempt with an unknown outcome. */
export interface AbsenceEvidence {
  /** Number of lookups that did not find the transaction. Failed and inconclusive lookups are not counted. */
  lookupCount: number;
  /** Sum of the intervals between these lookups in ms, each up to a cap; without those between two instances. */
  spanMs: number;
  /** Id of the instance that made the last of these lookups and measures the time since; empty if there are none. */
  observerId: string;
}

export const NO_ABSENCE_EVIDENCE: AbsenceEvidence = { lookupCount: 0, spanMs: 0, observerId: '' };

/** The stored fields of a new attempt. `reservesExternalId` and `fenceSince` only control the insert. */
export type AttemptFields = Omit<NewAttempt, 'reservesExternalId' | 'fenceSince'>;

/**
 * A stored attempt. While `outcome` is `in_progress` or `unknown`, the attempt is open; afterwards, it is settled. A
 * claim changes `owner` and `leaseUntil`. In a settled attempt, `owner` is empty, `leaseUntil` and `sendUntil` are 0,
 * `serviceStartedAt` is null, and `absence` equals NO_ABSENCE_EVIDENCE.
 */
export interface Attempt extends AttemptFields {
  /** Sequence number of the row. Attempts that are inserted later have higher numbers. */
  seq: number;
  outcome: AttemptOutcome;
  /** Null unless the attempt succeeded. */
  transactionId: string | null;
  /** Wire status of the transaction when the outcome was recorded; null unless the attempt succeeded. */
  wireStatus: string | null;
  /** When the outcome was recorded; null while the attempt is open. */
  settledAt: number | null;
  /** Due time of the next lookup of an attempt with an unknown outcome; null if none is scheduled. */
  nextRecheckAt: number | null;
  /** How often the outcome `unknown` was recorded. */
  recheckCount: number;
  absence: AbsenceEvidence;
}

/**
 * Result of insertAttempt():
 * - `started`: the attempt was inserted, now or by an earlier call, so the request may be sent.
 * - `exists`: another attempt (`attempt`) uses the idempotency key.
 * - `reserved`: another attempt has reserved the external id.
 * - `fence_changed`: the fence was raised or lowered after `fenceSince` was read.
 */
export type InsertResult =
  | { kind: 'started' }
  | { kind: 'exists'; attempt: Attempt }
  | { kind: 'reserved' }
  | { kind: 'fence_changed' };

export type OutcomeDetails =
  | {
      outcome: 'succeeded';
      transactionId: string;
      wireStatus: string;
      settledAt: number;
      /**
       * Status and state in the service's response. They are recorded as the first change of the transaction. If
       * omitted, no change is recorded, and the first lookup of the transaction is due at `settledAt`.
       */
      observedState?: ObservedState;
    }
  | { outcome: 'rejected' | 'not_sent'; settledAt: number }
  /** If `absence` is omitted, the stored evidence of absence is kept. */
  | { outcome: 'unknown'; nextRecheckAt: number; absence?: AbsenceEvidence };

/** Claim of attempts: the service, the id of the claiming instance (`owner`), the current time, the lease's end. */
export type AttemptClaim = Pick<ConfirmClaim, 'service' | 'owner' | 'now' | 'leaseUntil'>;

/** Selects the payments or the payouts that one client created. */
export type CreatorAndKind = Pick<NewAttempt, 'service' | 'client' | 'kind'>;

/** Identifies a transaction on a channel by at least one of its ids; if both are given, both must match. */
export interface TransactionRef {
  channel: string;
  transactionId?: string;
  externalId?: string;
}

export interface AttemptQuery {
  /** Base URL of the payment service, or the id of the embedded sandbox. */
  service: string;
  client: string;
  channel: string;
  /** Kinds to list; all if omitted. */
  kinds?: readonly TransactionKind[];
  outcome?: AttemptOutcome | null;
  externalId?: string | null;
  /** Earliest start time, inclusive. */
  startedFrom?: number | null;
  /** Lists only attempts with an earlier position. If `seq` is 0, lists only those that started before `startedAt`. */
  beforePosition?: AttemptPosition | null;
  limit: number;
}

/** Position of an attempt in the order of start times, then of `seq`. */
export type AttemptPosition = Pick<Attempt, 'startedAt' | 'seq'>;

/** Number of attempts of one kind that have an unknown outcome. */
export interface UnknownOutcomeCount {
  kind: TransactionKind;
  count: number;
  /** Start time of the oldest of these attempts; null if there are none. */
  oldestStartedAt: number | null;
}

/** The journal. Every method rejects with JournalUnavailable if the database fails or exceeds the time limit. */
export interface Journal extends ChangeJournal {
  /** Returns the time in ms since 1970, by the journal's clock, which all instances share. */
  time(): Promise<number>;
  /** Time limit in ms of the calls that a create or confirm waits for. Some other calls have a longer limit. */
  readonly timeLimitMs: number;
  /** Writes the attempt durably, or returns why it was not written. Atomic across instances. */
  insertAttempt(attempt: NewAttempt): Promise<InsertResult>;
  /**
   * Records an outcome and returns true. If the attempt is already settled, changes nothing and returns true. If
   * another attempt created the transaction, changes nothing and returns false. Does not wait until the outcome is
   * durable: if a crash loses the outcome, a lookup finds it again. If the attempt is missing and the outcome is
   * `succeeded` or `unknown`, rejects with AttemptMissing.
   */
  recordOutcome(attemptId: string, outcome: OutcomeDetails): Promise<boolean>;
  /** Returns the attempt with an idempotency key, whatever its outcome; null if there is none. */
  find(attemptKey: AttemptKey): Promise<Attempt | null>;
  /** Returns the attempt that created a transaction; null if the journal has none. */
  findByTransaction(
    serviceName: string,
    kind: TransactionKind,
    transactionId: string,
  ): Promise<Attempt | null>;
  /**
   * Whether a transaction that a lookup found for `attempt` could also belong to another open attempt. Such an attempt
   * has the same kind, channel, external id and method and, if it is for a payment, the same amount. Amounts of payouts
   * are not compared, because lookups do not show them.
   */
  hasRival(attempt: AttemptFields): Promise<boolean>;
  /**
   * Returns the id of a transaction with the channel and kind of `attempt` that certainly exists at the service; null
   * if the journal has none. Prefers transactions of the same client. Recovery looks this transaction up as a canary:
   * if the service does not show it, lookups cannot prove that another transaction is absent.
   */
  findSucceededOnChannel(attempt: AttemptFields): Promise<string | null>;
  /**
   * Returns for each ref, in the same order, the attempt with which `creator` created the transaction; null if there is
   * none. For a ref with only an external id, returns the creator's newest attempt that has this external id and the
   * outcome `succeeded` or `unknown`. The duration does not reveal whether another client has created the transaction.
   */
  findCreated(creator: CreatorAndKind, refs: readonly TransactionRef[]): Promise<(Attempt | null)[]>;
  /** Returns a page of attempts, newest first. Rejects with JournalBusy if too many lists are queued. */
  list(query: AttemptQuery): Promise<Attempt[]>;
  /** Extends the leases of the owner's attempts and confirms that are in `ids` and still in progress. */
  renew(owner: string, leaseUntil: number, ids: readonly string[]): Promise<void>;
  /** Takes over an attempt and marks it as `unknown`. Returns null if it is settled, missing, or still leased. */
  claim(attemptId: string, claim: AttemptClaim): Promise<Attempt | null>;
  /** As claim(), for up to `limit` attempts whose lookup is due (see OBSERVER_EXCLUSIVE_CLAIM_MS) or not scheduled. */
  claimDue(claim: AttemptClaim, limit: number): Promise<Attempt[]>;
  /** Claims a payment for a confirm. Returns null if another confirm of this payment is in progress. */
  beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null>;
  /** Records the result of a confirm and releases its claim, atomically. Idempotent. */
  endConfirm(confirmId: string, result: EndedConfirm): Promise<void>;
  /** Returns the hashes of the inputs with which a payment was confirmed. The inputs themselves are not stored. */
  confirmedInputs(paymentRef: PaymentRef): Promise<ConfirmedInput[]>;
  /** Returns the attempt with this id, of any client and whatever its outcome; null if there is none. */
  findById(serviceName: string, attemptId: string): Promise<Attempt | null>;
  /** For operators: finds an attempt by id or idempotency key. Null if not found, or several clients used the key. */
  findAny(serviceName: string, idOrKey: string): Promise<Attempt | null>;
  /** For operators: returns attempts with an unknown outcome, of all clients, oldest first. */
  unknown(serviceName: string, limit: number): Promise<Attempt[]>;
  /** Counts attempts with an unknown outcome, of all clients. Returns one entry per kind of attempt. */
  countUnknown(serviceName: string): Promise<UnknownOutcomeCount[]>;
  /** Runs a step of the purge, which never deletes open attempts. Returns null if another instance is purging. */
  purgeStep(step: PurgeStep): Promise<PurgeStepResult | null>;
  /**
   * Writes a test row as durably as an attempt. Rejects if attempts cannot be written.
   * @param fillerSizeBytes size in bytes of a filler in the row: a small row may still fit on a full disk
   */
  checkWrite(fillerSizeBytes: number): Promise<void>;
  /** Reads the fence and last sequence number. After a failover or restore of PostgreSQL, raises the fence first. */
  readFenceState(): Promise<FenceState>;
  /** Raises the fence (see Fence) for this reason; lowers it if `reason` is null. */
  setFence(reason: FenceReason | null): Promise<void>;
  /** Resolves if the journal can be read; otherwise rejects. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A call of list() was rejected because too many of them are queued. The message is safe for callers. */
export class JournalBusy extends Error {
  constructor(cause?: unknown) {
    super('Too many queries for lists of attempts are in progress. Try again later.', { cause });
    this.name = 'JournalBusy';
  }
}

/** The journal cannot be read or written at present. */
export class JournalUnavailable extends Error {
  constructor(cause?: unknown) {
    super('The journal is unavailable.', { cause });
    this.name = 'JournalUnavailable';
  }
}
