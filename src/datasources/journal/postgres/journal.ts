import { Batcher } from '../batcher';
import { DEADLINE_MS, READ_DEADLINE_MS, monotonicMs } from '../deadline';
import {
  JournalUnavailable,
  type AttemptKey,
  type BeginResult,
  type ConfirmResult,
  type Journal,
  type NewAttempt,
  type Outcome,
  type PurgeProgress,
  type PurgeStep,
} from '../journal';
import { FIND, INSERT_COLUMNS, insertValues, isReleased, readAttempt, storable, type Row } from '../rows';
import { END_CONFIRM, SqlJournal, type SqlValue } from '../sql-journal';
import { PostgresHosts } from './hosts';
import { CONNECTION_OPTIONS, INDEX_ORDER_OPTIONS, PostgresPool } from './pool';
import { purgeStep } from './purge';
import { CHECK_WRITE, FIND_CREATED, INSERT_ATTEMPTS, RECORD_CONFIRMED, RECORD_OUTCOMES } from './statements';

const MAX_BATCH = 256;
const MAX_CONNECTIONS = 8;
/** For lists, operator commands and the purge, which must not delay creates. */
const MAX_BACKGROUND_CONNECTIONS = 3;
/** One connection fewer: lists do not delay operator commands. */
const MAX_CONCURRENT_LISTS = 2;
/** The purge need not be durable: rows that a crash brings back are deleted again. */
const BACKGROUND_OPTIONS = `${INDEX_ORDER_OPTIONS} -c synchronous_commit=off`;

/** The journal in PostgreSQL, for gateways on several machines. */
export class PostgresJournal extends SqlJournal implements Journal {
  readonly #pool: PostgresPool;
  readonly #backgroundPool: PostgresPool;
  readonly #inserts: Batcher<NewAttempt, BeginResult | null>;
  readonly #outcomes: Batcher<{ id: string; outcome: Outcome }, boolean>;

