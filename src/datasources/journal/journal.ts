/** A write-ahead record of creates and confirms, kept in PostgreSQL or SQLite. Times are in milliseconds since 1970. */

export const ATTEMPT_KINDS = ['payment', 'payout'] as const;
export type AttemptKind = (typeof ATTEMPT_KINDS)[number];

/** Upper bound of a lease in ms. A later end means that the clock was set back after the lease was taken. */
export const MAX_LEASE_MS = 60 * 60 * 1000;

export const ATTEMPT_OUTCOMES = ['in_progress', 'succeeded', 'rejected', 'not_sent', 'unknown'] as const;
/** `not_sent`: certainly nothing reached the service. `rejected` and `not_sent` release the key. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** An idempotency key; scoped to a client, and to a service with the credentials used there. */
export interface AttemptKey {
  service: string;
  client: string;
  key: string;
}

/** Record written before a create is sent. Never a card number, a security code or a credential. */
export interface NewAttempt extends AttemptKey {
  /** UUID; a later attempt with a released key has another one. */
  id: string;
  kind: AttemptKind;
  /** Keyed hash of the canonical input. */
  fingerprint: string;
  channel: string;
  /** Wire type of the method. */
  method: string;
  externalId: string;
  currency: string;
  value: string;
  /** Method details that may be shown, as JSON. */
  publicDetails: string;
  /** Whether the external id must be unique on its channel. */
  reserve: boolean;
  /** The instance that sends. */
  owner: string;
  /** The owner counts as dead from then on unless it renews the lease. */
  leaseUntil: number;
  startedAt: number;
  /** The start by the service's clock; null when that is unknown. */
  serviceStartedAt: number | null;
  /** Latest time at which the request can be sent. */
  sendUntil: number;
}

/** Evidence from lookups that the service has no transaction for an attempt of unknown outcome. */
export interface Absence {
  lookups: number;
  /** Time between the first and last of them in ms, by monotonic clocks only. */
  spanMs: number;
  /** Instance that made the last of them, the only one that can measure the time since; empty when there is none. */
  observer: string;
}

export const NO_ABSENCE: Absence = { lookups: 0, spanMs: 0, observer: '' };

/** A stored attempt. */
export interface Attempt extends Omit<NewAttempt, 'reserve'> {
  /** Sequence number; increases from attempt to attempt. */
  seq: number;
  outcome: AttemptOutcome;
  transactionId: string | null;
  /** The service's status when the outcome was recorded. */
  status: string | null;
  settledAt: number | null;
  nextRecheckAt: number | null;
  recheckCount: number;
  absence: Absence;
}

/** `exists`: the key is taken. `reserved`: another attempt holds the external id. */
export type BeginResult = { kind: 'started' } | { kind: 'exists'; attempt: Attempt } | { kind: 'reserved' };

export type Outcome =
  | { outcome: 'succeeded'; transactionId: string; status: string; settledAt: number }
  | { outcome: 'rejected' | 'not_sent'; settledAt: number }
  /** Without `absence` the stored one stays. */
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
  /** Keyed hash of the input. */
  inputHash: string;
}

export interface ConfirmBeginResult {
  /** Whether an earlier confirm of this payment ended with an unknown result. */
  previousOutcomeUnknown: boolean;
  /** Input hashes of such confirms; `unknown` for one that was not recorded. */
  unresolvedHashes: string[];
}

/** An input with which a payment was confirmed. */
export interface ConfirmedInput extends ConfirmedPayment {
  /** Keyed hash; the input itself is not stored. */
  inputHash: string;
  /** The payment's status at that time. */
  status: string;
  confirmedAt: number;
}

export interface ConfirmResult {
  /**
   * `known`: the results of all confirms of this payment are known. `unknown`: this confirm may have been carried out.
   * `not_carried_out`: this one was not, and unknown results of earlier ones stay unknown.
   */
  outcome: 'known' | 'unknown' | 'not_carried_out';
  /** Inputs of this confirm and earlier ones that are now known to have been carried out. */
  confirmed: readonly ConfirmedInput[];
}

export type Claim = Pick<ConfirmClaim, 'service' | 'owner' | 'now' | 'leaseUntil'>;

/** A client whose creates of one kind are searched. */
export type Creator = Pick<NewAttempt, 'service' | 'client' | 'kind'>;

/** Identifies a transaction on a channel by at least one of its ids; when both are given, both must match. */
export interface TransactionRef {
  channel: string;
  transactionId?: string;
  externalId?: string;
}

export interface AttemptPage {
  service: string;
  client: string;
  channel: string;
  /** All kinds when omitted. */
  kinds?: readonly AttemptKind[];
  outcome?: AttemptOutcome | null;
  externalId?: string | null;
  /** Earliest start, inclusive. */
  startedFrom?: number | null;
  /** Only attempts before this position: that of an attempt, or any time with `seq` 0. */
  before?: AttemptPosition | null;
  limit: number;
}

