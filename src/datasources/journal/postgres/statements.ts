import { keyHashSql } from '../attempt-tables';
import { NOW_SQL_BY_DIALECT } from '../change-tables';
import { INSERT_COLUMNS, UPSERT_RELEASED_KEY_CLAUSE, upsertReservationClause } from '../rows';
import { OBSERVED_STATE_COLUMNS, RECORD_FIRST_CHANGES_CTES, SETTLED_CTE_COLUMNS } from './change-statements';

/**
 * SQL condition: commits of this session survive a crash of the server and, if there is a synchronous standby, the loss
 * of the server. Without a synchronous standby, `synchronous_commit` = `local` or `remote_write` is as durable as `on`.
 */
export const DURABILITY_CONDITION = `(current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
  AND (current_setting('synchronous_commit') IN ('on', 'remote_apply')
    OR current_setting('synchronous_commit') <> 'off' AND current_setting('synchronous_standby_names') = ''))`;

/**
 * Inserts a batch of attempts. Parameter: the attempts as JSON. Does not insert an attempt in these cases:
 * - Its group (row of `attempt_groups`) is missing.
 * - Its idempotency key is already taken.
 * - It must reserve its external id, but the external id is already taken.
 * - Its `fence_since` differs from the stored one: the fence (see Fence) was raised or lowered.
 * - The database was replaced, or its commits are not durable. Then none of the attempts is inserted.
 * Returns a row for each attempt. If the attempt was inserted, `begun_id` is its id. If not, `begun_id` is null, and
 * the other columns are those of the stored attempt with the same key, or null. Every instance locks rows in the same
 * order, which prevents deadlocks.
 */
export const INSERT_ATTEMPTS = `WITH state AS MATERIALIZED (
    SELECT fence_since FROM journal_state WHERE identity = journal_identity() AND ${DURABILITY_CONDITION}),
  input AS MATERIALIZED (
    SELECT x.*, service, channel, attempt_groups.id AS own_group, reserve,
      fence_since IN (SELECT fence_since FROM state) AS may_insert
    FROM jsonb_array_elements($1::jsonb) AS record
    CROSS JOIN jsonb_populate_record(NULL::stored_attempts, record) AS x
    CROSS JOIN jsonb_to_record(record) AS more(
      service TEXT, client TEXT, channel TEXT, kind TEXT, reserve BOOLEAN, fence_since BIGINT)
    LEFT JOIN attempt_groups USING (service, client, channel, kind)),
  reserved AS (
    INSERT INTO reserved_external_ids (service, channel, external_id, attempt_id)
    SELECT service, channel, external_id, id FROM input WHERE reserve AND may_insert AND own_group IS NOT NULL
    ORDER BY service, channel, external_id
    ${upsertReservationClause('NOT attempt_is_open(reserved_external_ids.attempt_id)')}
    RETURNING attempt_id),
  begun AS (
    INSERT INTO stored_attempts (${INSERT_COLUMNS.join(', ')}, group_id, state)
    SELECT ${INSERT_COLUMNS.join(', ')}, own_group, 'p' FROM input
    WHERE may_insert AND own_group IS NOT NULL AND (NOT reserve OR id IN (SELECT attempt_id FROM reserved))
    ORDER BY id
    ${UPSERT_RELEASED_KEY_CLAUSE}
    RETURNING id)
  SELECT begun.id AS begun_id, found.* FROM input LEFT JOIN begun ON begun.id = input.id
  LEFT JOIN LATERAL (
    SELECT * FROM attempts WHERE ${keyHashSql('stored_id')} = ${keyHashSql('input.id')}) AS found ON begun.id IS NULL`;

/** Creates the attempt groups that do not exist. Returns a row for each created group. Parameter: groups as JSON. */
export const INSERT_ATTEMPT_GROUPS = `INSERT INTO attempt_groups (service, client, channel, kind)
  SELECT DISTINCT service, client, channel, kind FROM jsonb_populate_recordset(NULL::attempt_groups, $1::jsonb)
  ORDER BY service, client, channel, kind
  ON CONFLICT DO NOTHING RETURNING id`;

