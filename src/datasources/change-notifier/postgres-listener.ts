import { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Clock } from '../../shared/clock';
import type { PostgresHostChooser } from '../journal/postgres/hosts';

/** Time limit in ms for connecting, and for each query. */
const QUERY_TIMEOUT_MS = 5_000;

interface ListenHandlers {
  /** Called with the payload of each notification, or with '' if the notification has none. */
  onMessage(payload: string): void;
  /** Called once, when the connection has closed for any reason. */
  onClose(): void;
}

/** A connection to PostgreSQL for LISTEN/NOTIFY. Closes at the first error or timeout. Does not reconnect. */
export class ListenConnection {
  readonly #socket = new Socket();
  readonly #client: Client;

  /** Does not connect; listen() does. Throws if a certificate file that the connection string names cannot be read. */
  constructor(
    private readonly hostChooser: PostgresHostChooser,
    private readonly clock: Clock,
    handlers: ListenHandlers,
  ) {
    this.#client = hostChooser.createClient({ stream: () => this.#socket });
    this.#client.on('notification', ({ payload }) => handlers.onMessage(payload ?? ''));
    this.#client.on('error', () => this.#socket.destroy());
    this.#socket.once('close', () => handlers.onClose());
  }

  async listen(notifyChannel: string): Promise<void> {
    await this.#closeOnFailure(this.#client.connect());
    await this.query(`LISTEN ${notifyChannel}`);
  }

  async query(sqlText: string, values: string[] = []): Promise<void> {
    await this.#closeOnFailure(this.#client.query(sqlText, values));
  }

  /**
   * Checks that the host responds and satisfies `target_session_attrs` of the connection string. If it does not, closes
   * the connection and rejects.
   */
  async check(): Promise<void> {
    await this.query('SELECT 1');
    await this.#closeOnFailure(this.hostChooser.checkSession(this.#client));
  }

  /** Closes the connection immediately, without waiting for queries in flight. Resolves when it is closed. */
  async end(): Promise<void> {
    if (this.#socket.closed) return;
    const closePromise = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.destroy();
    await closePromise;
  }

  async #closeOnFailure(operationPromise: Promise<unknown>): Promise<void> {
    const timer = this.clock.after(QUERY_TIMEOUT_MS, () => this.#socket.destroy());
    try {
      await operationPromise;
    } catch (error) {
      this.#socket.destroy();
      throw error;
    } finally {
      timer.cancel();
    }
  }
}
