/** A write-ahead record of creates and confirms, kept in PostgreSQL or SQLite. Times are in milliseconds since 1970. */

import type { AttemptKind } from './attempt-kind';
import type { ChangeJournal, ObservedState } from './changes';
import type { FenceReason, JournalState } from './fence';
import type { PurgeProgress, PurgeStep } from './purge-step';

export type * from './purge-step';

export { ATTEMPT_KINDS, type AttemptKind } from './attempt-kind';

/** Maximum duration of a lease in ms. If a lease has more time left, the clock was set back, and the lease is void. */
export const MAX_LEASE_MS = 60 * 60 * 1000;

export const ATTEMPT_OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;
/**
 * `rejected`: the service refused the input. `not_sent`: certainly nothing was created, because no request was executed
 * or because lookups or an operator proved it. After these two outcomes, the idempotency key can be used again.
 */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** An idempotency key of a client. `service` identifies the payment service and the credentials used there. */
export interface AttemptKey {
  service: string;
  client: string;
  key: string;
}

/** Record written before a create is sent. Never contains a card number, a security code or a credential. */
export interface NewAttempt extends AttemptKey {
  /** UUID of the attempt. Another attempt with the same idempotency key has another id. */
  id: string;
  kind: AttemptKind;
  /** Keyed hash of the canonical input. */
  fingerprint: string;
  channel: string;
  /** Wire type of the payment or payout method. */
  method: string;
  externalId: string;
  currency: string;
  value: string;
  /** Method details that are safe to show to callers, as JSON. */
  publicDetails: string;
  /** Whether to reserve the external id on its channel: then another reservation of it fails with `reserved`. */
  reserve: boolean;
  /** Id of the instance that sends the request. */
  owner: string;
  /** End of the lease. An owner that has not renewed it by then is treated as dead. */
  leaseUntil: number;
  startedAt: number;
  /** `startedAt` by the payment service's clock; null if that clock is unknown. */
  serviceStartedAt: number | null;
  /** Latest time at which the request can be sent. */
  sendUntil: number;
  /** `since` of the fence (fence.ts) that the owner knew when it decided to send; 0 if there was no fence. */
  fenceSince: number;
}

/** Time in ms for which a due recheck is left to the instance `absence.observer`. Then any instance may make it. */
export const OBSERVER_GRACE_MS = 5000;

/** Evidence from lookups that the service has no transaction for an attempt with an unknown outcome. */
export interface Absence {
  /** Number of lookups that count as evidence. */
  lookups: number;
  /** Time in ms between the first and the last of these lookups, as far as monotonic clocks have measured it. */
  spanMs: number;
  /** Id of the instance that made the last of these lookups and measures the time since; empty if there were none. */
  observer: string;
}

export const NO_ABSENCE: Absence = { lookups: 0, spanMs: 0, observer: '' };

/** A new attempt without the properties that only its insert uses. */
export type SentAttempt = Omit<NewAttempt, 'reserve' | 'fenceSince'>;

/** A stored attempt. Null: `settledAt` while open; `nextRecheckAt` if settled, or if no recheck is scheduled. */
export interface Attempt extends SentAttempt {
  /** Sequence number; increases from attempt to attempt. */
  seq: number;
  outcome: AttemptOutcome;
  /** Null unless the attempt succeeded. */
  transactionId: string | null;
  /** Status of the transaction when the outcome was recorded; null unless the attempt succeeded. */
  status: string | null;
  settledAt: number | null;
  nextRecheckAt: number | null;
  recheckCount: number;
  absence: Absence;
}

/**
 * `exists`: `attempt` holds the key. `reserved`: another attempt holds the external id. `fence_changed`: the fence was
 * raised or lowered since `fenceSince` was read; nothing was written.
 */
export type BeginResult =
  | { kind: 'started' }
  | { kind: 'exists'; attempt: Attempt }
  | { kind: 'reserved' }
  | { kind: 'fence_changed' };

export type Outcome =
  | {
      outcome: 'succeeded';
      transactionId: string;
      status: string;
      settledAt: number;
      /**
       * State in the response, recorded as the first change. If omitted, no status is recorded, and the first lookup of
       * the transaction is due at `settledAt`.
       */
      observed?: ObservedState;
    }
  | { outcome: 'rejected' | 'not_sent'; settledAt: number }
  /** If `absence` is omitted, the stored absence is kept. */
  | { outcome: 'unknown'; nextRecheckAt: number; absence?: Absence };

export interface ConfirmedPayment {
  service: string;
  channel: string;
  transactionId: string;
}

/** Request for the exclusive right to confirm a payment. */
export interface ConfirmClaim extends ConfirmedPayment {
  id: string;
  owner: string;
  now: number;
  leaseUntil: number;
  /** Keyed hash of the confirm's input. */
  inputHash: string;
}

export interface ConfirmBeginResult {
  /** Whether the result of an earlier confirm of this payment is unknown. */
  previousOutcomeUnknown: boolean;
  /** Input hashes of confirms with unknown results. If there were too many, `unknown` replaces the earlier ones. */
  unresolvedInputHashes: string[];
}

/** An input with which a payment was confirmed. */
export interface ConfirmedInput extends ConfirmedPayment {
  /** Keyed hash; the input itself is not stored. */
  inputHash: string;
  /** Status of the payment at `confirmedAt`. */
  status: string;
  confirmedAt: number;
}

export interface ConfirmResult {
  /**
   * `known`: the results of all confirms of this payment are known. `unknown`: this confirm may have been carried out.
   * `not_carried_out`: this confirm was not carried out; unknown results of earlier confirms stay unknown.
   */
  outcome: 'known' | 'unknown' | 'not_carried_out';
  /** Inputs with which the payment is now known to have been confirmed, by this confirm or an earlier one. */
  confirmed: readonly ConfirmedInput[];
}

