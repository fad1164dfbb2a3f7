import { Batcher } from '../batcher';
import { DEADLINE_MS, READ_DEADLINE_MS, monotonicMs } from '../deadline';
import { findCreatedInPostgres } from '../find-created';
import {
  JournalUnavailable,
  type Attempt,
  type AttemptKey,
  type AttemptKind,
  type AttemptPage,
  type BeginResult,
  type Claim,
  type Journal,
  type NewAttempt,
  type PurgeProgress,
  type PurgeStep,
  type Outcome,
  type UnknownCount,
} from '../journal';
import { FaultError, PERMISSION_DENIED } from '../journal-error';
import { PostgresAttemptReads } from './attempt-reads';
import { PostgresConfirms } from './confirms';
import { PostgresHosts } from './hosts';
import { CONNECTION_OPTIONS, INDEX_ORDER_OPTIONS, PostgresPool } from './pool';
import { purgeStep } from './purge';
import {
  BEGIN_COLUMNS,
  absenceColumns,
  beginValues,
  isReleased,
  CREATED_ON_CHANNEL,
  createdValues,
  observerGrace,
  readAttempt,
  rival,
  rivalValues,
  storable,
  type Row,
} from '../rows';
import { BEGIN, CHECK_WRITE, CLAIMABLE, FIND, RENEW, SETTLE } from './statements';

const MAX_BATCH = 256;
const MAX_CONNECTIONS = 8;
/** For lists, what operators ask, and the purge: nothing there may keep a create waiting. */
const MAX_BACKGROUND_CONNECTIONS = 3;
/** Nothing waits for the purge to reach the disk: what a crash brings back is deleted again. */
const BACKGROUND_OPTIONS = `${INDEX_ORDER_OPTIONS} -c synchronous_commit=off`;

interface NamedSettlement {
  id: string;
  settlement: Outcome;
}

/** The journal in PostgreSQL, for gateways on several machines. */
export class PostgresJournal implements Journal {
  readonly deadlineMs: number;
  readonly #pool: PostgresPool;
  readonly #backgroundPool: PostgresPool;
  readonly #reads: PostgresAttemptReads;
  readonly #confirms: PostgresConfirms;
  readonly #begins: Batcher<NewAttempt, BeginResult | null>;
  readonly #settlements: Batcher<NamedSettlement, boolean>;
  readonly beginConfirm: Journal['beginConfirm'] = (claim) => this.#confirms.begin(claim);
  readonly endConfirm: Journal['endConfirm'] = (id, result) => this.#confirms.end(id, result);
  readonly confirmedInputs: Journal['confirmedInputs'] = (payment) => this.#confirms.confirmedInputs(payment);

