import { Client, Pool, type PoolClient } from 'pg';
import { UnderWay } from '../../under-way';
import { monotonicMs, within } from './deadline';
import { JournalUnavailable } from './journal';
import { migrate } from './migrations';
import type { Row } from './rows';

/** A plan made for an empty table must not be kept while the table grows. */
export const CONNECTION_OPTIONS = '-c plan_cache_mode=force_custom_plan';

const MAX_CONNECTIONS = 8;
const MIGRATION_TIMEOUT_MS = 10_000;
/** Any number, as long as every instance uses the same: one at a time makes the tables. */
const MIGRATION_LOCK = 7_215_044;

/** Connections to PostgreSQL that answer in time or not at all, to a database that has the journal's tables. */
export class PostgresPool {
  readonly #url: string;
  readonly #deadlineMs: number;
  readonly #pool: Pool;
  readonly #underWay = new UnderWay();
  /** Short names of statements: a statement with a name is parsed once per connection. */
  readonly #names = new Map<string, string>();
  #migrated: Promise<readonly string[]> | undefined;
  #closing: Promise<void> | undefined;

  /** @param deadlineMs how long anything asked of it may take */
  constructor(url: string, deadlineMs: number) {
    this.#url = url;
    this.#deadlineMs = deadlineMs;
    this.#pool = new Pool({
      connectionString: url,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: deadlineMs,
      // What nobody waits for any more must not hold locks, nor be written later.
      statement_timeout: deadlineMs,
      keepAlive: true,
      application_name: 'paygraph',
      options: CONNECTION_OPTIONS,
    });
    // A connection that breaks is replaced at the next use; the pool itself hears only of those that are idle.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  query(text: string, values: unknown[], until = monotonicMs() + this.#deadlineMs): Promise<Row[]> {
    if (this.#closing) return Promise.reject(new JournalUnavailable(new Error('It is closed.')));
    return this.#underWay.follow(this.#query({ name: this.#nameOf(text), text, values }, until));
  }

  /** Makes the tables, once; tried again at the next use where that failed. Returns the names of the steps taken. */
  migrate(): Promise<readonly string[]> {
    if (this.#closing) return Promise.reject(new JournalUnavailable(new Error('It is closed.')));
    this.#migrated ??= this.#underWay.follow(this.#migrate()).catch((error: unknown) => {
      this.#migrated = undefined;
      throw new JournalUnavailable(error);
    });
    return this.#migrated;
  }

  /** Waits for what is under way. */
  close(): Promise<void> {
    this.#closing ??= this.#underWay.idle().then(() => this.#pool.end());
    return this.#closing;
  }

  async #query(query: { name: string; text: string; values: unknown[] }, until: number): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      await within(until - monotonicMs(), this.migrate());
      client = await within(until - monotonicMs(), this.#pool.connect(), (late) => late.release());
      if (monotonicMs() >= until) throw new Error('It is too late.');
      const { rows } = await within(until - monotonicMs(), client.query<Row>(query));
      client.release();
      return rows;
    } catch (error) {
      // The connection may still be busy with the query: it is not used again.
      client?.release(true);
      throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
    }
  }

  async #migrate(): Promise<readonly string[]> {
    const client = new Client({
      connectionString: this.#url,
      connectionTimeoutMillis: this.#deadlineMs,
      query_timeout: MIGRATION_TIMEOUT_MS,
      application_name: 'paygraph',
    });
    client.on('error', () => undefined);
    const execute = async (text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;
    try {
      await client.connect();
      await execute('BEGIN');
      await execute(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      const steps = await migrate({ dialect: 'postgres', execute });
      await execute('COMMIT');
      return steps;
    } finally {
      // What was not committed is undone with the connection, which may be one that never ends.
      void client.end().catch(() => undefined);
    }
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `paygraph_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