/**
 * Returns the state of the journal (see FenceState). If the journal has moved to another database after a failover or
 * restore, first raises the fence (see Fence). `is_current` is false if another instance was raising the fence at the
 * same moment: the statement then returns the state from before, and has to be run again.
 */
export const RAISE_FENCE_IF_MOVED_RETURNING_STATE = `WITH raised AS (
    UPDATE journal_state SET identity = journal_identity(), fence_since = ${NOW_SQL_BY_DIALECT.postgres},
      fence_reason = CASE WHEN split_part(identity, '/', 1) = split_part(journal_identity(), '/', 1)
        AND split_part(identity, '/', 3) = split_part(journal_identity(), '/', 3) THEN 'failover' ELSE 'restored' END
    WHERE identity <> journal_identity() RETURNING *)
  SELECT state.*, identity = journal_identity() AS is_current, ${DURABILITY_CONDITION} AS is_durable,
    (SELECT last_value FROM stored_attempts_seq_seq) AS last_sequence
  FROM (SELECT * FROM raised UNION ALL SELECT * FROM journal_state) AS state ORDER BY is_current DESC LIMIT 1`;

/**
 * Raises the fence (see Fence). Also begins a new epoch of changes, because after a restore, ids of database
 * transactions may repeat. Parameter: the reason.
 */
export const RAISE_FENCE = `WITH raised AS (
    UPDATE journal_state SET fence_reason = $1::text, fence_since = ${NOW_SQL_BY_DIALECT.postgres})
  SELECT raise_change_epoch(TRUE)`;

export const LOWER_FENCE = "UPDATE journal_state SET fence_reason = '', fence_since = 0";

/**
 * Records a batch of outcomes, and the first changes of the created transactions. Parameter: the outcomes as JSON. Does
 * not change settled attempts. Returns the ids of attempts that are not recorded as succeeded, because another attempt
 * created the transaction. Also returns the ids of attempts that do not exist (`is_missing` is true).
 */
export const RECORD_OUTCOMES = `WITH input AS MATERIALIZED (
    SELECT x.*, x.state = 'u' AS is_open, observed.*
    FROM jsonb_array_elements($1::jsonb) AS record
    CROSS JOIN jsonb_populate_record(NULL::stored_attempts, record) AS x
    CROSS JOIN jsonb_to_record(record -> 'observed') AS observed(${OBSERVED_STATE_COLUMNS})),
  held AS MATERIALIZED (
    SELECT id FROM attempts_created_by_another($1::jsonb) AS id),
  locked AS MATERIALIZED (
    SELECT own.id FROM stored_attempts AS own
    JOIN input ON ${keyHashSql('own.id')} = ${keyHashSql('input.id')} AND own.id = input.id
    WHERE own.state NOT IN ('s', 'r', 'n') AND own.id NOT IN (SELECT id FROM held)
    ORDER BY own.id FOR UPDATE OF own),
  settled AS (UPDATE stored_attempts AS own SET
    state = input.state,
    settled_at = input.settled_at,
    transaction_hash = input.transaction_hash,
    transaction_id = input.transaction_id,
    status = input.status,
    next_check_at = input.next_check_at,
    checks = CASE WHEN is_open THEN COALESCE(own.checks, 0) + 1 ELSE own.checks END,
    absent_lookups = CASE WHEN is_open THEN COALESCE(input.absent_lookups, own.absent_lookups) END,
    absent_ms = CASE WHEN is_open THEN COALESCE(input.absent_ms, own.absent_ms) END,
    absent_observer = CASE WHEN is_open THEN COALESCE(input.absent_observer, own.absent_observer) END,
    owner = CASE WHEN is_open THEN own.owner END,
    service_started_at = CASE WHEN is_open THEN own.service_started_at END,
    send_until = CASE WHEN is_open THEN own.send_until END,
    lease_until = CASE WHEN is_open THEN 0 END
  FROM input JOIN locked USING (id)
  WHERE ${keyHashSql('own.id')} = ${keyHashSql('input.id')} AND own.id = input.id
  RETURNING ${SETTLED_CTE_COLUMNS}),
  ${RECORD_FIRST_CHANGES_CTES}
  SELECT id, FALSE AS is_missing FROM held
  UNION ALL
  SELECT id, TRUE FROM input WHERE NOT EXISTS (
    SELECT 1 FROM stored_attempts AS own WHERE ${keyHashSql('own.id')} = ${keyHashSql('input.id')} AND own.id = input.id)`;

