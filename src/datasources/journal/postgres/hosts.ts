import { Client, type ClientBase, type ClientConfig } from 'pg';
import { tookTooLong } from '../deadline';
import { FaultError, faultOf, isPermanent, type JournalFault } from '../journal-error';
import { readPostgresUrl, type PostgresHost, type PostgresUrl } from '../../../shared/postgres-url';

/**
 * The servers of a connection string, of which one is used: the first that answers and has the attributes asked for. It is
 * used until connecting to it fails or it turns out to be read-only; then the next one is searched.
 */
export class PostgresHosts {
  readonly #url: PostgresUrl;
  /** In the order in which they are tried. */
  #order: readonly PostgresHost[];
  #chosen: PostgresHost | undefined;
  #search: Promise<PostgresHost> | undefined;

  /** Throws a PostgresUrlError. */
  constructor(url: string) {
    this.#url = readPostgresUrl(url);
    this.#order = this.#url.hosts;
  }

  /** A client that connects to the server in use. */
  client(config: ClientConfig): Client {
    return new HostClient(this, { ...config, connectionString: this.#url.connectionString });
  }

  /** The settings of a pool of such clients. */
  poolConfig() {
    // A pool makes its clients itself, with its own settings.
    const hosts = this as PostgresHosts;
    return {
      connectionString: this.#url.connectionString,
      Client: class extends HostClient {
        constructor(config?: ClientConfig) {
          super(hosts, config);
        }
      },
    };
  }

  /** The server to connect to; undefined where the connection string names one alone. Rejects where none fits. */
  choose(): Promise<PostgresHost | undefined> {
    if (this.#chosen || this.#order.length === 0) return Promise.resolve(this.#chosen);
    this.#search ??= this.#find().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  /** Rejects where the session of a client does not have the attributes asked for. One round trip, unless any server will do. */
  async check(client: ClientBase): Promise<void> {
    const { attributes } = this.#url;
    if (attributes === 'any') return;
    const { rows } = await client.query<{ standby: boolean; readOnly: boolean }>(SESSION);
    const isUnfit = rows[0]?.standby || (attributes === 'read-write' && rows[0]?.readOnly);
    if (isUnfit) throw new FaultError(READ_ONLY);
  }

  /** A server cannot be connected to, or not be written: the others are tried before it. */
  failed({ host, port }: PostgresHost): void {
    const chosen = this.#chosen;
    // Another one may have been chosen meanwhile.
    if (chosen?.host !== host || chosen.port !== port) return;
    this.#chosen = undefined;
    this.#order = [...this.#order.filter((other) => other !== chosen), chosen];
  }

  async #find(): Promise<PostgresHost> {
    const faults = new Map<PostgresHost, JournalFault>();
    for (const host of this.#order) {
      const { connectionString, connectTimeoutMs } = this.#url;
      const client = new Client({
        connectionString,
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: connectTimeoutMs,
        application_name: 'paygraph',
      });
      client.on('error', () => undefined);
      try {
        await Object.assign(client, host).connect();
        await this.check(client);
        this.#chosen = host;
        return host;
      } catch (error) {
        faults.set(host, faultOf(error));
      } finally {
        void client.end().catch(() => undefined);
      }
    }
    throw new FaultError(summary(this.#url.hosts.flatMap((host) => faults.get(host) ?? [])));
  }
}

const SESSION = `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS "readOnly"`;

const READ_ONLY: JournalFault = { reason: 'read_only', code: '25006', message: 'the server is read-only' };

/** One fault for those of all hosts: the one that most likely hides the primary. */
function summary(faults: readonly JournalFault[]): JournalFault {
  const primary =
    faults.find((fault) => fault.reason !== 'read_only' && !isPermanent(fault)) ??
    faults.find(({ reason }) => reason === 'read_only') ??
    faults[0];
  const each = faults.map(({ reason }, place) => `host ${place + 1} ${reason}`).join(', ');
  const { reason = 'other', code = null } = primary ?? {};
  return { reason, code, message: `no host in DATABASE_URL can be written: ${each}` };
}

/** A client that connects to the server in use, and only where its session fits. */
class HostClient extends Client {
  readonly #hosts: PostgresHosts;

  constructor(hosts: PostgresHosts, config?: ClientConfig) {
    super(config);
    this.#hosts = hosts;
    // The server may end the connection before its user listens; without a listener that ends the process.
    this.on('error', () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error | null, client?: Client) => void): void;
  override connect(callback?: (error: Error | null, client?: Client) => void): Promise<Client> | void {
    const connected = this.#connect();
    if (!callback) return connected;
    connected.then(
      () => callback(null, this),
      (error: Error) => callback(error),
    );
  }

  async #connect(): Promise<Client> {
    const host = await this.#hosts.choose();
    // The caller may have timed out meanwhile.
    if (this.connection.stream.destroyed) throw tookTooLong();
    if (host) Object.assign(this, host);
    try {
      await super.connect();
      await this.#hosts.check(this);
      return this;
    } catch (error) {
      if (host) this.#hosts.failed(host);
      void this.end().catch(() => undefined);
      throw error;
    }
  }
}
