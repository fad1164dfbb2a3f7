/** The durable record of creates and confirms: what it holds, and what can be done with it. Two stores keep it. */

export type AttemptKind = 'payment' | 'payout';

/** No lease is as long: one that ends later was taken before the clock was set back. In milliseconds. */
export const MAX_LEASE_MS = 60 * 60 * 1000;

/**
 * What became of a create. `not_sent`: it is certain that nothing reached the service. After `rejected` and
 * `not_sent` the key is free again.
 */
export type AttemptOutcome = 'in_progress' | 'succeeded' | 'rejected' | 'not_sent' | 'unknown';

/** Whose key: the same key of another caller, or before another service, is another key. */
export interface AttemptKey {
  /** Names the service and the credentials used there. */
  service: string;
  /** Names the caller. */
  client: string;
  /** The caller's idempotency key. */
  key: string;
}

/** What is written before a create is sent. Never a card number, a security code or a credential. */
export interface NewAttempt extends AttemptKey {
  /** A UUID of this attempt; a later attempt under a freed key has another. */
  id: string;
  kind: AttemptKind;
  /** Keyed hash of the canonical input. */
  fingerprint: string;
  channel: string;
  /** The method's wire type. */
  method: string;
  externalId: string;
  currency: string;
  value: string;
  /** What the transaction may show of its method, as JSON. */
  publicDetails: string;
  /** Whether no other attempt may hold the same external id on the same channel. */
  reserve: boolean;
  /** The instance that sends. */
  owner: string;
  /** Until when the owner is believed to be alive, unless it says so again. */
  leaseUntil: number;
  startedAt: number;
  /** The same moment by the service's own clock; null where that was not known. */
  serviceStartedAt: number | null;
  /** The last possible moment at which the request can be sent. */
  sendUntil: number;
}

/** Evidence, collected by lookups, that the service has no transaction for an attempt of unknown outcome. */
export interface Absence {
  /** How many of them count. */
  lookups: number;
  /** How much time they span, in milliseconds, measured by monotonic clocks alone. */
  spanMs: number;
  /** The instance that made the last of them; empty where there is none. Only it can tell how long ago that was. */
  observer: string;
}

export const NO_ABSENCE: Absence = { lookups: 0, spanMs: 0, observer: '' };

/** An attempt as it stands in the journal. Times are in milliseconds since 1970, by the journal's clock. */
export interface Attempt extends Omit<NewAttempt, 'reserve'> {
  /** Grows from attempt to attempt. */
  seq: number;
  outcome: AttemptOutcome;
  transactionId: string | null;
  /** The service's status word when the attempt was settled. */
  status: string | null;
  settledAt: number | null;
  /** When an unknown outcome is to be looked for next. */
  nextRecheckAt: number | null;
  /** How often it was looked for. */
  recheckCount: number;
  absence: Absence;
}

/** What `begin` found. */
export type BeginResult =
  | { kind: 'started' }
  /** The key is taken. */
  | { kind: 'exists'; attempt: Attempt }
  /** Another attempt holds the external id. */
  | { kind: 'reserved' };

/** How an attempt ended, or that it is not known. */
export type Outcome =
  | { outcome: 'succeeded'; transactionId: string; status: string; settledAt: number }
  | { outcome: 'rejected' | 'not_sent'; settledAt: number }
  /** `absence`: left as it is where it is not given. */
  | { outcome: 'unknown'; nextRecheckAt: number; absence?: Absence };

/** The right to confirm a payment, held by one at a time. */
export interface ConfirmClaim {
  id: string;
  service: string;
  channel: string;
  transactionId: string;
  owner: string;
  now: number;
  leaseUntil: number;
  /** Keyed hash of the input. */
  inputHash: string;
}

/** A confirm that may be sent. */
export interface ConfirmBeginResult {
  /** An earlier confirm of this payment ended without its result being known. */
  previousOutcomeUnknown: boolean;
  /** The input hashes of such confirms; `unknown` stands for one that was not recorded. */
  unresolvedHashes: string[];
}

/** An input with which a payment was confirmed. Only its keyed hash is kept. */
export interface ConfirmedInput {
  service: string;
  channel: string;
  transactionId: string;
  inputHash: string;
  /** The payment's status word at that time. */
  status: string;
  confirmedAt: number;
}

/** How a confirm ended. */
export interface ConfirmResult {
  /**
   * `known`: no confirm of this payment is suspect any more. `unknown`: this confirm may have been carried out.
   * `not_carried_out`: this confirm was not carried out, and what was suspect before still is.
   */
  outcome: 'known' | 'unknown' | 'not_carried_out';
  /** The inputs, of this confirm or of earlier ones, that are known now to have been carried out. */
  confirmed: readonly ConfirmedInput[];
}

/** A payment, as confirms name it. */
export type ConfirmedPayment = Pick<ConfirmedInput, 'service' | 'channel' | 'transactionId'>;

export interface Claim {
  service: string;
  owner: string;
  now: number;
  leaseUntil: number;
}

/** A client whose creates are searched, of one kind. */
export interface Creator {
  service: string;
  client: string;
  kind: AttemptKind;
}

/** Names a transaction on a channel by at least one of its ids; by both, where both are given. */
export interface TransactionRef {
  channel: string;
  transactionId?: string;
  externalId?: string;
}