/**
 * SELECT of Journal.findCreated(). It reads no row of another client, because its indexes include `group_id`.
 * Therefore, its duration reveals nothing about other clients. Without OFFSET 0, a planner that has no statistics could
 * read all attempts of the group.
 */
export const FIND_CREATING_ATTEMPTS = `SELECT input.place - 1 AS place, attempts.*
  FROM (SELECT place, (ref ->> 2)::integer AS transaction_hash, decode(ref ->> 1, 'hex') AS transaction_id,
      (ref ->> 4)::integer AS external_id_hash, decode(ref ->> 3, 'hex') AS external_id,
      (SELECT id FROM attempt_groups
        WHERE service = $1 AND client = $2 AND channel = ref ->> 0 AND kind = $3) AS group_id
    FROM jsonb_array_elements($4::jsonb) WITH ORDINALITY AS refs(ref, place)) AS input
  CROSS JOIN LATERAL (
    (SELECT id FROM (
        SELECT * FROM stored_attempts
        WHERE transaction_hash = input.transaction_hash AND group_id = input.group_id OFFSET 0) AS own
      WHERE transaction_id = input.transaction_id
        AND (input.external_id IS NULL OR external_id = input.external_id)
      LIMIT 1)
    UNION ALL
    (SELECT id FROM (
        SELECT * FROM stored_attempts
        WHERE input.transaction_id IS NULL AND external_id_hash = input.external_id_hash
          AND group_id = input.group_id OFFSET 0) AS own
      WHERE external_id = input.external_id AND state IN ('s', 'u')
      ORDER BY seq DESC LIMIT 1)) AS found
  CROSS JOIN LATERAL (
    SELECT * FROM attempts WHERE ${keyHashSql('stored_id')} = ${keyHashSql('found.id')}) AS attempts`;

/**
 * WITH clause that precedes END_CONFIRM_BY_OUTCOME. It records the hashes of confirmed inputs in the same statement
 * that ends the confirm. Parameter: the confirmed inputs as JSON.
 */
export const RECORD_CONFIRMED_INPUTS_CTE = `WITH recorded AS (
  INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  SELECT service, channel, transaction_id, input_hash, status, confirmed_at FROM jsonb_to_recordset(?::jsonb)
    AS x(service text, channel text, transaction_id text, input_hash text, status text, confirmed_at bigint)
  ON CONFLICT DO NOTHING)`;

const TABLE_NAMES = [
  'stored_attempts',
  'attempts',
  'attempt_groups',
  'reserved_external_ids',
  'confirms',
  'confirmed',
  'settlement_proposals',
  'write_checks',
  'journal_state',
  'change_feeds',
  'changes',
  'followed_transactions',
  'change_epoch',
];

/** SQL condition: the database user has all privileges that the gateway needs on the journal's tables and sequence. */
export const WRITE_PRIVILEGES_CONDITION = TABLE_NAMES.flatMap((tableName) =>
  (tableName === 'attempts' ? ['SELECT'] : ['SELECT', 'INSERT', 'UPDATE', 'DELETE']).map(
    (privilege) => `has_table_privilege('${tableName}', '${privilege}')`,
  ),
)
  .concat("has_sequence_privilege('stored_attempts_seq_seq', 'SELECT')")
  .join(' AND ');

/**
 * Writes a test row. Returns whether WRITE_PRIVILEGES_CONDITION (`may`) and DURABILITY_CONDITION (`is_durable`) hold.
 * Parameters: time in ms, size of the filler in bytes.
 */
export const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, repeat('0', ?::int))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler
  RETURNING ${WRITE_PRIVILEGES_CONDITION} AS may, ${DURABILITY_CONDITION} AS is_durable`;
