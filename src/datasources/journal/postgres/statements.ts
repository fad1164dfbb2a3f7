import { BEGIN_COLUMNS, UPSERT_RELEASED_KEY, leaseIsOver, upsertReservation } from '../rows';

const NUMBERS = new Set([
  'lease_until',
  'started_at',
  'service_started_at',
  'send_until',
  'settled_at',
  'next_check_at',
  'absent_lookups',
  'absent_ms',
]);
const recordset = (columns: readonly string[]): string =>
  `jsonb_to_recordset($1::jsonb) AS x(${columns.map((name) => `${name} ${NUMBERS.has(name) ? 'bigint' : 'text'}`).join(', ')}, reserve boolean)`;

/**
 * All attempts of a batch in one statement. It returns the rows that were written and, as they were before, those
 * whose keys are taken. Everybody locks in the same order, so that nobody waits for each other in a circle.
 */
export const BEGIN = `WITH asked AS MATERIALIZED (SELECT * FROM ${recordset(BEGIN_COLUMNS)}),
  reserved AS (
    INSERT INTO reservations (service, channel, external_id, attempt_id)
    SELECT service, channel, external_id, id FROM asked WHERE reserve ORDER BY service, channel, external_id
    ${upsertReservation('NOT attempt_is_open(reservations.attempt_id)')}
    RETURNING attempt_id),
  begun AS (
    INSERT INTO attempts (${BEGIN_COLUMNS.join(', ')}, outcome)
    SELECT ${BEGIN_COLUMNS.join(', ')}, 'in_progress' FROM asked
    WHERE NOT reserve OR id IN (SELECT attempt_id FROM reserved) ORDER BY service, client, key
    ${UPSERT_RELEASED_KEY}
    RETURNING *)
  SELECT * FROM begun
  UNION ALL
  SELECT found.* FROM asked CROSS JOIN LATERAL (
    SELECT * FROM attempts
    WHERE service = asked.service AND client = asked.client AND key = asked.key) AS found`;

/** The attempt of a key. */
export const FIND = 'SELECT * FROM attempts WHERE service = $1 AND client = $2 AND key = $3';

const OPEN = "attempts.outcome IN ('in_progress', 'unknown')";

const SETTLE_COLUMNS = [
  'id',
  'outcome',
  'settled_at',
  'transaction_id',
  'status',
  'next_check_at',
  'absent_lookups',
  'absent_ms',
  'absent_observer',
];

/** Returns the attempts that were left as they are because another one has created their transaction. */
export const SETTLE = `WITH asked AS MATERIALIZED (
    SELECT * FROM ${recordset(SETTLE_COLUMNS)}),
  held AS MATERIALIZED (
    SELECT id FROM attempts_with_transaction_of_another($1::jsonb) AS id),
  locked AS MATERIALIZED (
    SELECT attempts.id FROM attempts JOIN asked USING (id)
    WHERE attempts.outcome NOT IN ('succeeded', 'rejected', 'not_sent') AND id NOT IN (SELECT id FROM held)
    ORDER BY service, client, key FOR UPDATE OF attempts),
  settled AS (UPDATE attempts SET
    outcome = asked.outcome,
    settled_at = asked.settled_at,
    transaction_id = asked.transaction_id,
    status = asked.status,
    next_check_at = asked.next_check_at,
    checks = attempts.checks + CASE WHEN asked.outcome = 'unknown' THEN 1 ELSE 0 END,
    absent_lookups = COALESCE(asked.absent_lookups, attempts.absent_lookups),
    absent_ms = COALESCE(asked.absent_ms, attempts.absent_ms),
    absent_observer = COALESCE(asked.absent_observer, attempts.absent_observer),
    lease_until = 0
  FROM asked JOIN locked USING (id)
  WHERE attempts.id = asked.id)
  SELECT id FROM held`;

/** Who is being settled at this moment needs no renewal, and is not waited for. */
export const RENEW = `UPDATE attempts SET lease_until = $1 WHERE id IN (
  SELECT id FROM attempts WHERE owner = $2 AND outcome = 'in_progress' FOR UPDATE SKIP LOCKED)`;

/** Attempts of unknown outcome, or of an owner that has not renewed its lease by the third parameter. */
export const CLAIMABLE = `${OPEN} AND ${leaseIsOver('$3')}`;

/** Tables that the gateway's user reads and writes. */
const TABLES = ['attempts', 'reservations', 'confirms', 'confirmed', 'settlement_proposals', 'write_checks'];

/** Whether the user of the connection may do so. */
export const MAY_WRITE = TABLES.flatMap((table) =>
  ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((right) => `has_table_privilege('${table}', '${right}')`),
).join(' AND ');

/** Parameters: the time in milliseconds, and how many bytes are written beside. */
export const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, $1, repeat('0', $2::int))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler
  RETURNING ${MAY_WRITE} AS may`;
