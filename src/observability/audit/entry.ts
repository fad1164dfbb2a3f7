import { redactForAudit, redactDecimalForAudit, redactNameForAudit } from '../../redaction/audit';

/** A mutation that moves money. */
export interface AuditEntry {
  /** The caller's id. */
  who: string;
  operation: 'createPayment' | 'confirmPayment' | 'createPayout';
  /** The idempotency key. */
  key: string | null;
  channel: string;
  method: string;
  amount: { currency: string; value: string } | null;
  /** The name of the result's type, or the code of the GraphQL error. */
  outcome: string;
  /** Whether nothing was sent, because the key had been used for the same input. */
  replayed?: boolean;
  transactionId: string | null;
  requestId: string;
  /** IP address of the caller. */
  ip?: string;
}

/** Audit entry of an outcome that was unknown when its mutation ended. */
export type OutcomeEvent =
  /** An instance found it later. */
  | 'recovered'
  /** An operator decided it. Written before the journal is changed. */
  | 'settled'
  /** The journal rejected the `settled` line before this one. */
  | 'not_settled'
  /** An operator proposed it, and another one has to approve. */
  | 'proposed'
  /** A proposal was withdrawn. */
  | 'withdrawn';

/** An outcome that was found or decided after its mutation had ended. */
export interface OutcomeEntry {
  event: OutcomeEvent;
  /** `instance:<id>` or `operator:<user of the operating system>`. */
  who: string;
  /** SUDO_USER of the operator's process: a claim of the environment. */
  sudoUser?: string | undefined;
  /** The operator's name, as typed. */
  by?: string | undefined;
  reason?: string | undefined;
  attempt: {
    id: string;
    client: string;
    key: string;
    kind: 'payment' | 'payout';
    channel: string;
    method: string;
    currency: string;
    value: string;
    outcome: string;
  };
  /** The new outcome. */
  outcome: string;
  transactionId: string | null;
  /** The id of the proposal that this line proposes, carries out or withdraws. */
  proposal?: string | undefined;
  /** The operator who made that proposal. */
  proposedBy?: string | undefined;
}

/** 255 characters, each written as \uXXXX. */
const MAX_REASON_BYTES = 255 * 6;

type Redact = (text: string, maxBytes: number) => string;

/** Redacts a value that may be missing. Null and undefined stay as they are. */
const optional = <T extends null | undefined>(
  redact: Redact,
  text: string | T,
  maxBytes: number,
): string | T => (typeof text === 'string' ? redact(text, maxBytes) : text);

const redactAmount = (currency: string, value: string) => ({
  currency: redactForAudit(currency, 16),
  value: redactDecimalForAudit(value, 32),
});

/** Redacts an entry and limits its line to less than 4096 bytes. */
export const recordable = ({ amount, ...entry }: AuditEntry): object => ({
  who: redactNameForAudit(entry.who, 600),
  operation: entry.operation,
  key: optional(redactNameForAudit, entry.key, 256),
  channel: redactForAudit(entry.channel, 64),
  method: redactForAudit(entry.method, 128),
  amount: amount && redactAmount(amount.currency, amount.value),
  outcome: redactForAudit(entry.outcome, 128),
  replayed: entry.replayed,
  transactionId: optional(redactForAudit, entry.transactionId, 64),
  requestId: redactForAudit(entry.requestId, 128),
  ip: optional(redactForAudit, entry.ip, 64),
});

/** Redacts an outcome and limits its line to less than 4096 bytes. */
export const recordableOutcome = ({ attempt, ...entry }: OutcomeEntry): object => ({
  who: redactNameForAudit(entry.who, 128),
  sudoUser: optional(redactNameForAudit, entry.sudoUser, 64),
  by: optional(redactNameForAudit, entry.by, 128),
  reason: optional(redactForAudit, entry.reason, MAX_REASON_BYTES),
  proposal: optional(redactForAudit, entry.proposal, 64),
  proposedBy: optional(redactNameForAudit, entry.proposedBy, 128),
  attempt: redactForAudit(attempt.id, 64),
  client: redactNameForAudit(attempt.client, 300),
  operation: attempt.kind === 'payment' ? 'createPayment' : 'createPayout',
  key: redactNameForAudit(attempt.key, 256),
  channel: redactForAudit(attempt.channel, 64),
  method: redactForAudit(attempt.method, 128),
  amount: redactAmount(attempt.currency, attempt.value),
  oldOutcome: redactForAudit(attempt.outcome, 32),
  outcome: redactForAudit(entry.outcome, 32),
  transactionId: optional(redactForAudit, entry.transactionId, 64),
});