  constructor(url: string, deadlineMs = DEADLINE_MS) {
    const hosts = new PostgresHosts(url);
    this.#pool = new PostgresPool(hosts, {
      deadlineMs,
      maxConnections: MAX_CONNECTIONS,
      connectionOptions: CONNECTION_OPTIONS,
    });
    this.#confirms = new PostgresConfirms(this.#pool);
    this.#backgroundPool = new PostgresPool(hosts, {
      deadlineMs: Math.max(deadlineMs, READ_DEADLINE_MS),
      maxConnections: MAX_BACKGROUND_CONNECTIONS,
      connectionOptions: BACKGROUND_OPTIONS,
      migrate: () => this.#pool.migrate(),
    });
    this.#reads = new PostgresAttemptReads(this.#backgroundPool);
    this.deadlineMs = deadlineMs;
    this.#begins = new Batcher({
      flush: (attempts, until) => this.#beginAll(attempts, until),
      maxBatch: MAX_BATCH,
      concurrency: 2,
      deadlineMs,
      conflictKey: (attempt) => {
        const { service, channel, externalId, reserve } = attempt;
        return reserve ? { thing: JSON.stringify([service, channel, externalId]), by: keyOf(attempt) } : null;
      },
    });
    this.#settlements = new Batcher({
      flush: (settlements, until) => this.#settleAll(settlements, until),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      deadlineMs,
      conflictKey: (settlement) => ({ thing: settlement.id, by: settlement }),
    });
  }

  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const until = monotonicMs() + this.deadlineMs;
    const begun = await this.#begins.add(attempt);
    if (begun) return begun;
    // The key changed hands in that very moment.
    const found = first(await this.#query(FIND, findValues(attempt), until));
    if (found && !isReleased(found)) return { kind: 'exists', attempt: found };
    return attempt.reserve ? { kind: 'reserved' } : this.insertAttempt(attempt);
  }

  recordOutcome(id: string, settlement: Outcome): Promise<boolean> {
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

  list(page: AttemptPage): Promise<Attempt[]> {
    return this.#reads.list(page);
  }

  async hasRival(attempt: Attempt): Promise<boolean> {
    return (await this.#query(rival(numbered), rivalValues(attempt))).length > 0;
  }

  async createdBeside(attempt: Attempt): Promise<string | null> {
    let place = 0;
    const text = CREATED_ON_CHANNEL.replaceAll('?', () => `$${(place += 1)}`);
    const [row] = await this.#query(text, createdValues(attempt));
    return row ? String(row['transaction_id']) : null;
  }

  async time(): Promise<number> {
    const [row] = await this.#query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now', []);
    return Number(row?.['now']);
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
      SELECT id FROM attempts WHERE ${CLAIMABLE} AND service = $4
        AND (next_check_at IS NULL OR next_check_at <= $3 - ${observerGrace('$1')})
      ORDER BY next_check_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED) RETURNING *`;
    return (await this.#query(text, [owner, leaseUntil, now, service, limit])).map(readAttempt);
  }

  async findById(service: string, id: string): Promise<Attempt | null> {
    return first(await this.#query('SELECT * FROM attempts WHERE id = $1 AND service = $2', [id, service]));
  }

  findAny(service: string, name: string): Promise<Attempt | null> {
    return this.#reads.findAny(service, name);
  }

  unknown(service: string, limit: number): Promise<Attempt[]> {
    return this.#reads.unknown(service, limit);
  }

  countUnknown(service: string): Promise<UnknownCount[]> {
    return this.#reads.countUnknown(service);
  }

  purgeStep(step: PurgeStep): Promise<PurgeProgress | null> {
    return purgeStep(this.#backgroundPool, step);
  }

  async checkWrite(bytes: number): Promise<void> {
    const [row] = await this.#query(CHECK_WRITE, [Date.now(), bytes]);
    if (row?.['may'] !== true) throw new JournalUnavailable(new FaultError(PERMISSION_DENIED));
  }

  async ping(): Promise<void> {
    await this.#query('SELECT FROM attempts LIMIT 0', []);
  }

  /** Writes what is queued, then lets the connections go. */
  async close(): Promise<void> {
    await Promise.all([this.#begins.close(), this.#settlements.close()]);
    await Promise.all([this.#pool.close(), this.#backgroundPool.close()]);
  }

  /** Makes the tables, once; tried again at the next use where that failed. */
  migrate(): Promise<readonly string[]> {
    return this.#pool.migrate();
  }

  /** Null for an attempt of which this cannot tell what became of it. */
  async #beginAll(attempts: readonly NewAttempt[], until: number): Promise<(BeginResult | null)[]> {
    // One statement cannot write the same row twice: of one key, only the first is asked for.
    const byKey = new Map(attempts.toReversed().map((attempt) => [keyOf(attempt), attempt]));
    const asked = [...byKey.values()].map((attempt) => ({
      ...Object.fromEntries(BEGIN_COLUMNS.map((name, place) => [name, beginValues(attempt)[place]])),
      reserve: attempt.reserve,
    }));
    const rows = (await this.#query(BEGIN, [JSON.stringify(asked)], until)).map(readAttempt);
    const begun = new Set(rows.map(({ id }) => id));
    const taken = new Map(rows.filter((row) => !isReleased(row)).map((row) => [keyOf(row), row]));
    return attempts.map((attempt): BeginResult | null => {
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
      next_check_at: 'nextRecheckAt' in facts ? facts.nextRecheckAt : null,
      ...('absence' in facts && absenceColumns(facts.absence)),
    }));
    const held = new Set((await this.#query(SETTLE, [JSON.stringify(rows)], until)).map((row) => row['id']));
    return settlements.map(({ id }) => !held.has(id));
  }

  #query(text: string, values: unknown[], until?: number): Promise<Row[]> {
    return this.#pool.query(text, values, until);
  }
}

const numbered = (place: number): string => `$${place}`;

const findValues = ({ service, client, key }: AttemptKey): string[] => [service, client, key];

const keyOf = (key: AttemptKey): string => JSON.stringify(findValues(key));

const first = (rows: readonly Row[]): Attempt | null => (rows[0] ? readAttempt(rows[0]) : null);
