import {
  MAX_LEASE_MS,
  type Absence,
  type Attempt,
  type AttemptKind,
  type AttemptOutcome,
  type ConfirmBeginResult,
  type ConfirmedInput,
  type NewAttempt,
  type UnknownCount,
} from './journal';

/** A row as either store returns it: PostgreSQL writes large numbers as strings. */
export type Row = Record<string, unknown>;

/** A service's word may hold what PostgreSQL refuses; that must not spoil what is written along with it. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

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
  publicDetails: text(row['shown']),
  outcome: text(row['outcome']) as AttemptOutcome,
  transactionId: textOrNull(row['transaction_id']),
  status: textOrNull(row['status']),
  owner: text(row['owner']),
  leaseUntil: number(row['lease_until']),
  startedAt: number(row['started_at']),
  serviceStartedAt: numberOrNull(row['service_started_at']),
  sendUntil: number(row['send_until']),
  settledAt: numberOrNull(row['settled_at']),
  nextRecheckAt: numberOrNull(row['next_check_at']),
  recheckCount: number(row['checks']),
  absence: {
    lookups: number(row['absent_lookups']),
    spanMs: number(row['absent_ms']),
    observer: text(row['absent_observer']),
  },
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
  'service_started_at',
  'send_until',
] as const;

/** The values of those columns. */
export const beginValues = (attempt: NewAttempt): (string | number | null)[] => [
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
  attempt.publicDetails,
  attempt.owner,
  attempt.leaseUntil,
  attempt.startedAt,
  attempt.serviceStartedAt,
  attempt.sendUntil,
];

/** Whether the attempt's key is free again. */
export const isReleased = ({ outcome }: Attempt): boolean => outcome === 'rejected' || outcome === 'not_sent';

/** What happens to a row whose key is free again: it becomes another attempt, the newest. */
export const UPSERT_RELEASED_KEY = `ON CONFLICT (service, client, key) DO UPDATE SET
  ${BEGIN_COLUMNS.filter((name) => !['service', 'client', 'key'].includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')},
  seq = excluded.seq, outcome = 'in_progress', transaction_id = NULL, status = NULL, settled_at = NULL, next_check_at = NULL, checks = 0,
  absent_lookups = 0, absent_ms = 0, absent_observer = ''
  WHERE attempts.outcome IN ('rejected', 'not_sent')`;

const CREATED = `SELECT transaction_id FROM attempts WHERE channel = ? AND service = ?`;

/**
 * A transaction that was created on a channel: the client's own last one, else any. Both are ranges of attempts_by_start.
 * Its parameters are those of `createdValues`.
 */
export const CREATED_ON_CHANNEL = `SELECT transaction_id FROM (
    SELECT * FROM (${CREATED} AND client = ? AND kind = ? AND outcome = 'succeeded'
      ORDER BY started_at DESC, seq DESC LIMIT 1) AS own
    UNION ALL
    SELECT * FROM (${CREATED} AND kind = ? AND outcome = 'succeeded' LIMIT 1) AS others) AS found LIMIT 1`;

export const createdValues = ({ channel, service, client, kind }: Attempt): string[] => [
  channel,
  service,
  client,
  kind,
  channel,
  service,
  kind,
];

/** Another open attempt of the same external id, amount and method; its parameters are those of `rivalValues`. */
export const rival = (parameter: (place: number) => string): string =>
  `SELECT 1 FROM attempts WHERE service = ${parameter(1)} AND channel = ${parameter(2)} AND external_id = ${parameter(3)}
     AND kind = ${parameter(4)} AND method = ${parameter(5)} AND currency = ${parameter(6)} AND value = ${parameter(7)}
     AND id <> ${parameter(8)} AND outcome IN ('in_progress', 'unknown') LIMIT 1`;

export const rivalValues = (attempt: Attempt): string[] => [
  attempt.service,
  attempt.channel,
  attempt.externalId,
  attempt.kind,
  attempt.method,
  attempt.currency,
  attempt.value,
  attempt.id,
];

/** The columns of what lookups have proven; none where that is not given. */
export const absenceColumns = (absence: Absence | undefined) =>
  absence && {
    absent_lookups: absence.lookups,
    absent_ms: absence.spanMs,
    absent_observer: absence.observer,
  };

/** Whether a lease has ended, or cannot be one; `now` writes the parameter, once. */
export const leaseIsOver = (now: string): string =>
  `abs(lease_until - ${now} - ${MAX_LEASE_MS / 2}) > ${MAX_LEASE_MS / 2}`;

/** How long the instance that made the last counted lookup goes before the others: only it can measure the time since. */
const OBSERVER_GRACE_MS = 5000;

/** That time as SQL, for the instance that `owner` stands for. */
export const observerGrace = (owner: string): string =>
  `CASE WHEN absent_observer IN ('', ${owner}) THEN 0 ELSE ${OBSERVER_GRACE_MS} END`;

/** What happens to a reservation that no attempt holds which may have been sent. */
export const upsertReservation = (free: string): string =>
  `ON CONFLICT (service, channel, external_id) DO UPDATE SET attempt_id = excluded.attempt_id WHERE ${free}`;

/** An input hash that matches none: of an input that was not recorded, or of more inputs than are kept. */
const UNKNOWN_INPUT = 'unknown';
/** In characters: about 55 input hashes. */
const MAX_SUSPECT_HASHES = 4000;

/**
 * A confirm whose owner died, or whose result was not known when it ended, can be taken over; it is suspect then. Its
 * input is added to those that are suspect already, unless it is among them.
 */
export const UPSERT_CONFIRM = `ON CONFLICT (service, channel, transaction_id) DO UPDATE SET
  id = excluded.id, owner = excluded.owner, lease_until = excluded.lease_until, suspect = 1,
  input_hash = excluded.input_hash,
  suspect_hashes = CASE
    WHEN confirms.suspect_hashes LIKE '%' || confirms.input_hash || '%' THEN confirms.suspect_hashes
    WHEN length(confirms.suspect_hashes) > ${MAX_SUSPECT_HASHES} THEN '${UNKNOWN_INPUT}'
    ELSE trim(confirms.suspect_hashes || ' ' || confirms.input_hash) END`;

/** A begun confirm from its row. */
export const readBegunConfirm = (row: Row): ConfirmBeginResult => ({
  previousOutcomeUnknown: number(row['suspect']) === 1,
  unresolvedHashes: text(row['suspect_hashes'])
    .split(' ')
    .filter((hash) => hash !== ''),
});

/** A confirmed input from its row. */
export const readConfirmedInput = (row: Row): ConfirmedInput => ({
  service: text(row['service']),
  channel: text(row['channel']),
  transactionId: text(row['transaction_id']),
  inputHash: text(row['input_hash']),
  status: text(row['status']),
  confirmedAt: number(row['confirmed_at']),
});
