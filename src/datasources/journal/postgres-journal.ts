import { Batcher } from './batcher';
import { DEADLINE_MS } from './deadline';
import { findCreatedInPostgres } from './find-created';
import {
  type Attempt,
  type AttemptKey,
  type AttemptKind,
  type AttemptPage,
  type Begun,
  type Claim,
  type ConfirmClaim,
  type Journal,
  type NewAttempt,
  type Settlement,
  type UnknownCount,
} from './journal';
import { PostgresPool } from './postgres-pool';
import {
  BEGIN_COLUMNS,
  TAKE_OVER_CONFIRM,
  TAKE_OVER_FREED_KEY,
  beginValues,
  isFree,
  readAttempt,
  readUnknownCounts,
  takeOverReservation,
  type Row,
} from './rows';

const MAX_BATCH = 256;
const PURGE_STEP = 500;

const TIMES = new Set(['lease_until', 'started_at', 'send_until', 'settled_at', 'next_check_at']);
const recordset = (columns: readonly string[]): string =>
  `jsonb_to_recordset($1::jsonb) AS x(${columns.map((name) => `${name} ${TIMES.has(name) ? 'bigint' : 'text'}`).join(', ')}, reserve boolean)`;

/**
 * All attempts of a batch in one statement. It returns the rows that were written and, as they were before, those
 * whose keys are taken. Everybody locks in the same order, so that nobody waits for each other in a circle.
 */
const BEGIN = `WITH asked AS MATERIALIZED (SELECT * FROM ${recordset(BEGIN_COLUMNS)}),
  reserved AS (
    INSERT INTO reservations (service, channel, external_id, attempt_id)
    SELECT service, channel, external_id, id FROM asked WHERE reserve ORDER BY service, channel, external_id
    ${takeOverReservation('NOT attempt_is_open(reservations.attempt_id)')}
    RETURNING attempt_id),
  begun AS (
    INSERT INTO attempts (${BEGIN_COLUMNS.join(', ')}, outcome)
    SELECT ${BEGIN_COLUMNS.join(', ')}, 'in_progress' FROM asked
    WHERE NOT reserve OR id IN (SELECT attempt_id FROM reserved) ORDER BY service, client, key
    ${TAKE_OVER_FREED_KEY}
    RETURNING *)
  SELECT * FROM begun
  UNION ALL
  SELECT found.* FROM asked CROSS JOIN LATERAL (
    SELECT * FROM attempts
    WHERE service = asked.service AND client = asked.client AND key = asked.key) AS found`;

const FIND = 'SELECT * FROM attempts WHERE service = $1 AND client = $2 AND key = $3';

const OPEN = "attempts.outcome IN ('in_progress', 'unknown')";

/** Returns the attempts that were left as they are because another one has created their transaction. */
const SETTLE = `WITH asked AS MATERIALIZED (
    SELECT * FROM ${recordset(['id', 'outcome', 'settled_at', 'transaction_id', 'status', 'next_check_at'])}),
  held AS MATERIALIZED (
    SELECT mine.id FROM asked JOIN attempts AS mine USING (id) CROSS JOIN LATERAL (
      SELECT id FROM attempts AS other
      WHERE other.transaction_id = asked.transaction_id AND other.service = mine.service
        AND other.kind = mine.kind AND other.id <> mine.id
      LIMIT 1) AS found),
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
    lease_until = 0
  FROM asked JOIN locked USING (id)
  WHERE attempts.id = asked.id)
  SELECT id FROM held`;

/** Who is being settled at this moment needs no renewal, and is not waited for. */
const RENEW = `UPDATE attempts SET lease_until = $1 WHERE id IN (
  SELECT id FROM attempts WHERE owner = $2 AND outcome = 'in_progress' FOR UPDATE SKIP LOCKED)`;

const CLAIMABLE = `${OPEN} AND lease_until < $3`;

interface NamedSettlement {
  id: string;
  settlement: Settlement;
}

/** The journal in PostgreSQL, for gateways on several machines. */
export class PostgresJournal implements Journal {
  readonly deadlineMs: number;
  readonly #pool: PostgresPool;
  readonly #begins: Batcher<NewAttempt, Begun | null>;
  readonly #settlements: Batcher<NamedSettlement, boolean>;

