import { INSERT_COLUMNS, UPSERT_RELEASED_KEY, upsertReservationClause } from '../rows';

/**
 * Whether a commit of this session survives a crash of the server and, if it has a synchronous standby, its loss. Without
 * such a standby `local` and `remote_write` are as durable as `on`.
 */
export const IS_DURABLE = `(current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
  AND (current_setting('synchronous_commit') IN ('on', 'remote_apply')
    OR current_setting('synchronous_commit') <> 'off' AND current_setting('synchronous_standby_names') = ''))`;

/**
 * Inserts all attempts of a batch; none if the database is not the one that the journal was last written to, if its
 * commits are not durable, or if the fence is not the one that the sender knew. Returns the rows that were written, and the rows that already held one of the keys.
 * Every instance locks in the same order, so that there are no deadlocks.
 */
export const INSERT_ATTEMPTS = `WITH state AS MATERIALIZED (
    SELECT fence_since FROM journal_state WHERE identity = journal_identity() AND ${IS_DURABLE}),
  input AS MATERIALIZED (
    SELECT x.*, (record ->> 'reserve')::boolean AS reserve,
      (record ->> 'fence_since')::bigint IN (SELECT fence_since FROM state) AS may_insert
    FROM jsonb_array_elements($1::jsonb) AS record, jsonb_populate_record(NULL::attempts, record) AS x),
  reserved AS (
    INSERT INTO reservations (service, channel, external_id, attempt_id)
    SELECT service, channel, external_id, id FROM input WHERE reserve AND may_insert
    ORDER BY service, channel, external_id
    ${upsertReservationClause('NOT attempt_is_open(reservations.attempt_id)')}
    RETURNING attempt_id),
  begun AS (
    INSERT INTO attempts (${INSERT_COLUMNS.join(', ')}, outcome)
    SELECT ${INSERT_COLUMNS.join(', ')}, 'in_progress' FROM input
    WHERE may_insert AND (NOT reserve OR id IN (SELECT attempt_id FROM reserved)) ORDER BY service, client, key
    ${UPSERT_RELEASED_KEY}
    RETURNING *)
  SELECT * FROM begun
  UNION ALL
  SELECT found.* FROM input CROSS JOIN LATERAL (
    SELECT * FROM attempts
    WHERE service = input.service AND client = input.client AND key = input.key) AS found`;

const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)';

/** Returns the state, and raises the fence if the database is not the one that the journal was last written to. */
export const READ_STATE = `WITH raised AS (
    UPDATE journal_state SET identity = journal_identity(), fence_since = ${NOW},
      fence_reason = CASE WHEN split_part(identity, '/', 1) = split_part(journal_identity(), '/', 1)
        AND split_part(identity, '/', 3) = split_part(journal_identity(), '/', 3) THEN 'failover' ELSE 'restored' END
    WHERE identity <> journal_identity() RETURNING *)
  SELECT state.*, ${IS_DURABLE} AS is_durable, (SELECT last_value FROM attempts_seq_seq) AS last_sequence
  FROM (SELECT * FROM raised UNION ALL SELECT * FROM journal_state ORDER BY fence_since DESC LIMIT 1) AS state`;

/** Parameter: the reason; empty to lower the fence. */
export const SET_FENCE = `UPDATE journal_state SET fence_reason = $1::text,
  fence_since = CASE WHEN $1::text = '' THEN 0 ELSE ${NOW} END`;

/**
 * Records a batch of outcomes. Returns the ids of attempts left unchanged because another one created their transaction,
 * or because they are missing.
 */
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
  SELECT id, FALSE AS is_missing FROM held
  UNION ALL
  SELECT id, TRUE FROM input WHERE NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.id = input.id)`;

/**
 * Searches the index by id and client only, so that it reads no row of another client. OFFSET 0 keeps a planner without
 * statistics from using the other conditions and so reading all attempts of the client.
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

/** Precedes END_CONFIRM in one statement, so that both are atomic. Parameter: the confirmed inputs as JSON. */
export const RECORD_CONFIRMED = `WITH recorded AS (
  INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  SELECT service, channel, transaction_id, input_hash, status, confirmed_at FROM jsonb_to_recordset(?::jsonb)
    AS x(service text, channel text, transaction_id text, input_hash text, status text, confirmed_at bigint)
  ON CONFLICT DO NOTHING)`;

const TABLES = [
  'attempts',
  'reservations',
  'confirms',
  'confirmed',
  'settlement_proposals',
  'write_checks',
  'journal_state',
];

/** Whether the user of the connection has all privileges that the gateway needs. */
export const MAY_WRITE = TABLES.flatMap((table) =>
  ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((right) => `has_table_privilege('${table}', '${right}')`),
).join(' AND ');

/** Parameters: the time in milliseconds, and the size of the filler in bytes. */
export const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, repeat('0', ?::int))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler
  RETURNING ${MAY_WRITE} AS may, ${IS_DURABLE} AS is_durable`;
