/** The durable record of creates and confirms: what it holds, and what can be done with it. Two stores keep it. */

export type AttemptKind = 'payment' | 'payout';

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
  shown: string;
  /** Whether no other attempt may hold the same external id on the same channel. */
  reserve: boolean;
  /** The instance that sends. */
  owner: string;
  /** Until when the owner is believed to be alive, unless it says so again. */
  leaseUntil: number;
  startedAt: number;
  /** The last possible moment at which the request can be sent. */
  sendUntil: number;
}

/** An attempt as it stands in the journal. Times are in milliseconds since 1970. */
export interface Attempt extends Omit<NewAttempt, 'reserve'> {
  /** Grows from attempt to attempt. */
  seq: number;
  outcome: AttemptOutcome;
  transactionId: string | null;
  /** The service's status word when the attempt was settled. */
  status: string | null;
  settledAt: number | null;
  /** When an unknown outcome is to be looked for next. */
  nextCheckAt: number | null;
  /** How often it was looked for. */
  checks: number;
}

/** What `begin` found. */
export type Begun =
  | { kind: 'started' }
  /** The key is taken. */
  | { kind: 'exists'; attempt: Attempt }
  /** Another attempt holds the external id. */
  | { kind: 'reserved' };

/** How an attempt ended, or that it is not known. */
export type Settlement =
  | { outcome: 'succeeded'; transactionId: string; status: string; settledAt: number }
  | { outcome: 'rejected' | 'not_sent'; settledAt: number }
  | { outcome: 'unknown'; nextCheckAt: number };

/** The right to confirm a payment, held by one at a time. */
export interface ConfirmClaim {
  id: string;
  service: string;
  channel: string;
  transactionId: string;
  owner: string;
  now: number;
  leaseUntil: number;
}

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
  /** Only attempts older than this one. */
  before?: number | null;
  limit: number;
}

/** Outcomes of one kind that nobody knows. */
export interface UnknownCount {
  kind: AttemptKind;
  count: number;
  /** When the oldest of them began; null where there is none. */
  oldestAt: number | null;
}

export interface Journal {
  /** How long anything asked of it may take, in milliseconds; then it is refused. */
  readonly deadlineMs: number;
  /** Writes the attempt durably, unless its key or its external id is taken. Both decided at one moment for all instances. */
  begin(attempt: NewAttempt): Promise<Begun>;
  /**
   * Records how an attempt ended. A settled attempt stays as it is. False where another attempt has created the very
   * transaction that this one is to have created: then nothing is recorded.
   */
  settle(id: string, settlement: Settlement): Promise<boolean>;
  find(key: AttemptKey): Promise<Attempt | null>;
  /** The attempt that created a transaction. */
  findByTransaction(service: string, kind: AttemptKind, transactionId: string): Promise<Attempt | null>;
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
  /** `suspect`: an earlier confirm of this payment ended without its result being known. Null when one is under way. */
  beginConfirm(claim: ConfirmClaim): Promise<{ suspect: boolean } | null>;
  /** Gives the right back; `known`: the result of the confirm is known. */
  endConfirm(id: string, known: boolean): Promise<void>;
  findById(service: string, id: string): Promise<Attempt | null>;
  /** For the operator: by the attempt's id, or by the idempotency key where only one attempt has it. */
  findAny(service: string, name: string): Promise<Attempt | null>;
  /** Unknown outcomes for the operator, of every client; oldest first. */
  unknown(service: string, limit: number): Promise<Attempt[]>;
  /** How many outcomes are unknown, of every client, and since when: one row for each kind. */
  countUnknown(service: string): Promise<UnknownCount[]>;
  /** Forgets attempts settled before then; unknown ones never. Returns how many. */
  purge(settledBefore: number): Promise<number>;
  /** Rejects when the journal cannot be reached. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The journal cannot be written or read now. */
export class JournalUnavailable extends Error {
  constructor(cause?: unknown) {
    super('The journal cannot be reached.', { cause });
    this.name = 'JournalUnavailable';
  }
}
