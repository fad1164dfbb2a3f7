import { scrubbed, scrubbedDecimal } from './scrub';

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
  text === null || text === undefined ? null : scrubbed(text, maxLength);

/** An entry as it may be put on record: nothing secret in it, and short enough for a line of less than 4096 bytes. */
export function recordable(entry: AuditEntry): AuditEntry {
  const { operation, amount, replayed, ip } = entry;
  return {
    who: scrubbed(entry.who, 600),
    operation,
    key: orNull(entry.key, 256),
    channel: scrubbed(entry.channel, 64),
    method: scrubbed(entry.method, 128),
    amount: amount && {
      currency: scrubbed(amount.currency, 16),
      value: scrubbedDecimal(amount.value, 32),
    },
    outcome: scrubbed(entry.outcome, 128),
    ...(replayed !== undefined && { replayed }),
    transactionId: orNull(entry.transactionId, 64),
    requestId: scrubbed(entry.requestId, 128),
    ...(ip !== undefined && { ip: scrubbed(ip, 64) }),
  };
}