export type Claim = Pick<ConfirmClaim, 'service' | 'owner' | 'now' | 'leaseUntil'>;

/** Selects one client's creates of payments or of payouts. */
export type Creator = Pick<NewAttempt, 'service' | 'client' | 'kind'>;

/** Identifies a transaction on a channel by at least one of its ids; if both are given, both must match. */
export interface TransactionRef {
  channel: string;
  transactionId?: string;
  externalId?: string;
}

export interface AttemptQuery {
  service: string;
  client: string;
  channel: string;
  /** Kinds to list; all if omitted. */
  kinds?: readonly AttemptKind[];
  outcome?: AttemptOutcome | null;
  externalId?: string | null;
  /** Earliest start time, inclusive. */
  startedFrom?: number | null;
  /** Lists only attempts before this position. If `seq` is 0: only attempts started before `startedAt`. */
  beforePosition?: AttemptPosition | null;
  limit: number;
}

/** Position in a list that is ordered by start time and then by `seq`. */
export type AttemptPosition = Pick<Attempt, 'startedAt' | 'seq'>;

/** Number of attempts of one kind that have an unknown outcome. */
export interface UnknownCount {
  kind: AttemptKind;
  count: number;
  /** Start time of the oldest of these attempts; null if there are none. */
  oldestAt: number | null;
}

/** Every method rejects with JournalUnavailable if the store fails or exceeds the time limit. */
export interface Journal extends ChangeJournal {
  /** Returns the time in ms since 1970, by the clock that all instances share. */
  time(): Promise<number>;
  /** Time limit of a call in ms; longer for lists, and for reads by operators and metrics. */
  readonly timeLimitMs: number;
  /** Writes the attempt durably unless its key or external id is taken. Atomic across instances. */
  insertAttempt(attempt: NewAttempt): Promise<BeginResult>;
  /**
   * Records an outcome; does not change a settled attempt. Returns false, and records nothing, if another attempt
   * created the transaction. Does not wait until the outcome is durable, because lookups can recover it. Rejects with
   * AttemptMissing if the outcome is `succeeded` or `unknown` and the journal does not have the attempt.
   */
  recordOutcome(id: string, outcome: Outcome): Promise<boolean>;
  find(key: AttemptKey): Promise<Attempt | null>;
  /** Returns the attempt that created a transaction; null if the journal has none. */
  findByTransaction(service: string, kind: AttemptKind, transactionId: string): Promise<Attempt | null>;
  /**
   * Whether lookups cannot tell this attempt from another open one: both have the same channel, external id, method
   * and, for payments, amount. Lookups show no amount of a payout.
   */
  hasRival(attempt: Attempt): Promise<boolean>;
  /**
   * Returns the id of a transaction that certainly exists at the service, because its create succeeded. It has the kind
   * and channel of `attempt` and, if possible, the same client. Null if there is none.
   */
  findSucceededOnChannel(attempt: Attempt): Promise<string | null>;
  /**
   * Returns for each ref, in order, the attempt with which `creator` created the transaction; null if there is none.
   * For a ref with only an external id, this is the newest attempt with the outcome `succeeded` or `unknown`. The call
   * takes as long for transactions of other clients as for transactions that do not exist.
   */
  findCreated(creator: Creator, refs: readonly TransactionRef[]): Promise<(Attempt | null)[]>;
  /** Returns a page of attempts, newest first. Rejects with JournalBusy if too many lists are queued. */
  list(page: AttemptQuery): Promise<Attempt[]>;
  /** Extends the owner's leases of attempts in progress and of confirms, but not of attempts that it claimed. */
  renew(owner: string, leaseUntil: number): Promise<void>;
  /** Takes over an open attempt whose lease has ended; marks it as `unknown`. Null if it is settled or still leased. */
  claim(id: string, claim: Claim): Promise<Attempt | null>;
  /** As `claim`, for up to `limit` attempts whose recheck is due. */
  claimDue(claim: Claim, limit: number): Promise<Attempt[]>;
  /** Claims a payment for a confirm. Null if another confirm of this payment is in progress. */
  beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null>;
  /** Records the result of a confirm and releases its claim, atomically. Idempotent. */
  endConfirm(id: string, result: ConfirmResult): Promise<void>;
  /** Returns the inputs with which a payment was confirmed. */
  confirmedInputs(payment: ConfirmedPayment): Promise<ConfirmedInput[]>;
  findById(service: string, id: string): Promise<Attempt | null>;
  /** For operators: finds an attempt by its id, or by its idempotency key if only one client used this key. */
  findAny(service: string, idOrKey: string): Promise<Attempt | null>;
  /** For operators: returns attempts with an unknown outcome, of all clients, oldest first. */
  unknown(service: string, limit: number): Promise<Attempt[]>;
  /** Counts attempts with an unknown outcome, of all clients. Returns one entry per kind of attempt. */
  countUnknown(service: string): Promise<UnknownCount[]>;
  /** Deletes expired rows, but never attempts with an unknown outcome. Null if another instance is purging. */
  purgeStep(step: PurgeStep): Promise<PurgeProgress | null>;
  /**
   * Writes a row that has no other purpose, as durably as an attempt. Rejects if attempts cannot be written.
   * @param bytes size of a filler in the row: a small row may still fit on a full disk
   */
  checkWrite(bytes: number): Promise<void>;
  /** Reads the state. PostgreSQL: first raises the fence if the database was replaced, for example in a failover. */
  readState(): Promise<JournalState>;
  /** Raises the fence; lowers it if `reason` is null. */
  setFence(reason: FenceReason | null): Promise<void>;
  /** Rejects if the journal cannot be read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A list was rejected because too many lists are queued. The message is safe for callers. */
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
