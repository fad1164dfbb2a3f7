import { Client, type ClientBase, type ClientConfig } from 'pg';
import { ClassifiedError, classifyJournalError, isPermanent, type JournalErrorInfo } from '../journal-error';
import { parsePostgresUrl, type PostgresHost, type PostgresUrl } from '../../../shared/postgres-url';
import { singleFlight } from '../../../shared/single-flight';
import { TimeoutError } from '../../../shared/timeout';

/**
 * Chooses a host of a connection string: the first that responds and satisfies `target_session_attrs`. If this host
 * fails or becomes read-only, the next search tries the other hosts first.
 */
export class PostgresHostChooser {
  readonly #parsedUrl: PostgresUrl;
  readonly #clientDefaults: ClientConfig;
  /** Hosts in the order in which a search tries them; empty if the connection string has only one host. */
  #orderedHosts: readonly PostgresHost[];
  /** The chosen host. Undefined before the first search, after the host has failed, and if there is only one host. */
  #chosenHost: PostgresHost | undefined;
  readonly #searchHostSingleFlight = singleFlight(() => this.#searchHost());

  /** @throws PostgresUrlError if the connection string is invalid */
  constructor(databaseUrl: string) {
    this.#parsedUrl = parsePostgresUrl(databaseUrl);
    this.#orderedHosts = this.#parsedUrl.failoverHosts;
    const { connectionString } = this.#parsedUrl;
    this.#clientDefaults = { connectionString, keepAlive: true, application_name: 'paygraph' };
  }

  /** Returns a client that connects to the chosen host. */
  createClient(clientConfig: ClientConfig): Client {
    return new HostClient(this, { ...this.#clientDefaults, ...clientConfig });
  }

  /** Returns the settings of a pool that connects to the chosen host. */
  poolConfig() {
    const hostChooser = this as PostgresHostChooser;
    return {
      ...this.#clientDefaults,
      Client: class extends HostClient {
        constructor(clientConfig?: ClientConfig) {
          super(hostChooser, clientConfig);
        }
      },
    };
  }

  /**
   * Returns the chosen host. If none is chosen, searches first. Returns undefined if the connection string has only one
   * host. Rejects with a ClassifiedError if no host is suitable.
   */
  chooseHost(): Promise<PostgresHost | undefined> {
    if (this.#chosenHost || this.#orderedHosts.length === 0) return Promise.resolve(this.#chosenHost);
    return this.#searchHostSingleFlight();
  }

  /** Rejects with a ClassifiedError if the server does not satisfy `target_session_attrs` of the connection string. */
  async checkSession(client: ClientBase): Promise<void> {
    const { targetSessionAttributes: requiredAttributes } = this.#parsedUrl;
    if (requiredAttributes === 'any') return;
    const { rows } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(SELECT_SERVER_MODE);
    const isUnsuitable = rows[0]?.isStandby || (requiredAttributes === 'read-write' && rows[0]?.isReadOnly);
    if (isUnsuitable) throw new ClassifiedError(READ_ONLY_ERROR);
  }

  /** Must be called when a host has failed or is read-only. If it is the chosen host, the next search tries it last. */
  reportFailure({ host, port }: PostgresHost): void {
    const chosenHost = this.#chosenHost;
    // A failure of any other host changes nothing.
    if (chosenHost?.host !== host || chosenHost.port !== port) return;
    this.#chosenHost = undefined;
    this.#orderedHosts = [...this.#orderedHosts.filter((candidate) => candidate !== chosenHost), chosenHost];
  }

  async #searchHost(): Promise<PostgresHost> {
    const errorByHost = new Map<PostgresHost, JournalErrorInfo>();
    for (const host of this.#orderedHosts) {
      const { connectTimeoutMs } = this.#parsedUrl;
      const timeouts = { connectionTimeoutMillis: connectTimeoutMs, query_timeout: connectTimeoutMs };
      const client = new Client({ ...this.#clientDefaults, ...timeouts });
      client.on('error', () => undefined);
      try {
        await Object.assign(client, host).connect();
        await this.checkSession(client);
        this.#chosenHost = host;
        return host;
      } catch (error) {
        errorByHost.set(host, classifyJournalError(error));
      } finally {
        void client.end().catch(() => undefined);
      }
    }
    throw new ClassifiedError(
      combineHostErrors(this.#parsedUrl.failoverHosts.flatMap((host) => errorByHost.get(host) ?? [])),
    );
  }
}

const SELECT_SERVER_MODE = `SELECT pg_is_in_recovery() AS "isStandby", current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

const READ_ONLY_ERROR: JournalErrorInfo = {
  reason: 'read_only',
  code: '25006',
  message: 'PostgreSQL is read-only (a standby, or its transactions are read-only by default)',
};

/** Combines the errors of all hosts. The reason and code are those of the host that is most likely the primary. */
function combineHostErrors(hostErrors: readonly JournalErrorInfo[]): JournalErrorInfo {
  const likelyPrimaryError =
    hostErrors.find((error) => error.reason !== 'read_only' && !isPermanent(error)) ??
    hostErrors.find(({ reason }) => reason === 'read_only') ??
    hostErrors[0];
  const reasonsText = hostErrors.map(({ reason }, index) => `host ${index + 1} ${reason}`).join(', ');
  const { reason = 'other', code = null } = likelyPrimaryError ?? {};
  return { reason, code, message: `no PostgreSQL host in DATABASE_URL accepts writes: ${reasonsText}` };
}

/**
 * A database client that connects to the chosen host (see PostgresHostChooser). It then checks that the host satisfies
 * `target_session_attrs`.
 */
class HostClient extends Client {
  readonly #hostChooser: PostgresHostChooser;

  constructor(hostChooser: PostgresHostChooser, clientConfig?: ClientConfig) {
    super(clientConfig);
    this.#hostChooser = hostChooser;
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
    const host = await this.#hostChooser.chooseHost();
    // The caller may have timed out during the search and closed this client.
    if (this.connection.stream.destroyed) throw new TimeoutError();
    if (host) Object.assign(this, host);
    try {
      await super.connect();
      await this.#hostChooser.checkSession(this);
      return this;
    } catch (error) {
      if (host) this.#hostChooser.reportFailure(host);
      void this.end().catch(() => undefined);
      throw error;
    }
  }
}
