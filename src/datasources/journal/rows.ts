import type { Attempt, AttemptKind, AttemptOutcome, NewAttempt, UnknownCount } from './journal';

/** A row as either store returns it: PostgreSQL writes large numbers as strings. */
export type Row = Record<string, unknown>;

const text = (value: unknown): string => String(value);
const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));
const number = (value: unknown): number => Number(value);
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

/** An attempt from its row. */
export const readAttempt = (row: Row): Attempt => ({
  seq: number(row['seq']),
  id: text(row['id']),
  service: text(row['service']),
  client: text(row['client']),
  key: text(row['key']),
  kind: text(row['kind']) as AttemptKind,
  fingerprint: text(row['fingerprint']),
  channel: text(row['channel']),
  method: text(row['method']),
  externalId: text(row['external_id']),
  currency: text(row['currency']),
  value: text(row['value']),
  shown: text(row['shown']),
  outcome: text(row['outcome']) as AttemptOutcome,
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  owner: text(row['owner']),
  leaseUntil: number(row['lease_until']),
  startedAt: number(row['started_at']),
  sendUntil: number(row['send_until']),
  settledAt: numberOrNull(row['settled_at']),
  nextCheckAt: numberOrNull(row['next_check_at']),
  checks: number(row['checks']),
});

/** In these words SQLite uses the index of open attempts. */
export const OPEN = "outcome IN ('in_progress', 'unknown')";

const KINDS: readonly AttemptKind[] = ['payment', 'payout'];

/** What is unknown of each kind, from the rows of those of which something is. */
export const readUnknownCounts = (rows: readonly Row[]): UnknownCount[] =>
  KINDS.map((kind) => {
    const row = rows.find((each) => each['kind'] === kind);
    return { kind, count: number(row?.['count'] ?? 0), oldestAt: numberOrNull(row?.['oldest'] ?? null) };
  });

/** The columns that `begin` writes, in order; the rest start empty. */
export const BEGIN_COLUMNS = [
  'id',
  'service',
  'client',
  'key',
  'kind',
  'fingerprint',
  'channel',
  'method',
  'external_id',
  'currency',
  'value',
  'shown',
  'owner',
  'lease_until',
  'started_at',
  'send_until',
] as const;

/** The values of those columns. */
export const beginValues = (attempt: NewAttempt): (string | number)[] => [
  attempt.id,
  attempt.service,
  attempt.client,
  attempt.key,
  attempt.kind,
  attempt.fingerprint,
  attempt.channel,
  attempt.method,
  attempt.externalId,
  attempt.currency,
  attempt.value,
  attempt.shown,
  attempt.owner,
  attempt.leaseUntil,
  attempt.startedAt,
  attempt.sendUntil,
];

/** Whether the attempt's key is free again. */
export const isFree = ({ outcome }: Attempt): boolean => outcome === 'rejected' || outcome === 'not_sent';

/** What happens to a row whose key is free again: it becomes another attempt, the newest. */
export const TAKE_OVER_FREED_KEY = `ON CONFLICT (service, client, key) DO UPDATE SET
  ${BEGIN_COLUMNS.filter((name) => !['service', 'client', 'key'].includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')},
  seq = excluded.seq, outcome = 'in_progress', transaction_id = NULL, status = NULL, settled_at = NULL, next_check_at = NULL, checks = 0
  WHERE attempts.outcome IN ('rejected', 'not_sent')`;

/** What happens to a reservation that no attempt holds which may have been sent. */
export const takeOverReservation = (free: string): string =>
  `ON CONFLICT (service, channel, external_id) DO UPDATE SET attempt_id = excluded.attempt_id WHERE ${free}`;

/** A confirm whose owner died, or whose result was not known when it ended, can be taken over; it is suspect then. */
export const TAKE_OVER_CONFIRM = `ON CONFLICT (service, channel, transaction_id) DO UPDATE SET
  id = excluded.id, owner = excluded.owner, lease_until = excluded.lease_until, suspect = 1`;
