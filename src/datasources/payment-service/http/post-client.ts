import { Agent, request, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { buildConnector, util } from 'undici';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import type { Controller, Exchange } from './http-exchange';
import { StandbyConnections } from './standby-connections';

/** An idle connection is closed after this time: most services keep idle connections for several seconds. */
const MAX_IDLE_MS = 1000;

/** A connection is not reused before this time: a service that closes it after its response has then been noticed. */
const MIN_IDLE_MS = 5;

type OnSocket = (error: Error | null, socket: Duplex) => void;

/** Connections for creates and confirms: recently used, else opened ahead of need, else new (ADR 19). */
class PostAgent extends Agent {
  readonly #connect: (callback: buildConnector.Callback) => void;
  readonly #standby: StandbyConnections;

  constructor({ protocol, hostname, port, host }: URL, connectTimeoutMs: number) {
    super({ keepAlive: true, scheduling: 'lifo', timeout: MAX_IDLE_MS });
    // Resumes TLS sessions. Connections this short need no TCP keep-alive.
    const connect = buildConnector({ timeout: connectTimeoutMs, allowH2: false, keepAlive: false });
    const target = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, host };
    this.#connect = (callback) => connect(target, callback);
    this.#standby = new StandbyConnections(this.#connect);
  }

  override createConnection(_options: ClientRequestArgs, onSocket: OnSocket): undefined {
    const standby = this.#standby.take();
    if (standby) onSocket(null, standby);
    // After an error Node.js does not read the second argument.
    else this.#connect((...[error, socket]) => onSocket(error, socket as Duplex));
  }

  /** Delays the event with which Node.js releases a connection for the next request. */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== 'free') return super.emit(event, ...values);
    setTimeout(() => super.emit(event, ...values), MIN_IDLE_MS);
    return true;
  }

  /** Whether Node.js may reuse the connection of a response. Node.js itself applies `timeout` of the Keep-Alive header. */
  override keepSocketAlive(socket: Duplex): boolean {
    const { res } = (socket as { _httpMessage?: { res?: IncomingMessage } })._httpMessage ?? {};
    const [, requestsLeft = '1'] = /\bmax=(\d+)/.exec(String(res?.headers['keep-alive'])) ?? [];
    // Its type lacks the result.
    const mayReuse: unknown = super.keepSocketAlive(socket);
    return requestsLeft !== '0' && mayReuse === true;
  }

  override destroy(): void {
    this.#standby.close();
    super.destroy();
  }
}

export interface PostRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends creates and confirms over HTTP/1.1 connections that are hardly ever closed while a request is written to them. */
export class PostClient {
  readonly #agent: PostAgent;
  readonly #host: string;
  readonly #inFlight = new InFlightCounter();
  #isClosed = false;

  constructor(base: URL, connectTimeoutMs: number) {
    this.#agent = new PostAgent(base, connectTimeoutMs);
    this.#host = base.host;
  }

  dispatch(message: PostRequest, exchange: Exchange): void {
    if (this.#isClosed) return exchange.onResponseError(undefined, new Error('The client is closed.'));
    void this.#inFlight.track(this.#send(message, exchange));
  }

  /** Rejects later requests; resolves when those in flight have ended and all connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inFlight.drained();
    this.#agent.destroy();
  }

  /** Resolves when the request has ended. Never rejects. */
  #send({ path, headers, body }: PostRequest, exchange: Exchange): Promise<void> {
    // Node.js writes a list of headers unchanged, without processing each.
    const headerList = Object.entries({
      host: this.#host,
      connection: 'keep-alive',
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
    }).flat();
    return new Promise((resolve) => {
      const message = request({ agent: this.#agent, method: 'POST', path, headers: headerList });
      const controller: Controller = { abort: () => void message.destroy() };
      const fail = (error: Error): void => exchange.onResponseError(controller, error);
      message
        .on('socket', () => {
          // Aborts a request whose deadline has passed before anything is written.
          exchange.onRequestStart(controller);
          if (!message.destroyed) message.end(body);
        })
        .on('response', (response) => {
          const responseHeaders = util.parseHeaders(response.rawHeaders);
          exchange.onResponseStart(controller, response.statusCode ?? 0, responseHeaders);
          response.on('data', (chunk: Buffer) => exchange.onResponseData(controller, chunk));
          response.on('end', () => exchange.onResponseEnd());
          response.on('error', fail);
        })
        .on('error', fail)
        .on('close', resolve);
    });
  }
}
