import { Client, type ClientBase, type ClientConfig } from 'pg';
import { DescribedError, describeJournalError, isPermanent, type JournalErrorInfo } from '../journal-error';
import { parsePostgresUrl, type PostgresHost, type PostgresUrl } from '../../../shared/postgres-url';
import { singleFlight } from '../../../shared/single-flight';
import { TimeoutError } from '../../../shared/timeout';

/**
 * Chooses a host of a connection string: the first that responds and satisfies `target_session_attrs`. If this host
 * fails or becomes read-only, the next search tries the other hosts first.
 */
export class PostgresHosts {
  readonly #url: PostgresUrl;
  readonly #clientDefaults: ClientConfig;
  /** Hosts in the order in which a search tries them; empty if the connection string has only one host. */
  #searchOrder: readonly PostgresHost[];
  /** The chosen host. Undefined before the first search, after the host has failed, and if there is only one host. */
  #chosenHost: PostgresHost | undefined;
  readonly #searchHostSingleFlight = singleFlight(() => this.#searchHost());

  /** @throws PostgresUrlError if the connection string is invalid */
  constructor(url: string) {
    this.#url = parsePostgresUrl(url);
    this.#searchOrder = this.#url.failoverHosts;
    const { connectionString } = this.#url;
    this.#clientDefaults = { connectionString, keepAlive: true, application_name: 'paygraph' };
  }

  /** Returns a client that connects to the chosen host. */
  createClient(config: ClientConfig): Client {
    return new HostClient(this, { ...this.#clientDefaults, ...config });
  }

  /** Returns the settings of a pool that connects to the chosen host. */
  poolConfig() {
    const hosts = this as PostgresHosts;
    return {
      ...this.#clientDefaults,
      Client: class extends HostClient {
        constructor(config?: ClientConfig) {
          super(hosts, config);
        }
      },
    };
  }

  /**
   * Returns the chosen host. If none is chosen, searches first. Returns undefined if the connection string has only one
   * host. Rejects with a DescribedError if no host is suitable.
   */
  chooseHost(): Promise<PostgresHost | undefined> {
    if (this.#chosenHost || this.#searchOrder.length === 0) return Promise.resolve(this.#chosenHost);
    return this.#searchHostSingleFlight();
  }

  /** Rejects with a DescribedError if the server does not satisfy `target_session_attrs` of the connection string. */
  async checkSession(client: ClientBase): Promise<void> {
    const { targetSessionAttributes: requiredAttributes } = this.#url;
    if (requiredAttributes === 'any') return;
    const { rows } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(SELECT_SERVER_MODE);
    const isUnsuitable = rows[0]?.isStandby || (requiredAttributes === 'read-write' && rows[0]?.isReadOnly);
    if (isUnsuitable) throw new DescribedError(READ_ONLY_ERROR);
  }

  /** Must be called when a host has failed or is read-only. If it is the chosen host, the next search tries it last. */
  reportFailure({ host, port }: PostgresHost): void {
    const chosenHost = this.#chosenHost;
    // A failure of any other host changes nothing.
    if (chosenHost?.host !== host || chosenHost.port !== port) return;
    this.#chosenHost = undefined;
    this.#searchOrder = [...this.#searchOrder.filter((candidate) => candidate !== chosenHost), chosenHost];
  }

  async #searchHost(): Promise<PostgresHost> {
    const errorByHost = new Map<PostgresHost, JournalErrorInfo>();
    for (const host of this.#searchOrder) {
      const { connectTimeoutMs } = this.#url;
      const timeouts = { connectionTimeoutMillis: connectTimeoutMs, query_timeout: connectTimeoutMs };
      const client = new Client({ ...this.#clientDefaults, ...timeouts });
      client.on('error', () => undefined);
      try {
        await Object.assign(client, host).connect();
        await this.checkSession(client);
        this.#chosenHost = host;
        return host;
      } catch (error) {
        errorByHost.set(host, describeJournalError(error));
      } finally {
        void client.end().catch(() => undefined);
      }
    }
    throw new DescribedError(
      summarizeErrors(this.#url.failoverHosts.flatMap((host) => errorByHost.get(host) ?? [])),
    );
  }
}

const SELECT_SERVER_MODE = `SELECT pg_is_in_recovery() AS "isStandby", current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

const READ_ONLY_ERROR: JournalErrorInfo = {
  reason: 'read_only',
  code: '25006',
  message: 'PostgreSQL is read-only (a standby, or its transactions are read-only by default)',
};

/**
 * Combines the errors of all hosts into one error. The reason and the code are those of the host that is most likely
 * the primary.
 */
function summarizeErrors(errors: readonly JournalErrorInfo[]): JournalErrorInfo {
  const likelyPrimaryError =
    errors.find((error) => error.reason !== 'read_only' && !isPermanent(error)) ??
    errors.find(({ reason }) => reason === 'read_only') ??
    errors[0];
  const reasons = errors.map(({ reason }, index) => `host ${index + 1} ${reason}`).join(', ');
  const { reason = 'other', code = null } = likelyPrimaryError ?? {};
  return { reason, code, message: `no PostgreSQL host in DATABASE_URL accepts writes: ${reasons}` };
}

/**
 * A database client that connects to the chosen host (see PostgresHosts). It then checks that the host satisfies
 * `target_session_attrs`.
 */
class HostClient extends Client {
  readonly #hosts: PostgresHosts;

  constructor(hosts: PostgresHosts, config?: ClientConfig) {
    super(config);
    this.#hosts = hosts;
    // Without a listener, an 'error' event would end the process.
    this.on('error', () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error | null, client?: Client) => void): void;
  override connect(callback?: (error: Error | null, client?: Client) => void): Promise<Client> | void {
    const connectPromise = this.#connect();
    if (!callback) return connectPromise;
    connectPromise.then(
      () => callback(null, this),
      (error: Error) => callback(error),
    );
  }

  async #connect(): Promise<Client> {
    const host = await this.#hosts.chooseHost();
    // The caller may have timed out during the search and closed this client.
    if (this.connection.stream.destroyed) throw new TimeoutError();
    if (host) Object.assign(this, host);
    try {
      await super.connect();
      await this.#hosts.checkSession(this);
      return this;
    } catch (error) {
      if (host) this.#hosts.reportFailure(host);
      void this.end().catch(() => undefined);
      throw error;
    }
  }
}
