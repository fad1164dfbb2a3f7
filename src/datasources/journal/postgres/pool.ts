import { Pool, type Client, type QueryConfig } from 'pg';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import { TimeoutError, withTimeout } from '../../../shared/timeout';
import { monotonicMs } from '../deadline';
import { JournalUnavailable } from '../journal';
import { classifyJournalError, notDurableError, otherReasonError } from '../journal-error';
import { migrate } from '../migrations';
import type { PostgresHostChooser } from './hosts';
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
  serverOptions: string;
  /** Applies pending migrations. If omitted, the pool applies them itself. */
  migrate?: () => Promise<void>;
}

/** SQLSTATE of a warning, for example that the synchronous standby did not acknowledge a commit. */
const SQLSTATE_WARNING = '01000';

interface PoolQuery {
  sqlText: string;
  values: readonly unknown[];
  mustBeDurable: boolean;
}

/** A connection pool with a time limit for each query. Applies pending migrations before the first query. */
export class PostgresPool {
  readonly #hostChooser: PostgresHostChooser;
  readonly #options: PostgresPoolOptions;
  readonly #pool: Pool;
  readonly #inFlightCounter = new InFlightCounter();
  readonly #namedStatementBySqlText = new Map<string, QueryConfig>();
  #migrationPromise: Promise<void> | undefined;
  #migrationClient: Client | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(hostChooser: PostgresHostChooser, options: PostgresPoolOptions) {
    const { timeLimitMs } = options;
    this.#hostChooser = hostChooser;
    this.#options = options;
    this.#pool = new Pool({
      ...hostChooser.poolConfig(),
      max: options.maxConnections,
      connectionTimeoutMillis: timeLimitMs,
      // The server aborts a query that has timed out, so that it neither holds locks nor is executed later.
      statement_timeout: timeLimitMs,
      options: options.serverOptions,
    });
    // Errors of idle connections are ignored, because the pool replaces broken connections.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Runs a statement with a placeholder `?` or `$n` for each value, and returns its rows. Rejects with
   * JournalUnavailable on failure or timeout.
   * @param deadlineMs end of the time limit, by `monotonicMs`
   */
  query(
    sqlText: string,
    values: readonly unknown[],
    deadlineMs = monotonicMs() + this.#options.timeLimitMs,
  ): Promise<Row[]> {
    return this.#run({ sqlText, values, mustBeDurable: false }, deadlineMs);
  }

  /**
   * Like query(), but for a write that must survive a failover. Also rejects with JournalUnavailable if PostgreSQL
   * sends a warning. The synchronous standby may then not have acknowledged the commit, so that only the primary has
   * the write.
   */
  queryDurably(sqlText: string, values: readonly unknown[], deadlineMs: number): Promise<Row[]> {
    return this.#run({ sqlText, values, mustBeDurable: true }, deadlineMs);
  }

  /** Applies pending migrations once. Rejects with JournalUnavailable on failure; the next call then tries again. */
  migrate(): Promise<void> {
    if (this.#closePromise) return Promise.reject(closedError());
    this.#migrationPromise ??= this.#inFlightCounter
      .track((this.#options.migrate ?? this.#migrate.bind(this))())
      .catch((error: unknown) => {
        this.#migrationPromise = undefined;
        throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
      });
    return this.#migrationPromise;
  }

  /** Aborts a migration in progress, waits for queries in flight, and closes the connections. */
  close(): Promise<void> {
    void this.#migrationClient?.end().catch(() => undefined);
    this.#closePromise ??= this.#inFlightCounter.waitUntilIdle().then(() => this.#pool.end());
    return this.#closePromise;
  }

  async #run(query: PoolQuery, deadlineMs: number): Promise<Row[]> {
    if (this.#closePromise) throw closedError();
    try {
      return await this.#inFlightCounter.track(
        withTimeout(deadlineMs - monotonicMs(), this.#query(query, deadlineMs)),
      );
    } catch (error) {
      throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
    }
  }

  async #query({ sqlText, values, mustBeDurable }: PoolQuery, deadlineMs: number): Promise<Row[]> {
    await this.migrate();
    if (monotonicMs() >= deadlineMs) throw new TimeoutError();
    const client = await this.#pool.connect();
    if (monotonicMs() >= deadlineMs) {
      client.release();
      throw new TimeoutError();
    }
    try {
      const noticeCodes: string[] = [];
      const onNotice = ({ code = '' }: { code?: string | undefined }): void => void noticeCodes.push(code);
      if (mustBeDurable) client.on('notice', onNotice);
      const query = { ...this.#namedStatement(sqlText), values: [...values] };
      const { rows } = await withTimeout(deadlineMs - monotonicMs(), client.query<Row>(query));
      client.off('notice', onNotice);
      if (noticeCodes.includes(SQLSTATE_WARNING)) throw notDurableError();
      client.release();
      return rows;
    } catch (error) {
      // A read-only host may be a former primary. After the report, the next connection searches for the new primary.
      if (classifyJournalError(error).reason === 'read_only') this.#hostChooser.reportFailure(client);
      // The connection is closed, because it may still be busy with the query.
      client.release(true);
      throw error;
    }
  }

  async #migrate(): Promise<void> {
    const client = this.#hostChooser.createClient({ connectionTimeoutMillis: this.#options.timeLimitMs });
    this.#migrationClient = client;
    const execute = async (sqlText: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
      (await client.query<Row>(this.#namedStatement(sqlText).text, [...values])).rows;
    try {
      await client.connect();
      await migrate({
        dialect: 'postgres',
        execute,
        runInTransaction: async (runStatements) => {
          await execute('BEGIN');
          await execute('SET LOCAL statement_timeout = 0');
          await execute(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`);
          const result = await runStatements();
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
  #namedStatement(sqlText: string) {
    let statement = this.#namedStatementBySqlText.get(sqlText);
    if (!statement) {
      let parameterCount = 0;
      const numberedText = sqlText.replaceAll('?', () => `$${(parameterCount += 1)}`);
      statement = { name: `paygraph_${this.#namedStatementBySqlText.size}`, text: numberedText };
      this.#namedStatementBySqlText.set(sqlText, statement);
    }
    return statement;
  }
}

const closedError = (): JournalUnavailable =>
  new JournalUnavailable(
    otherReasonError('the journal connections are closed: the process is shutting down'),
  );
