import { redactForAudit, scrubbedDecimal, scrubbedName } from '../../redaction/audit';

/** A call that moves money, or that was to: who made it, and how it ended. */
export interface AuditEntry {
  /** The caller's id (Caller.id). */
  who: string;
  operation: 'createPayment' | 'confirmPayment' | 'createPayout';
  /** The idempotency key. */
  key: string | null;
  channel: string;
  method: string;
  amount: { currency: string; value: string } | null;
  /** The name of the result's type, or the code of the GraphQL error. */
  outcome: string;
  /** Whether nothing was sent, as the key had been used for the same before. */
  replayed?: boolean;
  transactionId: string | null;
  requestId: string;
  /** Where the call came from. */
  ip?: string;
}

const orNull = (text: string | null | undefined, maxLength: number): string | null =>
  text === null || text === undefined ? null : redactForAudit(text, maxLength);

/** An entry as it may be put on record: nothing secret in it, and short enough for a line of less than 4096 bytes. */
export function recordable(entry: AuditEntry): AuditEntry {
  const { operation, amount, replayed, ip } = entry;
  return {
    who: scrubbedName(entry.who, 600),
    operation,
    key: nameOrUndefined(entry.key, 256) ?? null,
    channel: redactForAudit(entry.channel, 64),
    method: redactForAudit(entry.method, 128),
    amount: amount && {
      currency: redactForAudit(amount.currency, 16),
      value: scrubbedDecimal(amount.value, 32),
    },
    outcome: redactForAudit(entry.outcome, 128),
    ...(replayed !== undefined && { replayed }),
    transactionId: orNull(entry.transactionId, 64),
    requestId: redactForAudit(entry.requestId, 128),
    ...(ip !== undefined && { ip: redactForAudit(ip, 64) }),
  };
}

/** Audit entry of an outcome that was unknown when its call ended. */
export type OutcomeEvent =
  /** An instance found it later. */
  | 'recovered'
  /** An operator decided it. Written before the journal is changed. */
  | 'settled'
  /** The journal refused what the `settled` line before this one says. */
  | 'not_settled'
  /** An operator proposed it, and another one has to approve. */
  | 'proposed'
  /** A proposal was withdrawn. */
  | 'withdrawn';

/** A journal attempt, as far as the audit log records it. */
export interface RecordedAttempt {
  id: string;
  client: string;
  key: string;
  kind: 'payment' | 'payout';
  channel: string;
  method: string;
  currency: string;
  value: string;
  outcome: string;
}

/** An outcome that was found or decided after its call had ended. */
export interface OutcomeEntry {
  event: OutcomeEvent;
  /** `instance:<id>` or `operator:<user of the operating system>`. */
  who: string;
  /** SUDO_USER of the operator's process; unlike `who` it is only what the environment claims. */
  sudoUser?: string | undefined;
  /** The operator's name, as the operator gave it. */
  by?: string | undefined;
  /** Why the operator decided so. */
  reason?: string | undefined;
  attempt: RecordedAttempt;
  /** The new outcome. */
  outcome: string;
  transactionId: string | null;
  /** The id of the proposal that this line proposes, carries out or withdraws. */
  proposal?: string | undefined;
  /** The operator who made that proposal, where another one acts now. */
  proposedBy?: string | undefined;
}

/** An outcome entry as it may be recorded: nothing secret in it, and short enough for a line of less than 4096 bytes. */
export function recordableOutcome(entry: OutcomeEntry): object {
  const { attempt } = entry;
  return {
    who: scrubbedName(entry.who, 128),
    sudoUser: nameOrUndefined(entry.sudoUser, 64),
    by: nameOrUndefined(entry.by, 128),
    reason: orUndefined(entry.reason, MAX_REASON_BYTES),
    proposal: orUndefined(entry.proposal, 64),
    proposedBy: nameOrUndefined(entry.proposedBy, 128),
    attempt: redactForAudit(attempt.id, 64),
    client: scrubbedName(attempt.client, 300),
    operation: attempt.kind === 'payment' ? 'createPayment' : 'createPayout',
    key: scrubbedName(attempt.key, 256),
    channel: redactForAudit(attempt.channel, 64),
    method: redactForAudit(attempt.method, 128),
    amount: { currency: redactForAudit(attempt.currency, 16), value: scrubbedDecimal(attempt.value, 32) },
    oldOutcome: redactForAudit(attempt.outcome, 32),
    outcome: redactForAudit(entry.outcome, 32),
    transactionId: orNull(entry.transactionId, 64),
  };
}

/** 255 characters, each written as \uXXXX. */
const MAX_REASON_BYTES = 255 * 6;

const nameOrUndefined = (text: string | null | undefined, maxLength: number): string | undefined =>
  text === undefined || text === null ? undefined : scrubbedName(text, maxLength);

const orUndefined = (text: string | undefined, maxLength: number): string | undefined =>
  text === undefined ? undefined : redactForAudit(text, maxLength);
