import { Pool, type Client, type PoolClient } from 'pg';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import { monotonicMs, tookTooLong, within } from '../deadline';
import { JournalUnavailable } from '../journal';
import { faultOf } from '../journal-error';
import { migrate } from '../migrations';
import type { PostgresHosts } from './hosts';
import type { Row } from '../rows';

/** A plan made for an empty table must not be kept while the table grows. */
export const CONNECTION_OPTIONS = '-c plan_cache_mode=force_custom_plan';

/**
 * For statements that read an index in its order, whatever the statistics say: those of a table that has just grown, or
 * of one client among many, make a walk of the whole table look cheap.
 */
export const INDEX_ORDER_OPTIONS = `${CONNECTION_OPTIONS} -c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off`;

const MIGRATION_TIMEOUT_MS = 10_000;
/** Building an index takes about ten seconds for a million attempts. */
const SLOW_MIGRATION_TIMEOUT_MS = 60 * 60 * 1000;
/** Any number, as long as every instance uses the same: one at a time makes the tables. */
const MIGRATION_LOCK = 7_215_044;

interface PostgresPoolOptions {
  /** How long anything asked of it may take, in milliseconds. */
  deadlineMs: number;
  maxConnections: number;
  /** Settings of each connection, as command-line options of the server. */
  connectionOptions: string;
  /** Makes the tables; the pool does so itself where this is missing. */
  migrate?: () => Promise<readonly string[]>;
}

/** Connections to PostgreSQL that answer in time or not at all, to a database that has the journal's tables. */
export class PostgresPool {
  readonly #hosts: PostgresHosts;
  readonly #deadlineMs: number;
  readonly #migrateElsewhere: PostgresPoolOptions['migrate'];
  readonly #pool: Pool;
  readonly #underWay = new InFlightCounter();
  /** Short names of statements: a statement with a name is parsed once per connection. */
  readonly #names = new Map<string, string>();
  #migrated: Promise<readonly string[]> | undefined;
  #migrating: Client | undefined;
  #closing: Promise<void> | undefined;

  constructor(hosts: PostgresHosts, options: PostgresPoolOptions) {
    const { deadlineMs } = options;
    this.#hosts = hosts;
    this.#deadlineMs = deadlineMs;
    this.#migrateElsewhere = options.migrate;
    this.#pool = new Pool({
      ...hosts.poolConfig(),
      max: options.maxConnections,
      connectionTimeoutMillis: deadlineMs,
      // What nobody waits for any more must not hold locks, nor be written later.
      statement_timeout: deadlineMs,
      keepAlive: true,
      application_name: 'paygraph',
      options: options.connectionOptions,
    });
    // A connection that breaks while it is idle is replaced at the next use.
    this.#pool.on('error', () => undefined);
  }

  /** When something asked now has to be done, by `monotonicMs`. */
  until(): number {
    return monotonicMs() + this.#deadlineMs;
  }

  query(text: string, values: unknown[], until = this.until()): Promise<Row[]> {
    if (this.#closing) return Promise.reject(new JournalUnavailable(new Error('It is closed.')));
    return this.#underWay.track(this.#query({ name: this.#nameOf(text), text, values }, until));
  }

  /** Makes the tables, once; tried again at the next use where that failed. Returns the names of the steps taken. */
  migrate(): Promise<readonly string[]> {
    if (this.#closing) return Promise.reject(new JournalUnavailable(new Error('It is closed.')));
    this.#migrated ??= this.#underWay
      .track((this.#migrateElsewhere ?? this.#migrate.bind(this))())
      .catch((error: unknown) => {
        this.#migrated = undefined;
        throw new JournalUnavailable(error);
      });
    return this.#migrated;
  }

  /** Waits for what is under way, except for a migration: that is undone. */
  close(): Promise<void> {
    void this.#migrating?.end().catch(() => undefined);
    this.#closing ??= this.#underWay.drained().then(() => this.#pool.end());
    return this.#closing;
  }

  async #query(query: { name: string; text: string; values: unknown[] }, until: number): Promise<Row[]> {
    let client: PoolClient | undefined;
    try {
      await within(until - monotonicMs(), this.migrate());
      client = await within(until - monotonicMs(), this.#pool.connect(), (late) => late.release());
      if (monotonicMs() >= until) throw tookTooLong();
      const { rows } = await within(until - monotonicMs(), client.query<Row>(query));
      client.release();
      return rows;
    } catch (error) {
      // After a failover the primary is another server.
      if (client && faultOf(error).reason === 'read_only') this.#hosts.failed(client);
      // The connection may still be busy with the query: it is not used again.
      client?.release(true);
      throw error instanceof JournalUnavailable ? error : new JournalUnavailable(error);
    }
  }

  async #migrate(): Promise<readonly string[]> {
    const client = this.#hosts.client({
      connectionTimeoutMillis: this.#deadlineMs,
      application_name: 'paygraph',
      keepAlive: true,
    });
    this.#migrating = client;
    const execute = async (text: string, isSlow = false): Promise<Row[]> => {
      const query = { text, query_timeout: isSlow ? SLOW_MIGRATION_TIMEOUT_MS : MIGRATION_TIMEOUT_MS };
      return (await client.query<Row>(query)).rows;
    };
    try {
      await client.connect();
      await execute('BEGIN');
      await execute('SET LOCAL statement_timeout = 0');
      await execute(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      const steps = await migrate({ dialect: 'postgres', execute });
      await execute('COMMIT');
      return steps;
    } finally {
      this.#migrating = undefined;
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
