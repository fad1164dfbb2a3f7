import {
  type Attempt,
  type AttemptKind,
  type AttemptOutcome,
  type NewAttempt,
  type SentAttempt,
} from './journal';

/** A row of PostgreSQL or SQLite. PostgreSQL returns 64-bit integers as strings. */
export type Row = Record<string, unknown>;

/** Replaces characters that PostgreSQL rejects, so that text from the service cannot make the write of a batch fail. */
export const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

export const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

export const attemptFromRow = (row: Row): Attempt => ({
  seq: Number(row['seq']),
  id: String(row['id']),
  service: String(row['service']),
  client: String(row['client']),
  key: String(row['key']),
  kind: row['kind'] as AttemptKind,
  fingerprint: String(row['fingerprint']),
  channel: String(row['channel']),
  method: String(row['method']),
  externalId: String(row['external_id']),
  currency: String(row['currency']),
  value: String(row['value']),
  publicDetails: String(row['shown']),
  outcome: row['outcome'] as AttemptOutcome,
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  owner: String(row['owner']),
  leaseUntil: Number(row['lease_until']),
  startedAt: Number(row['started_at']),
  serviceStartedAt: numberOrNull(row['service_started_at']),
  sendUntil: Number(row['send_until']),
  settledAt: numberOrNull(row['settled_at']),
  nextRecheckAt: numberOrNull(row['next_check_at']),
  recheckCount: Number(row['checks']),
  absence: {
    lookups: Number(row['absent_lookups']),
    spanMs: Number(row['absent_ms']),
    observer: String(row['absent_observer']),
  },
});

/** Whether the attempt's key can be used again. */
export const isKeyReleased = ({ outcome }: Attempt): boolean =>
  outcome === 'rejected' || outcome === 'not_sent';

const COLUMN_OF: Record<keyof SentAttempt, string> = {
  id: 'id',
  service: 'service',
  client: 'client',
  key: 'key',
  kind: 'kind',
  fingerprint: 'fingerprint',
  channel: 'channel',
  method: 'method',
  externalId: 'external_id',
  currency: 'currency',
  value: 'value',
  publicDetails: 'shown',
  owner: 'owner',
  leaseUntil: 'lease_until',
  startedAt: 'started_at',
  serviceStartedAt: 'service_started_at',
  sendUntil: 'send_until',
};
const INSERT_PROPERTIES = Object.keys(COLUMN_OF) as (keyof typeof COLUMN_OF)[];

/** Columns that an INSERT of a new attempt sets from its properties; the statement itself sets `outcome`. */
export const INSERT_COLUMNS: readonly string[] = Object.values(COLUMN_OF);

/** Returns the values for INSERT_COLUMNS, in their order. */
export const insertColumnValues = (attempt: NewAttempt): (string | number | null)[] =>
  INSERT_PROPERTIES.map((name) => attempt[name]);

/** Clause that replaces the attempt of a released key. */
export const UPSERT_RELEASED_KEY = `ON CONFLICT (service, client, key) DO UPDATE SET
  ${INSERT_COLUMNS.filter((name) => !['service', 'client', 'key'].includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')},
  seq = excluded.seq, outcome = 'in_progress', transaction_id = NULL, status = NULL, settled_at = NULL, next_check_at = NULL, checks = 0,
  absent_lookups = 0, absent_ms = 0, absent_observer = ''
  WHERE attempts.outcome IN ('rejected', 'not_sent') AND attempts.id <> excluded.id`;

/** Returns the clause that takes over a reservation if `isFree`: its attempt is rejected, not sent or purged. */
export const upsertReservationClause = (isFree: string): string =>
  `ON CONFLICT (service, channel, external_id) DO UPDATE SET attempt_id = excluded.attempt_id WHERE ${isFree}`;

/** Condition of open attempts. SQLite uses their index only if a condition has exactly this form. */
export const IS_OPEN = "outcome IN ('in_progress', 'unknown')";

export const FIND_BY_KEY = 'SELECT * FROM attempts WHERE service = ? AND client = ? AND key = ?';
