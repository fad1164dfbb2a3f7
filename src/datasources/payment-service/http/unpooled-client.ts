import { request } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector, util } from 'undici';
import type { Controller, Exchange } from './http-exchange';

export interface BodyRequest {
  method: 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends each request over a new HTTP/1.1 connection, closed after the response. An undici pool that reuses no connection
 * takes twice the processor time.
 */
export class UnpooledClient {
  readonly #connect: buildConnector.connector;
  readonly #target: buildConnector.Options;
  readonly #host: string;
  #inFlight = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor({ protocol, hostname, port, host }: URL, connectTimeoutMs: number) {
    // Resumes TLS sessions. Connections this short need no TCP keep-alive.
    this.#connect = buildConnector({ timeout: connectTimeoutMs, allowH2: false, keepAlive: false });
    this.#target = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, host };
    this.#host = host;
  }

  dispatch(message: BodyRequest, exchange: Exchange): void {
    if (this.#closed) return exchange.onResponseError(undefined, new Error('The client is closed.'));
    this.#inFlight += 1;
    this.#connect(this.#target, (error, socket) => {
      if (!socket) {
        this.#ended();
        return exchange.onResponseError(undefined, error);
      }
      socket.once('close', () => this.#ended());
      this.#send(message, socket, exchange);
    });
  }

  /** Rejects later requests; resolves when all connections are closed. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    if (this.#inFlight === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #send({ method, path, headers, body }: BodyRequest, socket: Socket, exchange: Exchange): void {
    const controller: Controller = { abort: () => void socket.destroy() };
    exchange.onRequestStart(controller);
    if (socket.destroyed) return;
    const fail = (error: Error): void => exchange.onResponseError(controller, error);
    // Node.js writes a list of headers unchanged, without processing each.
    const headerList = Object.entries({
      host: this.#host,
      connection: 'close',
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
    }).flat();
    try {
      request({ createConnection: () => socket, method, path, headers: headerList })
        .on('response', (response) => {
          const responseHeaders = util.parseHeaders(response.rawHeaders);
          exchange.onResponseStart(controller, response.statusCode ?? 0, responseHeaders);
          response.on('data', (chunk: Buffer) => exchange.onResponseData(controller, chunk));
          response.on('end', () => exchange.onResponseEnd());
          response.on('error', fail);
        })
        .on('error', fail)
        .end(body);
    } catch (error) {
      socket.destroy();
      fail(error instanceof Error ? error : new Error('The request cannot be sent.'));
    }
  }

  #ended(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#closed?.resolve();
  }
}
