import { redactForAudit, redactDecimalForAudit, redactIdentifierForAudit } from '../../redaction/audit';

/** Audit entry of an executed createPayment, createPayout or confirmPayment, whatever its result. */
export interface AuditEntry {
  /** Id of the caller, such as `service:<client id>`. */
  who: string;
  operation: 'createPayment' | 'confirmPayment' | 'createPayout';
  /** The idempotency key. Null for confirmPayment, and for an invalid or unchecked key, which may contain a secret. */
  key: string | null;
  channel: string;
  method: string;
  amount: { currency: string; value: string } | null;
  /** GraphQL type of the result. For an error: FORBIDDEN, the kind of a ServiceError, or else the error's name. */
  outcome: string;
  /**
   * Whether the result is from an earlier call, or from a lookup after a lost response. Absent if the call returned
   * neither a payment nor a payout.
   */
  replayed?: boolean;
  transactionId: string | null;
  requestId: string;
  ip?: string;
}

/** Event of an audit entry about an attempt whose outcome is or was unknown. docs/audit-log.md explains each event. */
export type UnknownOutcomeEvent = 'recovered' | 'settled' | 'not_settled' | 'proposed' | 'withdrawn';

/**
 * Audit entry about an attempt of unknown outcome. Either the gateway has recovered the outcome, or an operator settles
 * it, proposes an outcome or withdraws a proposal.
 */
export interface UnknownOutcomeEntry {
  event: UnknownOutcomeEvent;
  /** The gateway or operator that acted: `instance:<id>` or `operator:<user of the operating system>`. */
  who: string;
  /** Environment variable SUDO_USER of the operator's process. It proves nothing, because the user can set it. */
  sudoUser?: string;
  /** Name that the operator has given in the option --by; absent if the option is not given. */
  statedName?: string;
  reason?: string;
  /** The attempt to create a payment or payout, as it was before this event. */
  attempt: {
    id: string;
    /** Id of the caller that made the attempt. */
    client: string;
    key: string;
    kind: 'payment' | 'payout';
    channel: string;
    method: string;
    currency: string;
    value: string;
    outcome: string;
  };
  /**
   * The new outcome. For the events `proposed` and `withdrawn`: the proposed outcome. For `not_settled`: the outcome in
   * the journal.
   */
  outcome: string;
  transactionId: string | null;
  /** Id of the proposal that the operator makes, approves or withdraws; absent if there is no proposal. */
  proposalId?: string;
  /** The operator who made the proposal; absent for the event `proposed`, and if there is no proposal. */
  proposedBy?: string;
}

/** Maximum size of a reason in bytes: 255 characters, each escaped as \uXXXX. */
const MAX_REASON_BYTES = 255 * 6;

const redactAmount = (currency: string, value: string) => ({
  currency: redactForAudit(currency, 16),
  value: redactDecimalForAudit(value, 32),
});

/** Returns the fields of an entry, redacted and truncated, so that the line is shorter than 4096 bytes. */
export const redactEntry = ({ amount, ...entry }: AuditEntry): object => ({
  who: redactIdentifierForAudit(entry.who, 600),
  operation: entry.operation,
  key: redactIdentifierForAudit(entry.key, 256),
  channel: redactForAudit(entry.channel, 64),
  method: redactForAudit(entry.method, 128),
  amount: amount && redactAmount(amount.currency, amount.value),
  outcome: redactForAudit(entry.outcome, 128),
  replayed: entry.replayed,
  transactionId: redactForAudit(entry.transactionId, 64),
  requestId: redactForAudit(entry.requestId, 128),
  ip: redactForAudit(entry.ip, 64),
});

/** Returns the fields of an entry, redacted and truncated, so that the line is shorter than 4096 bytes. */
export const redactUnknownOutcomeEntry = ({ attempt, ...entry }: UnknownOutcomeEntry): object => ({
  who: redactIdentifierForAudit(entry.who, 128),
  sudoUser: redactIdentifierForAudit(entry.sudoUser, 64),
  by: redactIdentifierForAudit(entry.statedName, 128),
  reason: redactForAudit(entry.reason, MAX_REASON_BYTES),
  proposal: redactForAudit(entry.proposalId, 64),
  proposedBy: redactIdentifierForAudit(entry.proposedBy, 128),
  attempt: redactForAudit(attempt.id, 64),
  client: redactIdentifierForAudit(attempt.client, 300),
  operation: attempt.kind === 'payment' ? 'createPayment' : 'createPayout',
  key: redactIdentifierForAudit(attempt.key, 256),
  channel: redactForAudit(attempt.channel, 64),
  method: redactForAudit(attempt.method, 128),
  amount: redactAmount(attempt.currency, attempt.value),
  oldOutcome: redactForAudit(attempt.outcome, 32),
  outcome: redactForAudit(entry.outcome, 32),
  transactionId: redactForAudit(entry.transactionId, 64),
});
