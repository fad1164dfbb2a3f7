import { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Clock } from '../../shared/clock';
import type { PostgresHosts } from '../journal/postgres/hosts';

/** How long PostgreSQL may take to answer anything. */
const ANSWER_MS = 5_000;

interface ListenHandlers {
  message(text: string): void;
  /** It is of no use any more: said once, whatever the reason, also when it is ended. */
  broken(): void;
}

/** A connection to PostgreSQL that listens. What it cannot do, or not in time, breaks it; another takes its place. */
export class ListenConnection {
  readonly #clock: Clock;
  readonly #socket = new Socket();
  readonly #client: Client;
  readonly #hosts: PostgresHosts;

  /** Throws where the address is not one that can be used. */
  constructor(hosts: PostgresHosts, clock: Clock, heard: ListenHandlers) {
    this.#clock = clock;
    this.#hosts = hosts;
    this.#client = hosts.client({
      stream: () => this.#socket,
      keepAlive: true,
      application_name: 'paygraph',
    });
    this.#client.on('notification', ({ payload }) => heard.message(payload ?? ''));
    this.#client.on('error', () => this.#socket.destroy());
    this.#socket.once('close', () => heard.broken());
  }

  async listen(channel: string): Promise<void> {
    await this.#within(this.#client.connect());
    await this.ask(`LISTEN ${channel}`);
  }

  /** One thing at a time. */
  async ask(text: string, values: string[] = []): Promise<void> {
    await this.#within(this.#client.query(text, values));
  }

  /** Whether the server answers, and is still one that fits. */
  async check(): Promise<void> {
    await this.ask('SELECT 1');
    await this.#within(this.#hosts.check(this.#client));
  }

  /** At once: a server that does not answer is not asked for leave. */
  async end(): Promise<void> {
    if (this.#socket.closed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.destroy();
    await closed;
  }

  async #within(asked: Promise<unknown>): Promise<void> {
    const patience = this.#clock.after(ANSWER_MS, () => this.#socket.destroy());
    try {
      await asked;
    } catch (error) {
      this.#socket.destroy();
      throw error;
    } finally {
      patience.cancel();
    }
  }
}
