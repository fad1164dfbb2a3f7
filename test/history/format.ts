/**
 * The lines of a history and of a ledger, both in JSON, one object per line. A history is in the order of events. All
 * times are in ms on one monotonic clock, that of the harness. No line contains a secret value: a confirmation is
 * written as a label.
 */

/**
 * A mutation; `attempt`, the outcome of a create by its key; `payment` and `payout`, lookups by external id. Their key
 * is the idempotency key (creates, `attempt`), the transaction id (`confirmPayment`) or the external id (lookups).
 */
export type Operation =
  'createPayment' | 'createPayout' | 'confirmPayment' | 'attempt' | 'payment' | 'payout';

export interface Amount {
  currency: string;
  value: string;
}

export interface CreateInput {
  channel: string;
  externalId: string | null;
  amount: Amount;
  method: string;
}

/** A label of the confirmation: equal labels stand for equal inputs. */
export interface ConfirmInput {
  confirmation: string;
}

export interface Result {
  /** The member of the result union, as `PaymentSuccess`. */
  type?: string;
  error?: string;
  message?: string;
  transactionId?: string | null;
  status?: string;
  replayed?: boolean;
  rules?: string[];
  /** The outcome of an attempt; null if the gateway has no attempt of the key. */
  outcome?: string | null;
  amount?: Amount | null;
}

interface Event {
  time: number;
  /** The caller. It may have several calls in flight. */
  process: number;
  /** Number of the call, the same in its invocation and its completion. */
  call: number;
  operation: Operation;
  key: string;
}

export interface Invocation extends Event {
  event: 'invoke';
  input?: CreateInput | ConfirmInput;
}

/** `ok`: done. `fail`: this call certainly created or confirmed nothing. `unknown`: it may have. */
export interface Completion extends Event {
  event: 'ok' | 'fail' | 'unknown';
  result: Result;
}

/** The name of a fault after which the journal may lack its latest attempts. */
export const JOURNAL_LOST = 'journal lost attempts';

export interface JournalSettings {
  /** UNKNOWN_SETTLE_SECONDS in ms: for how long the service may delay or hide a create. */
  settleMs: number;
  retentionMs: number;
}

/** A history begins with the settings. The faults of the harness are for people and for the checker's exceptions. */
export type HistoryLine =
  | ({ event: 'settings'; time: number } & JournalSettings)
  | { event: 'fault'; time: number; name: string }
  | Invocation
  | Completion;

export interface LedgerLine {
  kind: 'payment' | 'payout';
  transactionId: string;
  key: string;
  channel: string;
  externalId: string;
  amount: Amount;
  method: string;
  requestedAt: number;
  createdAt: number;
  visibleAt: number;
  confirms: { confirmation: string; requestedAt: number; carriedOutAt: number }[];
}