/** Position in a list, which is ordered by start and then by `seq`. */
export type AttemptPosition = Pick<Attempt, 'startedAt' | 'seq'>;

/** Settled attempts with their reservations, reservations without an attempt, or confirmed inputs. */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed';

export interface PurgeStep {
  target: PurgeTarget;
  /** Deletes attempts settled, and inputs confirmed, before then. */
  settledBefore: number;
  /** Maximum number of rows to examine. */
  limit: number;
  /** `after` of the previous step; null for the first. */
  after: string | null;
}

export interface PurgeProgress {
  deleted: number;
  /** Where the next step begins; null when nothing is left to delete. */
  after: string | null;
}

/** Number of attempts of one kind with an unknown outcome. */
export interface UnknownCount {
  kind: AttemptKind;
  count: number;
  /** Start of the oldest; null when there is none. */
  oldestAt: number | null;
}

/** Every method rejects with JournalUnavailable when the store fails or exceeds its time limit. */
export interface Journal {
  /** The time by the clock that all instances of the journal share. */
  time(): Promise<number>;
  /** Time limit of a call in ms. */
  readonly deadlineMs: number;
  /** Writes the attempt durably unless its key or external id is taken. Atomic across instances. */
  insertAttempt(attempt: NewAttempt): Promise<BeginResult>;
  /**
   * Records an outcome; a settled attempt does not change. Returns false, and records nothing, when another attempt
   * created the transaction.
   */
  recordOutcome(id: string, outcome: Outcome): Promise<boolean>;
  find(key: AttemptKey): Promise<Attempt | null>;
  /** The attempt that created a transaction. */
  findByTransaction(service: string, kind: AttemptKind, transactionId: string): Promise<Attempt | null>;
  /** Whether a lookup by external id could show the transaction of another open attempt with the same amount and method. */
  hasRival(attempt: Attempt): Promise<boolean>;
  /** Id of a transaction of the same kind and channel that the service must have; null when none was created. */
  createdBeside(attempt: Attempt): Promise<string | null>;
  /**
   * The attempts with which this client created the transactions, in the order of `refs`; null for all others. By
   * external id alone: the newest attempt that succeeded or is unknown. Takes as long for transactions of other clients
   * as for none.
   */
  findCreated(creator: Creator, refs: readonly TransactionRef[]): Promise<(Attempt | null)[]>;
  /** Newest first. Rejects with JournalBusy when too many lists are queued. */
  list(page: AttemptPage): Promise<Attempt[]>;
  /** Extends the leases of all attempts and confirms that the owner has in progress. */
  renew(owner: string, leaseUntil: number): Promise<void>;
  /** Leases an attempt whose outcome is unknown or whose owner died; null when another instance holds it. */
  claim(id: string, claim: Claim): Promise<Attempt | null>;
  /** Leases attempts whose recheck is due. */
  claimDue(claim: Claim, limit: number): Promise<Attempt[]>;
  /** Null when a confirm of this payment is in progress. */
  beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null>;
  /** Releases the claim and records the result atomically. Idempotent. */
  endConfirm(id: string, result: ConfirmResult): Promise<void>;
  confirmedInputs(payment: ConfirmedPayment): Promise<ConfirmedInput[]>;
  findById(service: string, id: string): Promise<Attempt | null>;
  /** For operators: by attempt id, or by idempotency key when only one client used it. */
  findAny(service: string, name: string): Promise<Attempt | null>;
  /** For operators: unknown outcomes of every client, oldest first. */
  unknown(service: string, limit: number): Promise<Attempt[]>;
  /** Unknown outcomes of every client, one entry per kind. */
  countUnknown(service: string): Promise<UnknownCount[]>;
  /** Deletes expired rows, never attempts of unknown outcome. Null while another instance purges. */
  purgeStep(step: PurgeStep): Promise<PurgeProgress | null>;
  /**
   * Writes a row that exists for this check only, as durably as an attempt. Rejects when attempts cannot be written.
   * @param bytes size of an additional filler: on a full disk a small row may still fit
   */
  checkWrite(bytes: number): Promise<void>;
  /** Rejects when the journal cannot be read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Too many lists are queued. Other calls are not affected. */
export class JournalBusy extends Error {
  constructor(cause?: unknown) {
    super('Too many attempt lists are being read.', { cause });
    this.name = 'JournalBusy';
  }
}

/** The journal cannot be written or read now. */
export class JournalUnavailable extends Error {
  constructor(cause?: unknown) {
    super('The journal is unavailable.', { cause });
    this.name = 'JournalUnavailable';
  }
}
