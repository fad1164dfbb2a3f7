import { keyHashSql, STATE_BY_OUTCOME } from './attempt-tables';
import { type Attempt, type TransactionKind, type AttemptOutcome, type AttemptFields } from './journal';
import { attemptIdBytes, toJsonValue, KEY_HASH_BYTES, shortHash, toStoredBytes } from './stored-values';

/** A row of PostgreSQL or SQLite. PostgreSQL returns 64-bit integers as strings. */
export type Row = Record<string, unknown>;

/** Value of a parameter of a statement. */
export type SqlValue = string | number | null | Uint8Array;

/** SQL text, of a statement or a part of one, with a `?` placeholder for each value. */
export interface SqlWithValues {
  text: string;
  values: SqlValue[];
}

export const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

export const attemptFromRow = (row: Row): Attempt => ({
  seq: Number(row['seq']),
  id: String(row['id']),
  service: String(row['service']),
  client: String(row['client']),
  key: String(row['key']),
  kind: row['kind'] as TransactionKind,
  fingerprint: String(row['fingerprint']),
  channel: String(row['channel']),
  method: String(row['method']),
  externalId: String(row['external_id']),
  currency: String(row['currency']),
  value: String(row['value']),
  publicDetails: String(row['public_details']),
  outcome: row['outcome'] as AttemptOutcome,
  transactionId: textOrNull(row['transaction_id']),
  wireStatus: textOrNull(row['status']),
  owner: String(row['owner']),
  leaseUntil: Number(row['lease_until']),
  startedAt: Number(row['started_at']),
  serviceStartedAt: numberOrNull(row['service_started_at']),
  sendUntil: Number(row['send_until']),
  settledAt: numberOrNull(row['settled_at']),
  nextRecheckAt: numberOrNull(row['next_check_at']),
  recheckCount: Number(row['checks']),
  absence: {
    lookupCount: Number(row['absent_lookups']),
    spanMs: Number(row['absent_ms']),
    observerId: String(row['absent_observer']),
  },
});

/** Whether the idempotency key of this attempt can be used again, because certainly nothing was created. */
export const isKeyReleased = ({ outcome }: Attempt): boolean =>
  outcome === 'rejected' || outcome === 'not_sent';

const VALUE_GETTER_BY_COLUMN: Record<string, (attempt: AttemptFields) => SqlValue> = {
  id: ({ id }) => attemptIdBytes(id),
  key: ({ key }) => toStoredBytes(key),
  fingerprint: ({ fingerprint }) => toStoredBytes(fingerprint),
  external_id: ({ externalId }) => toStoredBytes(externalId),
  external_id_hash: ({ externalId }) => shortHash(externalId),
  method: ({ method }) => method,
  currency: ({ currency }) => currency,
  value: ({ value }) => value,
  public_details: ({ publicDetails }) => (publicDetails === '{}' ? null : publicDetails),
  owner: ({ owner }) => owner,
  lease_until: ({ leaseUntil }) => leaseUntil,
  started_at: ({ startedAt }) => startedAt,
  service_started_at: ({ serviceStartedAt }) => serviceStartedAt,
  send_until: ({ sendUntil }) => sendUntil,
};

/** Columns that an INSERT sets to the values of an attempt. The SQL text itself sets `group_id` and `state`. */
export const INSERT_COLUMNS: readonly string[] = Object.keys(VALUE_GETTER_BY_COLUMN);

/** Returns the values for INSERT_COLUMNS, in their order. */
export const valuesOfInsertColumns = (attempt: AttemptFields): SqlValue[] =>
  Object.values(VALUE_GETTER_BY_COLUMN).map((getValue) => getValue(attempt));

/** Returns the values for INSERT_COLUMNS by column name, for a JSON parameter. */
export const jsonValueByInsertColumn = (attempt: AttemptFields): Record<string, SqlValue> =>
  Object.fromEntries(
    Object.entries(VALUE_GETTER_BY_COLUMN).map(([name, getValue]) => [name, toJsonValue(getValue(attempt))]),
  );

/** Columns that an INSERT leaves null. They are set when an outcome is recorded. */
export const COLUMNS_NULL_AT_INSERT =
  `settled_at next_check_at transaction_hash transaction_id status checks absent_ms absent_lookups
  absent_observer`.split(/\s+/);

/**
 * ON CONFLICT clause for the INSERT of an attempt whose idempotency key is already stored. If the stored attempt is
 * `rejected` or `not_sent` and has another id, the new attempt replaces it. Otherwise, nothing is inserted.
 */
export const UPSERT_RELEASED_KEY_CLAUSE = `ON CONFLICT (${keyHashSql('id')}) DO UPDATE SET
  ${['seq', 'group_id', 'state', ...INSERT_COLUMNS].map((name) => `${name} = excluded.${name}`).join(', ')},
  ${COLUMNS_NULL_AT_INSERT.map((name) => `${name} = NULL`).join(', ')}
  WHERE stored_attempts.state IN ('${STATE_BY_OUTCOME.rejected}', '${STATE_BY_OUTCOME.not_sent}') AND stored_attempts.id <> excluded.id`;

/** Returns the ON CONFLICT clause that takes over a reserved external id if `freeCondition` (SQL) is true. */
export const upsertReservationClause = (freeCondition: string): string =>
  `ON CONFLICT (service, channel, external_id) DO UPDATE SET attempt_id = excluded.attempt_id WHERE ${freeCondition}`;

/** Condition for open attempts. SQLite uses the index stored_attempts_open only for exactly this SQL text. */
export const OPEN_ATTEMPT_CONDITION = "state IN ('p', 'u')";

/** Condition for attempts that may have created a transaction and therefore keep their reserved external id. */
export const HOLDS_EXTERNAL_ID_CONDITION = "state IN ('p', 's', 'u')";

/** Returns the condition that a column (`column`) has a given attempt id. SQL parameters: idConditionValues(id). */
export const idCondition = (column: string): string => `${keyHashSql(column)} = ? AND ${column} = ?`;

/** Returns the parameters of idCondition(): the hash of the idempotency key, and the id. */
export const idConditionValues = (id: string): [Uint8Array, Uint8Array] => {
  const idBytes = attemptIdBytes(id);
  return [idBytes.subarray(0, KEY_HASH_BYTES), idBytes];
};

/** Subquery for the id of a row in attempt_groups. Parameters: service, client, channel, kind. */
export const ATTEMPT_GROUP_ID_SUBQUERY =
  '(SELECT id FROM attempt_groups WHERE service = ? AND client = ? AND channel = ? AND kind = ?)';

/** SELECT of the attempt with an idempotency key. Parameter: the result of keyHash(). */
export const FIND_BY_KEY = `SELECT * FROM attempts WHERE ${keyHashSql('stored_id')} = ?`;
