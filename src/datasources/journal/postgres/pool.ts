import { Pool, type Client, type PoolClient } from 'pg';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import { TimeoutError, withTimeout } from '../../../shared/timeout';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { describeJournalError } from '../journal-error';
import { migrate } from '../migrations';
import type { PostgresHosts } from './hosts';
import type { Row } from '../rows';

/** A plan made for an empty table must not be kept while the table grows. */
export const CONNECTION_OPTIONS = '-c plan_cache_mode=force_custom_plan';

/**
 * For statements that must read an index in its order: with statistics of a table that has just grown, or of one client
 * among many, the planner prefers a scan of the whole table.
 */
export const INDEX_ORDER_OPTIONS = `${CONNECTION_OPTIONS} -c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off`;

const MIGRATION_TIMEOUT_MS = 10_000;
/** Advisory lock key, the same in every instance: one at a time runs the migrations. */
const MIGRATION_LOCK = 7_215_044;

interface PostgresPoolOptions {
  /** Time limit of a query in ms. */
  deadlineMs: number;
  maxConnections: number;
  /** Settings of each connection, as command-line options of the server. */
  connectionOptions: string;
  /** Runs the migrations; by default the pool does. */
  migrate?: () => Promise<readonly string[]>;
}

interface NamedStatement {
  /** PostgreSQL parses a named statement once per connection. */
  name: string;
  text: string;
}

/** Connection pool with a time limit for each query, to a database that has the journal's tables. */
export class PostgresPool {
  readonly #hosts: PostgresHosts;
  readonly #options: PostgresPoolOptions;
  readonly #pool: Pool;
  readonly #inFlight = new InFlightCounter();
  readonly #statements = new Map<string, NamedStatement>();
  #migrated: Promise<readonly string[]> | undefined;
  #migrationClient: Client | undefined;
  #closing: Promise<void> | undefined;

  constructor(hosts: PostgresHosts, options: PostgresPoolOptions) {
    const { deadlineMs } = options;
    this.#hosts = hosts;
    this.#options = options;
    this.#pool = new Pool({
      ...hosts.poolConfig(),
      max: options.maxConnections,
      connectionTimeoutMillis: deadlineMs,
      // A query that timed out must not hold locks, nor be executed later.
      statement_timeout: deadlineMs,
      keepAlive: true,
      application_name: 'paygraph',
      options: options.connectionOptions,
    });
    // A connection that breaks while idle is replaced at the next use.
    this.#pool.on('error', () => undefined);
  }

  /** @param text with `?` or `$n` for each value  @param until end of the time limit, by `monotonicMs` */
  query(text: string, values: unknown[], until = monotonicMs() + this.#options.deadlineMs): Promise<Row[]> {
    if (this.#closing) return Promise.reject(closedError());
    return this.#inFlight.track(this.#query({ ...this.#statement(text), values }, until));
  }

  /** Runs the migrations once, and again at the next use after a failure. Returns the names of those it applied. */
  migrate(): Promise<readonly string[]> {
    if (this.#closing) return Promise.reject(closedError());
    this.#migrated ??= this.#inFlight
      .track((this.#options.migrate ?? this.#migrate.bind(this))())
      .catch((error: unknown) => {
        this.#migrated = undefined;
        throw new JournalUnavailable(error);
      });
    return this.#migrated;
  }

  /** Waits for queries in flight; aborts a migration. */
  close(): Promise<void> {
    void this.#migrationClient?.end().catch(() => undefined);
    this.#closing ??= this.#inFlight.drained().then(() => this.#pool.end());
    return this.#closing;
  }

  async #query(query: NamedStatement & { values: unknown[] }, until: number): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      await withTimeout(until - monotonicMs(), this.migrate());
      client = await this.#connect(until);
      if (monotonicMs() >= until) throw new TimeoutError();
      const { rows } = await withTimeout(until - monotonicMs(), client.query<Row>(query));
      client.release();
      return rows;
    } catch (error) {
      // After a failover another server is the primary.
      if (client && describeJournalError(error).reason === 'read_only') this.#hosts.failed(client);
      // The connection may still be busy with the query: it is not reused.
      client?.release(true);
      throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
    }
  }

  async #connect(until: number): Promise<PoolClient> {
    const connecting = this.#pool.connect();
    try {
      return await withTimeout(until - monotonicMs(), connecting);
    } catch (error) {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
      throw error;
    }
  }

  async #migrate(): Promise<readonly string[]> {
    const client = this.#hosts.client({
      connectionTimeoutMillis: this.#options.deadlineMs,
      query_timeout: MIGRATION_TIMEOUT_MS,
      application_name: 'paygraph',
      keepAlive: true,
    });
    this.#migrationClient = client;
    const execute = async (text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;
    try {
      await client.connect();
      await execute('BEGIN');
      await execute('SET LOCAL statement_timeout = 0');
      await execute(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      const applied = await migrate({ dialect: 'postgres', execute });
      await execute('COMMIT');
      return applied;
    } finally {
      this.#migrationClient = undefined;
      // Closing the connection rolls back what was not committed; it may take long.
      void client.end().catch(() => undefined);
    }
  }

  #statement(text: string): NamedStatement {
    let statement = this.#statements.get(text);
    if (!statement) {
      let count = 0;
      const numbered = text.replaceAll('?', () => `$${(count += 1)}`);
      statement = { name: `paygraph_${this.#statements.size}`, text: numbered };
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

const closedError = (): JournalUnavailable => new JournalUnavailable(new Error('The journal is closed.'));
