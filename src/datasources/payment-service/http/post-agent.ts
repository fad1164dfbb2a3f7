import { Agent, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { buildConnector } from 'undici';
import { StandbyConnections } from './standby-connections';

/** Time in ms after which an idle connection is closed. Most services keep idle connections for longer. */
const MAX_IDLE_MS = 1000;

/** Time in ms for which a connection is not reused after a response, because the service may be closing it. */
const REUSE_DELAY_MS = 5;

type OnSocket = (error: Error | null, socket: Duplex) => void;

/** Agent for creates and confirms. Uses an idle connection, else one opened in advance, else a new one (ADR 19). */
export class PostAgent extends Agent {
  readonly #connect: (callback: buildConnector.Callback) => void;
  readonly #standbyConnections: StandbyConnections;

  constructor({ protocol, hostname, port, host }: URL, connectTimeoutMs: number) {
    super({ keepAlive: true, scheduling: 'lifo', timeout: MAX_IDLE_MS });
    // buildConnector() resumes TLS sessions. TCP keep-alive is off: these connections are short-lived.
    const connector = buildConnector({ timeout: connectTimeoutMs, allowH2: false, keepAlive: false });
    const serviceAddress = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, host };
    this.#connect = (onConnect) => connector(serviceAddress, onConnect);
    this.#standbyConnections = new StandbyConnections(this.#connect);
  }

  override createConnection(_options: ClientRequestArgs, onSocket: OnSocket): undefined {
    const standbySocket = this.#standbyConnections.take();
    if (standbySocket) onSocket(null, standbySocket);
    // Node.js ignores the second argument if there is an error.
    else this.#connect((...[error, socket]) => onSocket(error, socket as Duplex));
  }

  /** Delays the event `free` by REUSE_DELAY_MS. After this event, Node.js may reuse the connection. */
  override emit(eventName: string | symbol, ...eventArguments: unknown[]): boolean {
    if (eventName !== 'free') return super.emit(eventName, ...eventArguments);
    setTimeout(() => super.emit(eventName, ...eventArguments), REUSE_DELAY_MS);
    return true;
  }

  /** Whether a connection may be reused. Checks `max` of the Keep-Alive header; the superclass checks `timeout`. */
  override keepSocketAlive(socket: Duplex): boolean {
    const { res } = (socket as { _httpMessage?: { res?: IncomingMessage } })._httpMessage ?? {};
    const [, requestsLeft = '1'] = /\bmax=(\d+)/.exec(String(res?.headers['keep-alive'])) ?? [];
    // The type declaration of keepSocketAlive lacks the boolean result.
    const mayReuse: unknown = super.keepSocketAlive(socket);
    return requestsLeft !== '0' && mayReuse === true;
  }

  override destroy(): void {
    this.#standbyConnections.close();
    super.destroy();
  }
}
