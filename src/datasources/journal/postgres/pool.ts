import { Pool, type Client } from 'pg';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import { TimeoutError, withTimeout } from '../../../shared/timeout';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { describeJournalError, notDurableError, unclassifiedError } from '../journal-error';
import { migrate } from '../migrations';
import type { PostgresHosts } from './hosts';
import type { Row, SqlValue } from '../rows';

/**
 * Planner settings of connections. Tables grow faster than PostgreSQL updates its statistics. So PostgreSQL must plan
 * each execution anew, and avoid plans that read whole tables (sequential scans, merge joins).
 */
export const PLANNER_OPTIONS =
  '-c plan_cache_mode=force_custom_plan -c enable_seqscan=off -c enable_mergejoin=off -c jit=off';

/**
 * Planner settings for statements that must read an index in its order. Without them, PostgreSQL could read and sort
 * a whole table if the table has just grown, or if few of its rows match the condition.
 */
export const INDEX_ORDER_OPTIONS = `${PLANNER_OPTIONS} -c enable_bitmapscan=off -c enable_sort=off`;

/** Key of the advisory lock that lets only one instance at a time run migrations. */
const MIGRATION_LOCK_KEY = 7_215_044;

interface PostgresPoolOptions {
  /** Time limit of a query in ms, including the wait for a connection and for migrations. */
  timeLimitMs: number;
  maxConnections: number;
  /** Server settings of each connection, in the form of command-line options of PostgreSQL. */
  connectionOptions: string;
  /** Applies pending migrations. If omitted, the pool applies them itself. */
  migrate?: () => Promise<void>;
}

/** SQLSTATE of a warning, for example that the synchronous standby did not acknowledge a commit. */
const SQLSTATE_WARNING = '01000';

interface PoolQuery {
  text: string;
  values: readonly unknown[];
  mustBeDurable: boolean;
}

/** A connection pool with a time limit for each query. Applies pending migrations before the first query. */
export class PostgresPool {
  readonly #hosts: PostgresHosts;
  readonly #options: PostgresPoolOptions;
  readonly #pool: Pool;
  readonly #inFlight = new InFlightCounter();
  readonly #namedStatementByText = new Map<string, { name: string; text: string }>();
  #migration: Promise<void> | undefined;
  #migrationClient: Client | undefined;
  #closing: Promise<void> | undefined;

  constructor(hosts: PostgresHosts, options: PostgresPoolOptions) {
    const { timeLimitMs } = options;
    this.#hosts = hosts;
    this.#options = options;
    this.#pool = new Pool({
      ...hosts.poolConfig(),
      max: options.maxConnections,
      connectionTimeoutMillis: timeLimitMs,
      // The server aborts a query that has timed out, so that it neither holds locks nor is executed later.
      statement_timeout: timeLimitMs,
      options: options.connectionOptions,
    });
    // Errors of idle connections are ignored, because the pool replaces broken connections.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Runs a statement with a placeholder `?` or `$n` for each value, and returns its rows. Rejects with
   * JournalUnavailable on failure or timeout.
   * @param until end of the time limit, by `monotonicMs`
   */
  query(
    text: string,
    values: readonly unknown[],
    until = monotonicMs() + this.#options.timeLimitMs,
  ): Promise<Row[]> {
    return this.#run({ text, values, mustBeDurable: false }, until);
  }

  /**
   * Like query(), but for a write that must survive a failover. Also rejects with JournalUnavailable if PostgreSQL
   * sends a warning. The synchronous standby may then not have acknowledged the commit, so that only the primary has
   * the write.
   */
  queryDurably(text: string, values: readonly unknown[], until: number): Promise<Row[]> {
    return this.#run({ text, values, mustBeDurable: true }, until);
  }

  /** Applies pending migrations once. Rejects with JournalUnavailable on failure; the next call then tries again. */
  migrate(): Promise<void> {
    if (this.#closing) return Promise.reject(closedError());
    this.#migration ??= this.#inFlight
      .track((this.#options.migrate ?? this.#migrate.bind(this))())
      .catch((error: unknown) => {
        this.#migration = undefined;
        throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
      });
    return this.#migration;
  }

  /** Aborts a migration in progress, waits for queries in flight, and closes the connections. */
  close(): Promise<void> {
    void this.#migrationClient?.end().catch(() => undefined);
    this.#closing ??= this.#inFlight.drained().then(() => this.#pool.end());
    return this.#closing;
  }

  async #run(query: PoolQuery, until: number): Promise<Row[]> {
    if (this.#closing) throw closedError();
    try {
      return await this.#inFlight.track(withTimeout(until - monotonicMs(), this.#query(query, until)));
    } catch (error) {
      throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
    }
  }

  async #query({ text, values, mustBeDurable }: PoolQuery, until: number): Promise<Row[]> {
    await this.migrate();
    if (monotonicMs() >= until) throw new TimeoutError();
    const client = await this.#pool.connect();
    if (monotonicMs() >= until) {
      client.release();
      throw new TimeoutError();
    }
    try {
      const noticeCodes: string[] = [];
      const onNotice = ({ code = '' }: { code?: string | undefined }): void => void noticeCodes.push(code);
      if (mustBeDurable) client.on('notice', onNotice);
      const query = { ...this.#namedStatement(text), values: [...values] };
      const { rows } = await withTimeout(until - monotonicMs(), client.query<Row>(query));
      client.off('notice', onNotice);
      if (noticeCodes.includes(SQLSTATE_WARNING)) throw notDurableError();
      client.release();
      return rows;
    } catch (error) {
      // A read-only host may be a former primary. After the report, the next connection searches for the new primary.
      if (describeJournalError(error).reason === 'read_only') this.#hosts.reportFailure(client);
      // The connection is closed, because it may still be busy with the query.
      client.release(true);
      throw error;
    }
  }

  async #migrate(): Promise<void> {
    const client = this.#hosts.createClient({ connectionTimeoutMillis: this.#options.timeLimitMs });
    this.#migrationClient = client;
    const execute = async (text: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
      (await client.query<Row>(this.#namedStatement(text).text, [...values])).rows;
    try {
      await client.connect();
      await migrate({
        dialect: 'postgres',
        execute,
        transaction: async (work) => {
          await execute('BEGIN');
          await execute('SET LOCAL statement_timeout = 0');
          await execute(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`);
          const result = await work();
          await execute('COMMIT');
          return result;
        },
      });
    } finally {
      this.#migrationClient = undefined;
      // Closing rolls back an uncommitted migration. Not awaited, because closing can take long.
      void client.end().catch(() => undefined);
    }
  }

  /**
   * Returns a named statement with `$n` instead of each `?`. Because of the name, each connection parses the text only
   * once.
   */
  #namedStatement(text: string) {
    let statement = this.#namedStatementByText.get(text);
    if (!statement) {
      let parameterCount = 0;
      const numberedText = text.replaceAll('?', () => `$${(parameterCount += 1)}`);
      statement = { name: `paygraph_${this.#namedStatementByText.size}`, text: numberedText };
      this.#namedStatementByText.set(text, statement);
    }
    return statement;
  }
}

const closedError = (): JournalUnavailable =>
  new JournalUnavailable(
    unclassifiedError('the journal connections are closed: the process is shutting down'),
  );