  constructor(url: string, deadlineMs = DEADLINE_MS) {
    super(deadlineMs, {
      attemptsBy: () => 'attempts',
      skipLocked: 'FOR UPDATE SKIP LOCKED',
      findCreated: FIND_CREATED,
      maxConcurrentLists: MAX_CONCURRENT_LISTS,
    });
    const hosts = new PostgresHosts(url);
    this.#pool = new PostgresPool(hosts, {
      deadlineMs,
      maxConnections: MAX_CONNECTIONS,
      connectionOptions: CONNECTION_OPTIONS,
    });
    this.#backgroundPool = new PostgresPool(hosts, {
      deadlineMs: Math.max(deadlineMs, READ_DEADLINE_MS),
      maxConnections: MAX_BACKGROUND_CONNECTIONS,
      connectionOptions: BACKGROUND_OPTIONS,
      migrate: () => this.#pool.migrate(),
    });
    this.#inserts = new Batcher({
      flush: (attempts, until) => this.#insertAll(attempts, until),
      maxBatch: MAX_BATCH,
      concurrency: 2,
      deadlineMs,
      conflictKey: (attempt) => {
        const { service, channel, externalId, reserve } = attempt;
        return reserve
          ? { key: JSON.stringify([service, channel, externalId]), owner: keyOf(attempt) }
          : null;
      },
    });
    this.#outcomes = new Batcher({
      flush: (outcomes, until) => this.#recordAll(outcomes, until),
      maxBatch: MAX_BATCH,
      concurrency: 1,
      deadlineMs,
      conflictKey: (outcome) => ({ key: outcome.id, owner: outcome }),
    });
  }

  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const until = monotonicMs() + this.deadlineMs;
    const begun = await this.#inserts.add(attempt);
    if (begun) return begun;
    // The key was taken or released between the two parts of the statement.
    const { service, client, key } = attempt;
    const [row] = await this.#pool.query(FIND, [service, client, key], until);
    const found = row && readAttempt(row);
    if (found && !isReleased(found)) return { kind: 'exists', attempt: found };
    return attempt.reserve ? { kind: 'reserved' } : this.insertAttempt(attempt);
  }

  recordOutcome(id: string, outcome: Outcome): Promise<boolean> {
    return this.#outcomes.add({ id, outcome });
  }

  async endConfirm(id: string, { outcome, confirmed }: ConfirmResult): Promise<void> {
    const rows = confirmed.map(({ service, channel, transactionId, inputHash, status, confirmedAt }) => ({
      service,
      channel,
      transaction_id: transactionId,
      input_hash: inputHash,
      status: storable(status),
      confirmed_at: confirmedAt,
    }));
    await this.write(`${RECORD_CONFIRMED} ${END_CONFIRM[outcome]}`, JSON.stringify(rows), id);
  }

  async time(): Promise<number> {
    const [row] = await this.read('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
    return Number(row?.['now']);
  }

  purgeStep(step: PurgeStep): Promise<PurgeProgress | null> {
    return purgeStep(this.#backgroundPool, step);
  }

  async checkWrite(bytes: number): Promise<void> {
    const [row] = await this.write(CHECK_WRITE, Date.now(), bytes);
    if (row?.['may'] !== true)
      throw new JournalUnavailable(Object.assign(new Error('Missing privileges.'), { code: '42501' }));
  }

  /** Writes what is queued, then closes the connections. */
  async close(): Promise<void> {
    await Promise.all([this.#inserts.close(), this.#outcomes.close()]);
    await Promise.all([this.#pool.close(), this.#backgroundPool.close()]);
  }

  protected read(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#pool.query(text, values);
  }

  protected write(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#pool.query(text, values);
  }

  protected readInBackground(text: string, values: SqlValue[], until?: number): Promise<Row[]> {
    return this.#backgroundPool.query(text, values, until);
  }

  /** Null for an attempt whose result this cannot determine. */
  async #insertAll(attempts: readonly NewAttempt[], until: number): Promise<(BeginResult | null)[]> {
    // One statement cannot write a row twice: of several attempts with one key it gets the first.
    const byKey = new Map(attempts.toReversed().map((attempt) => [keyOf(attempt), attempt]));
    const records = [...byKey.values()].map((attempt) => {
      const values = insertValues(attempt);
      const columns = INSERT_COLUMNS.map((name, index) => [name, values[index]]);
      return Object.fromEntries([...columns, ['reserve', attempt.reserve]]) as Row;
    });
    const rows = await this.#pool.query(INSERT_ATTEMPTS, [JSON.stringify(records)], until);
    const stored = rows.map(readAttempt);
    const started = new Set(stored.map(({ id }) => id));
    const taken = new Map(stored.filter((row) => !isReleased(row)).map((row) => [keyOf(row), row]));
    return attempts.map((attempt): BeginResult | null => {
      if (started.has(attempt.id)) return { kind: 'started' };
      const found = taken.get(keyOf(attempt));
      return found ? { kind: 'exists', attempt: found } : null;
    });
  }

  async #recordAll(outcomes: readonly { id: string; outcome: Outcome }[], until: number): Promise<boolean[]> {
    const records = outcomes.map(({ id, outcome: { outcome, ...facts } }) => ({
      id,
      outcome,
      settled_at: 'settledAt' in facts ? facts.settledAt : null,
      transaction_id: 'transactionId' in facts ? storable(facts.transactionId) : null,
      status: 'status' in facts ? storable(facts.status) : null,
      next_check_at: 'nextRecheckAt' in facts ? facts.nextRecheckAt : null,
      ...('absence' in facts && {
        absent_lookups: facts.absence?.lookups,
        absent_ms: facts.absence?.spanMs,
        absent_observer: facts.absence?.observer,
      }),
    }));
    const rows = await this.#pool.query(RECORD_OUTCOMES, [JSON.stringify(records)], until);
    const held = new Set(rows.map((row) => row['id']));
    return outcomes.map(({ id }) => !held.has(id));
  }
}

const keyOf = ({ service, client, key }: AttemptKey): string => JSON.stringify([service, client, key]);
