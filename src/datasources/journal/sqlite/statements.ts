import { keyHashSql } from '../attempt-tables';
import {
  ATTEMPT_GROUP_ID_SUBQUERY,
  HOLDS_EXTERNAL_ID_CONDITION,
  INSERT_COLUMNS,
  OPEN_ATTEMPT_CONDITION,
  UPSERT_RELEASED_KEY_CLAUSE,
  idCondition,
  upsertReservationClause,
} from '../rows';

export const RESERVE_EXTERNAL_ID = `INSERT INTO reserved_external_ids (service, channel, external_id, attempt_id) VALUES (?, ?, ?, ?)
  ${upsertReservationClause(`NOT EXISTS (
    SELECT 1 FROM stored_attempts AS holder
    WHERE ${keyHashSql('holder.id')} = ${keyHashSql('reserved_external_ids.attempt_id')}
      AND holder.id = reserved_external_ids.attempt_id AND holder.${HOLDS_EXTERNAL_ID_CONDITION})`)}`;

export const INSERT_ATTEMPT_GROUP =
  'INSERT INTO attempt_groups (service, client, channel, kind) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';

export const INSERT_ATTEMPT = `INSERT INTO stored_attempts (${INSERT_COLUMNS.join(', ')}, group_id, state)
  SELECT ${INSERT_COLUMNS.map(() => '?').join(', ')}, ${ATTEMPT_GROUP_ID_SUBQUERY}, 'p'
  WHERE (SELECT fence_since FROM journal_state) = ? AND (? = 0 OR EXISTS (
    SELECT 1 FROM reserved_external_ids
    WHERE service = ? AND channel = ? AND external_id = ? AND attempt_id = ?))
  ${UPSERT_RELEASED_KEY_CLAUSE} RETURNING 1 AS is_started`;

/**
 * Returns a row if the fence (see Fence) was raised or lowered after `fenceSince` was read. Parameter:
 * NewAttempt.fenceSince.
 */
export const SELECT_IF_FENCE_CHANGED =
  'SELECT fence_since AS changed_fence FROM journal_state WHERE fence_since <> ?';

/** Returns a row if the journal does not have the attempt. Parameters: idConditionValues(id). */
export const SELECT_IF_ATTEMPT_MISSING = `SELECT 1 AS is_missing WHERE NOT EXISTS (SELECT 1 FROM stored_attempts WHERE ${idCondition('id')})`;

/**
 * Returns a row if another attempt created the transaction. Also returns a row, in which `is_missing` is 1, if the
 * journal does not have the attempt. Parameters: idConditionValues(id), hash and id of the transaction.
 */
export const SELECT_IF_OTHER_CREATOR_OR_ATTEMPT_MISSING = `SELECT mine.id IS NULL AS is_missing
  FROM (SELECT 1) LEFT JOIN attempts AS mine ON ${idCondition('mine.stored_id')}
  LEFT JOIN attempts AS other
    ON other.transaction_hash = ? AND other.transaction_id = ? AND +other.service = mine.service
      AND +other.kind = mine.kind AND other.id <> mine.id
  WHERE mine.id IS NULL OR other.id IS NOT NULL`;

export const SETTLE_ATTEMPT = `UPDATE stored_attempts
  SET state = ?, settled_at = ?, transaction_hash = ?, transaction_id = ?, status = ?, lease_until = NULL,
    next_check_at = NULL, owner = NULL, service_started_at = NULL, send_until = NULL, absent_lookups = NULL,
    absent_ms = NULL, absent_observer = NULL
  WHERE ${idCondition('id')} AND ${OPEN_ATTEMPT_CONDITION}`;

export const RECORD_UNKNOWN_OUTCOME = `UPDATE stored_attempts
  SET state = 'u', lease_until = 0, next_check_at = ?, checks = COALESCE(checks, 0) + 1,
    absent_lookups = COALESCE(?, absent_lookups), absent_ms = COALESCE(?, absent_ms),
    absent_observer = COALESCE(?, absent_observer)
  WHERE ${idCondition('id')} AND ${OPEN_ATTEMPT_CONDITION}`;

/**
 * SELECT of Journal.findCreated(). It reads no row of another client, because its indexes include `group_id`.
 * Therefore, its duration reveals nothing about other clients.
 */
export const FIND_CREATING_ATTEMPTS = `WITH creator AS (SELECT ? AS service, ? AS client, ? AS kind),
  input AS MATERIALIZED (
    SELECT key AS place, unhex(value ->> 1) AS transaction_id, value ->> 2 AS transaction_hash,
      unhex(value ->> 3) AS external_id, value ->> 4 AS external_id_hash,
      (SELECT id FROM attempt_groups, creator WHERE attempt_groups.service = creator.service
        AND attempt_groups.client = creator.client AND channel = value ->> 0
        AND attempt_groups.kind = creator.kind) AS group_id
    FROM json_each(?))
  SELECT input.place, found.* FROM input CROSS JOIN attempts AS found
  WHERE found.seq = CASE WHEN input.transaction_id IS NOT NULL
    THEN (SELECT seq FROM stored_attempts AS own INDEXED BY stored_attempts_by_transaction
      WHERE own.transaction_hash = input.transaction_hash AND own.group_id = input.group_id
        AND own.transaction_id = input.transaction_id
        AND (input.external_id IS NULL OR own.external_id = input.external_id))
    ELSE (SELECT seq FROM stored_attempts AS own INDEXED BY stored_attempts_by_external_id
      WHERE own.external_id_hash = input.external_id_hash AND own.group_id = input.group_id
        AND own.external_id = input.external_id AND own.state IN ('s', 'u')
      ORDER BY seq DESC LIMIT 1)
    END`;

export const RECORD_CONFIRMED_INPUT = `INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export const CHECK_WRITE = `INSERT INTO write_checks (id, checked_at, filler) VALUES (1, ?, zeroblob(?))
  ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at, filler = excluded.filler`;

export const SELECT_JOURNAL_STATE = `SELECT state.*, (SELECT seq FROM sqlite_sequence WHERE name = 'stored_attempts') AS last_sequence
  FROM journal_state AS state`;

export const SET_FENCE = 'UPDATE journal_state SET fence_since = ?, fence_reason = ?';
