import { INSERT_COLUMNS, UPSERT_RELEASED_KEY, upsertReservation } from '../rows';

/**
 * Inserts all attempts of a batch. Returns the rows that were written, and the previous rows of keys that are taken. Every
 * instance locks in the same order, so that there are no deadlocks.
 */
export const INSERT_ATTEMPTS = `WITH input AS MATERIALIZED (
    SELECT x.*, (record ->> 'reserve')::boolean AS reserve FROM jsonb_array_elements($1::jsonb) AS record,
      jsonb_populate_record(NULL::attempts, record) AS x),
  reserved AS (
    INSERT INTO reservations (service, channel, external_id, attempt_id)
    SELECT service, channel, external_id, id FROM input WHERE reserve ORDER BY service, channel, external_id
    ${upsertReservation('NOT attempt_is_open(reservations.attempt_id)')}
    RETURNING attempt_id),
  begun AS (
    INSERT INTO attempts (${INSERT_COLUMNS.join(', ')}, outcome)
    SELECT ${INSERT_COLUMNS.join(', ')}, 'in_progress' FROM input
    WHERE NOT reserve OR id IN (SELECT attempt_id FROM reserved) ORDER BY service, client, key
    ${UPSERT_RELEASED_KEY}
    RETURNING *)
  SELECT * FROM begun
  UNION ALL
  SELECT found.* FROM input CROSS JOIN LATERAL (
    SELECT * FROM attempts
    WHERE service = input.service AND client = input.client AND key = input.key) AS found`;

/** Records the outcomes of a batch. Returns the attempts left unchanged because another one created their transaction. */
export const RECORD_OUTCOMES = `WITH input AS MATERIALIZED (
    SELECT * FROM jsonb_populate_recordset(NULL::attempts, $1::jsonb)),
  held AS MATERIALIZED (
    SELECT id FROM attempts_with_transaction_of_another($1::jsonb) AS id),
  locked AS MATERIALIZED (
    SELECT attempts.id FROM attempts JOIN input USING (id)
    WHERE attempts.outcome NOT IN ('succeeded', 'rejected', 'not_sent') AND id NOT IN (SELECT id FROM held)
    ORDER BY attempts.service, attempts.client, attempts.key FOR UPDATE OF attempts),
  settled AS (UPDATE attempts SET
    outcome = input.outcome,
    settled_at = input.settled_at,
    transaction_id = input.transaction_id,
    status = input.status,
    next_check_at = input.next_check_at,
    checks = attempts.checks + CASE WHEN input.outcome = 'unknown' THEN 1 ELSE 0 END,
    absent_lookups = COALESCE(input.absent_lookups, attempts.absent_lookups),
    absent_ms = COALESCE(input.absent_ms, attempts.absent_ms),
    absent_observer = COALESCE(input.absent_observer, attempts.absent_observer),
    lease_until = 0
  FROM input JOIN locked USING (id)
  WHERE attempts.id = input.id)
  SELECT id FROM held`;

/**
 * Searches the index by id and client only, so that it reads no row of another client. OFFSET 0 keeps a planner without
 * statistics from using the other conditions and reading all that the client ever created.
 */
export const FIND_CREATED = `SELECT input.place - 1 AS place, found.*
  FROM (SELECT place, ref ->> 0 AS channel, ref ->> 1 AS transaction_id, ref ->> 2 AS external_id
    FROM jsonb_array_elements($4::jsonb) WITH ORDINALITY AS refs(ref, place)) AS input
  CROSS JOIN LATERAL (
    (SELECT * FROM (
        SELECT * FROM attempts WHERE transaction_id = input.transaction_id AND client = $2 OFFSET 0) AS own
      WHERE service = $1 AND kind = $3 AND channel = input.channel
        AND (input.external_id IS NULL OR external_id = input.external_id)
      LIMIT 1)
    UNION ALL
    (SELECT * FROM (
        SELECT * FROM attempts
        WHERE input.transaction_id IS NULL AND external_id = input.external_id AND client = $2
          AND outcome IN ('succeeded', 'unknown')
        ORDER BY seq DESC OFFSET 0) AS own
      WHERE service = $1 AND kind = $3 AND channel = input.channel
      LIMIT 1)) AS found`;

/** Parameters: the confirmed inputs as JSON, then those of END_CONFIRM. One statement, and so atomic. */
export const RECORD_CONFIRMED = `WITH recorded AS (
  INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  SELECT service, channel, transaction_id, input_hash, status, confirmed_at FROM jsonb_to_recordset(?::jsonb)
    AS x(service text, channel text, transaction_id text, input_hash text, status text, confirmed_at bigint)
  ON CONFLICT DO NOTHING)`;

const TABLES = ['attempts', 'reservations', 'confirms', 'confirmed', 'settlement_proposals', 'write_checks'];

/** Whether the user of the connection has all privileges that the gateway needs. */
export const MAY_WRITE = TABLES.flatMap((table) =>
  ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((right) => `has_table_privilege('${table}', '${right}')`),
).join(' AND ');

/** Parameters: the time in milliseconds, and the size of the filler in bytes. */
export const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, repeat('0', ?::int))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler
  RETURNING ${MAY_WRITE} AS may`;