  constructor(url: string, deadlineMs = DEADLINE_MS) {
    this.#pool = new PostgresPool(url, deadlineMs);
    this.deadlineMs = deadlineMs;
    this.#begins = new Batcher({
      flush: (attempts, until) => this.#beginAll(attempts, until),
      maxBatch: MAX_BATCH,
      concurrency: 2,
      deadlineMs,
      wants: (attempt) => {
        const { service, channel, externalId, reserve } = attempt;
        return reserve ? { thing: JSON.stringify([service, channel, externalId]), by: keyOf(attempt) } : null;
      },
    });
    this.#settlements = new Batcher({
      flush: (settlements, until) => this.#settleAll(settlements, until),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      deadlineMs,
      wants: (settlement) => ({ thing: settlement.id, by: settlement }),
    });
  }

  async begin(attempt: NewAttempt): Promise<Begun> {
    const until = Date.now() + this.deadlineMs;
    const begun = await this.#begins.add(attempt);
    if (begun) return begun;
    // The key changed hands in that very moment.
    const found = first(await this.#query(FIND, findValues(attempt), until));
    if (found && !isFree(found)) return { kind: 'exists', attempt: found };
    return attempt.reserve ? { kind: 'reserved' } : this.begin(attempt);
  }

  settle(id: string, settlement: Settlement): Promise<boolean> {
    return this.#settlements.add({ id, settlement });
  }

  async find(key: AttemptKey): Promise<Attempt | null> {
    return first(await this.#query(FIND, findValues(key)));
  }

  async findByTransaction(
    service: string,
    kind: AttemptKind,
    transactionId: string,
  ): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE transaction_id = $1 AND service = $2 AND kind = $3';
    return first(await this.#query(text, [transactionId, service, kind]));
  }

  readonly findCreated = findCreatedInPostgres((text, values) => this.#query(text, values));

  async list({ service, client, channel, kinds, outcome, before, limit }: AttemptPage): Promise<Attempt[]> {
    const [only = null] = kinds?.length === 1 ? kinds : [];
    const text = `SELECT * FROM attempts WHERE service = $1 AND client = $2 AND channel = $3
      AND ($4::text IS NULL OR outcome = $4) AND ($5::bigint IS NULL OR seq < $5)
      AND ($6::text IS NULL OR kind = $6) ORDER BY seq DESC LIMIT $7`;
    const values = [service, client, channel, outcome ?? null, before ?? null, only, limit];
    return (await this.#query(text, values)).map(readAttempt);
  }

  async renew(owner: string, leaseUntil: number): Promise<void> {
    const values = [leaseUntil, owner];
    await this.#query(RENEW, values);
    await this.#query('UPDATE confirms SET lease_until = $1 WHERE owner = $2 AND lease_until > 0', values);
  }

  async claim(id: string, { owner, now, leaseUntil }: Claim): Promise<Attempt | null> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = $1, lease_until = $2
      WHERE id = $4 AND ${CLAIMABLE} RETURNING *`;
    return first(await this.#query(text, [owner, leaseUntil, now, id]));
  }

  async claimDue({ service, owner, now, leaseUntil }: Claim, limit: number): Promise<Attempt[]> {
    const text = `UPDATE attempts SET outcome = 'unknown', owner = $1, lease_until = $2 WHERE id IN (
      SELECT id FROM attempts WHERE ${CLAIMABLE} AND service = $4 AND (next_check_at IS NULL OR next_check_at <= $3)
      ORDER BY next_check_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED) RETURNING *`;
    return (await this.#query(text, [owner, leaseUntil, now, service, limit])).map(readAttempt);
  }

  async beginConfirm(claim: ConfirmClaim): Promise<{ suspect: boolean } | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, now } = claim;
    const text = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until)
      VALUES ($1, $2, $3, $4, $5, $6) ${TAKE_OVER_CONFIRM} WHERE confirms.lease_until < $7 RETURNING suspect`;
    const [row] = await this.#query(text, [service, channel, transactionId, id, owner, leaseUntil, now]);
    return row ? { suspect: row['suspect'] === 1 } : null;
  }

  async endConfirm(id: string, known: boolean): Promise<void> {
    await this.#query(
      known ? 'DELETE FROM confirms WHERE id = $1' : 'UPDATE confirms SET lease_until = 0 WHERE id = $1',
      [id],
    );
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return first(await this.#query('SELECT * FROM attempts WHERE id = $1 AND service = $2', [id, service]));
  }

  async findAny(service: string, name: string): Promise<Attempt | null> {
    const text = 'SELECT * FROM attempts WHERE service = $1 AND (id = $2 OR key = $2) LIMIT 2';
    const rows = await this.#query(text, [service, name]);
    return rows.length === 1 ? first(rows) : null;
  }

  async unknown(service: string, limit: number): Promise<Attempt[]> {
    const text = "SELECT * FROM attempts WHERE outcome = 'unknown' AND service = $1 ORDER BY seq LIMIT $2";
    return (await this.#query(text, [service, limit])).map(readAttempt);
  }

  async countUnknown(service: string): Promise<UnknownCount[]> {
    const text = `SELECT kind, count(*) AS count, min(started_at) AS oldest FROM attempts
      WHERE outcome = 'unknown' AND service = $1 GROUP BY kind`;
    return readUnknownCounts(await this.#query(text, [service]));
  }

  async purge(settledBefore: number): Promise<number> {
    // Little by little: no statement may take long.
    const text = `DELETE FROM attempts WHERE id IN (
      SELECT id FROM attempts WHERE settled_at < $1 LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED) RETURNING id`;
    let purged = 0;
    for (let rows: Row[] = [{}]; rows.length > 0; purged += rows.length) {
      rows = await this.#query(text, [settledBefore]);
    }
    // A reservation that somebody takes over meanwhile has another attempt then, and stays.
    await this.#query(
      `WITH left_over AS MATERIALIZED (
         SELECT attempt_id FROM reservations WHERE attempt_id NOT IN (SELECT id FROM attempts))
       DELETE FROM reservations USING left_over WHERE reservations.attempt_id = left_over.attempt_id`,
      [],
    );
    return purged;
  }

  async ping(): Promise<void> {
    await this.#query('SELECT FROM attempts LIMIT 0', []);
  }

  /** Writes what is queued, then lets the connections go. */
  async close(): Promise<void> {
    await Promise.all([this.#begins.close(), this.#settlements.close()]);
    await this.#pool.close();
  }

  /** Makes the tables, once; tried again at the next use where that failed. */
  migrate(): Promise<readonly string[]> {
    return this.#pool.migrate();
  }

  /** Null for an attempt of which this cannot tell what became of it. */
  async #beginAll(attempts: readonly NewAttempt[], until: number): Promise<(Begun | null)[]> {
    // One statement cannot write the same row twice: of one key, only the first is asked for.
    const byKey = new Map(attempts.toReversed().map((attempt) => [keyOf(attempt), attempt]));
    const asked = [...byKey.values()].map((attempt) => ({
      ...Object.fromEntries(BEGIN_COLUMNS.map((name, place) => [name, beginValues(attempt)[place]])),
      reserve: attempt.reserve,
    }));
    const rows = (await this.#query(BEGIN, [JSON.stringify(asked)], until)).map(readAttempt);
    const begun = new Set(rows.map(({ id }) => id));
    const taken = new Map(rows.filter((row) => !isFree(row)).map((row) => [keyOf(row), row]));
    return attempts.map((attempt): Begun | null => {
      if (begun.has(attempt.id)) return { kind: 'started' };
      const found = taken.get(keyOf(attempt));
      return found ? { kind: 'exists', attempt: found } : null;
    });
  }

  async #settleAll(settlements: readonly NamedSettlement[], until: number): Promise<boolean[]> {
    const rows = settlements.map(({ id, settlement: { outcome, ...facts } }) => ({
      id,
      outcome,
      settled_at: 'settledAt' in facts ? facts.settledAt : null,
      transaction_id: 'transactionId' in facts ? storable(facts.transactionId) : null,
      status: 'status' in facts ? storable(facts.status) : null,
      next_check_at: 'nextCheckAt' in facts ? facts.nextCheckAt : null,
    }));
    const held = new Set((await this.#query(SETTLE, [JSON.stringify(rows)], until)).map((row) => row['id']));
    return settlements.map(({ id }) => !held.has(id));
  }

  #query(text: string, values: unknown[], until?: number): Promise<Row[]> {
    return this.#pool.query(text, values, until);
  }
}

/** A service's word may hold what PostgreSQL refuses; that must not spoil what is written along with it. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

const findValues = ({ service, client, key }: AttemptKey): string[] => [service, client, key];

const keyOf = (key: AttemptKey): string => JSON.stringify(findValues(key));

const first = (rows: readonly Row[]): Attempt | null => (rows[0] ? readAttempt(rows[0]) : null);