export interface AttemptPage {
  service: string;
  client: string;
  channel: string;
  /** Only creates of these; of both where this is missing. */
  kinds?: readonly AttemptKind[];
  outcome?: AttemptOutcome | null;
  externalId?: string | null;
  /** Only attempts that began then or later, in milliseconds since 1970. */
  startedFrom?: number | null;
  /** Only attempts older than this position: it may be that of an attempt, or any time with 0 as `seq`. */
  before?: AttemptPosition | null;
  limit: number;
}

/** The place of an attempt in a list, which is ordered by start, and by `seq` where two began at the same time. */
export type AttemptPosition = Pick<Attempt, 'startedAt' | 'seq'>;

/** Rows that `purgeStep` deletes: settled attempts with their reservations, reservations without an attempt, or confirmed inputs. */
export type PurgeTarget = 'attempts' | 'reservations' | 'confirmed';

/** One small step of a purge. */
export interface PurgeStep {
  target: PurgeTarget;
  /** Attempts settled, and inputs confirmed, before then are deleted, in milliseconds since 1970. */
  settledBefore: number;
  /** How many rows the step looks at, at most. */
  limit: number;
  /** Where the step before ended; null to begin. */
  after: string | null;
}

export interface PurgeProgress {
  /** How many rows were deleted. */
  deleted: number;
  /** Where the next step begins; null when nothing is left to delete. */
  after: string | null;
}

/** Outcomes of one kind that nobody knows. */
export interface UnknownCount {
  kind: AttemptKind;
  count: number;
  /** When the oldest of them began; null where there is none. */
  oldestAt: number | null;
}

export interface Journal {
  /** The time by the clock that all who use the journal share, in milliseconds since 1970. */
  time(): Promise<number>;
  /** How long anything asked of it may take, in milliseconds; then it is refused. */
  readonly deadlineMs: number;
  /** Writes the attempt durably, unless its key or its external id is taken. Both decided at one moment for all instances. */
  insertAttempt(attempt: NewAttempt): Promise<BeginResult>;
  /**
   * Records how an attempt ended. A settled attempt stays as it is. False where another attempt has created the very
   * transaction that this one is to have created: then nothing is recorded.
   */
  recordOutcome(id: string, settlement: Outcome): Promise<boolean>;
  find(key: AttemptKey): Promise<Attempt | null>;
  /** The attempt that created a transaction. */
  findByTransaction(service: string, kind: AttemptKind, transactionId: string): Promise<Attempt | null>;
  /**
   * Whether another attempt of the same external id, amount and method may have been sent and has no known outcome: what
   * a lookup by external id shows may then be either's.
   */
  hasRival(attempt: Attempt): Promise<boolean>;
  /** A transaction that the service must have: one of the same kind on the same channel. Null where none was created. */
  createdBeside(attempt: Attempt): Promise<string | null>;
  /**
   * The attempt with which this client created each of the transactions, in the order asked; null for what it did not
   * create, whether it exists or not. By external id alone the newest attempt that has succeeded or whose outcome is
   * unknown. One query, and the same work for what others created as for what nobody did.
   */
  findCreated(creator: Creator, refs: readonly TransactionRef[]): Promise<(Attempt | null)[]>;
  /** Newest first. */
  list(page: AttemptPage): Promise<Attempt[]>;
  /** Says that the owner is alive: its attempts and confirms under way stay its own. */
  renew(owner: string, leaseUntil: number): Promise<void>;
  /** Takes one attempt of unknown outcome, or one whose owner died, for following up; null when somebody else has it. */
  claim(id: string, claim: Claim): Promise<Attempt | null>;
  /** Takes attempts that are due for following up. */
  claimDue(claim: Claim, limit: number): Promise<Attempt[]>;
  /** Null when a confirm of this payment is under way. */
  beginConfirm(claim: ConfirmClaim): Promise<ConfirmBeginResult | null>;
  /** Gives the right back and records the result, both or neither. May be repeated. */
  endConfirm(id: string, result: ConfirmResult): Promise<void>;
  /** The inputs with which a payment was confirmed. */
  confirmedInputs(payment: ConfirmedPayment): Promise<ConfirmedInput[]>;
  findById(service: string, id: string): Promise<Attempt | null>;
  /** For the operator: by the attempt's id, or by the idempotency key where only one attempt has it. */
  findAny(service: string, name: string): Promise<Attempt | null>;
  /** Unknown outcomes for the operator, of every client; oldest first. */
  unknown(service: string, limit: number): Promise<Attempt[]>;
  /** How many outcomes are unknown, of every client, and since when: one row for each kind. */
  countUnknown(service: string): Promise<UnknownCount[]>;
  /** Deletes what is no longer kept; unknown attempts never. Null while another instance is doing that. */
  purgeStep(step: PurgeStep): Promise<PurgeProgress | null>;
  /**
   * Writes the one row that exists for that purpose, as durably as an attempt. Rejects with the reason where attempts
   * cannot be written.
   * @param bytes how much is written beside: where no space is left little may still fit
   */
  checkWrite(bytes: number): Promise<void>;
  /** Rejects when the journal cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Too many lists are waiting to be read. Nothing else of the journal is affected. */
export class JournalBusy extends Error {
  constructor(cause?: unknown) {
    super('Too many lists of attempts are being read.', { cause });
    this.name = 'JournalBusy';
  }
}

/** The journal cannot be written or read now. */
export class JournalUnavailable extends Error {
  constructor(cause?: unknown) {
    super('The journal cannot be reached.', { cause });
    this.name = 'JournalUnavailable';
  }
}
