import type { Attempt, Journal } from './journal';
import { readAttempt, type Row } from './rows';

/**
 * `findCreated` of both stores: one statement for all transactions asked for. The index is searched by id and client
 * alone, so that no row of another client is read. A planner without statistics would prefer attempts_by_client and read
 * all that the client ever created: OFFSET 0 in PostgreSQL, and a unary plus in SQLite, keep the other conditions from it.
 */
const IN_POSTGRES = `SELECT asked.place - 1 AS place, found.*
  FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY
    AS asked(channel, transaction_id, external_id, place)
  CROSS JOIN LATERAL (
    (SELECT * FROM (
        SELECT * FROM attempts WHERE transaction_id = asked.transaction_id AND client = $2 OFFSET 0) AS own
      WHERE service = $1 AND kind = $3 AND channel = asked.channel
        AND (asked.external_id IS NULL OR external_id = asked.external_id)
      LIMIT 1)
    UNION ALL
    (SELECT * FROM (
        SELECT * FROM attempts
        WHERE asked.transaction_id IS NULL AND external_id = asked.external_id AND client = $2
          AND outcome IN ('succeeded', 'unknown')
        ORDER BY seq DESC OFFSET 0) AS own
      WHERE service = $1 AND kind = $3 AND channel = asked.channel
      LIMIT 1)) AS found`;

/** @param query runs a statement of PostgreSQL */
export const findCreatedInPostgres =
  (query: (text: string, values: unknown[]) => Promise<Row[]>): Journal['findCreated'] =>
  async ({ service, client, kind }, refs) => {
    const channels = refs.map(({ channel }) => channel);
    const transactionIds = refs.map(({ transactionId = null }) => transactionId);
    const externalIds = refs.map(({ externalId = null }) => externalId);
    const values = [service, client, kind, channels, transactionIds, externalIds];
    return inPlace(await query(IN_POSTGRES, values), refs.length);
  };

/** The last parameter is a JSON array of [channel, transaction id or null, external id or null]. */
const IN_SQLITE = `WITH creator AS (SELECT ? AS service, ? AS client, ? AS kind),
  asked AS MATERIALIZED (
    SELECT key AS place, value ->> 0 AS channel, value ->> 1 AS transaction_id, value ->> 2 AS external_id
    FROM json_each(?))
  SELECT asked.place, found.* FROM creator CROSS JOIN asked CROSS JOIN attempts AS found
  WHERE found.seq = CASE WHEN asked.transaction_id IS NOT NULL
    THEN (SELECT seq FROM attempts AS own
      WHERE own.transaction_id = asked.transaction_id AND own.client = creator.client
        AND +own.service = creator.service AND +own.kind = creator.kind AND +own.channel = asked.channel
        AND (asked.external_id IS NULL OR own.external_id = asked.external_id))
    ELSE (SELECT seq FROM attempts AS own
      WHERE own.external_id = asked.external_id AND own.client = creator.client
        AND +own.service = creator.service AND +own.kind = creator.kind AND +own.channel = asked.channel
        AND own.outcome IN ('succeeded', 'unknown')
      ORDER BY seq DESC LIMIT 1)
    END`;

/** @param query runs a statement of SQLite */
export const findCreatedInSqlite =
  (query: (text: string, params: string[]) => Promise<Row[]>): Journal['findCreated'] =>
  async ({ service, client, kind }, refs) => {
    const asked = refs.map((ref) => [ref.channel, ref.transactionId ?? null, ref.externalId ?? null]);
    return inPlace(await query(IN_SQLITE, [service, client, kind, JSON.stringify(asked)]), refs.length);
  };

/** Each attempt at the place that its row names, counted from 0. */
function inPlace(rows: readonly Row[], count: number): (Attempt | null)[] {
  const byPlace = new Map(rows.map((row) => [Number(row['place']), readAttempt(row)]));
  return Array.from({ length: count }, (_, place) => byPlace.get(place) ?? null);
}
