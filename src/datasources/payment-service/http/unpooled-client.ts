import { request } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector, util, type Dispatcher } from 'undici';

/** What an exchange can do to its connection. */
export type Controller = Pick<Dispatcher.DispatchController, 'abort'>;

/** Who hears what becomes of a request; the part of undici's handler that is used here. */
export interface ResponseHandler {
  /** Called when a connection is there, before the first byte is written. */
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: Headers): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  /** The request has failed; may also be called after it was aborted. */
  onResponseError(controller: Controller | undefined, error: Error): void;
}

type Headers = Record<string, string | string[] | undefined>;

/** A request, and the characters of its body. */
export interface BodyRequest {
  method: 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends each request over a connection of its own, HTTP/1.1, closed after the answer. A pool that is told to use no
 * connection twice does the same at twice the processor time: it is made for those that are kept.
 */
export class UnpooledClient {
  readonly #connect: buildConnector.connector;
  readonly #target: buildConnector.Options;
  readonly #host: string;
  #underWay = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  /** @param connectTimeoutMs how long connecting may take, in milliseconds */
  constructor({ protocol, hostname, port, host }: URL, connectTimeoutMs: number) {
    // TLS sessions are resumed; a connection so short is not probed for being alive.
    this.#connect = buildConnector({ timeout: connectTimeoutMs, allowH2: false, keepAlive: false });
    this.#target = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, host };
    this.#host = host;
  }

  dispatch(given: BodyRequest, handler: ResponseHandler): void {
    if (this.#closed) return handler.onResponseError(undefined, new Error('It is closed.'));
    this.#underWay += 1;
    this.#connect(this.#target, (error, socket) => {
      if (!socket) {
        this.#ended();
        return handler.onResponseError(undefined, error);
      }
      socket.once('close', () => this.#ended());
      this.#send(given, socket, handler);
    });
  }

  /** Refuses what comes from now on; resolves when all connections are closed. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    if (this.#underWay === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #send({ method, path, headers, body }: BodyRequest, socket: Socket, handler: ResponseHandler): void {
    const controller: Controller = { abort: () => void socket.destroy() };
    handler.onRequestStart(controller);
    if (socket.destroyed) return;
    const failed = (error: Error): void => handler.onResponseError(controller, error);
    try {
      request({
        createConnection: () => socket,
        method,
        path,
        // In a list they are written as they are, and not looked through once more.
        headers: Object.entries({
          host: this.#host,
          connection: 'close',
          ...headers,
          'content-length': String(Buffer.byteLength(body)),
        }).flat(),
      })
        .on('response', (response) => {
          handler.onResponseStart(
            controller,
            response.statusCode ?? 0,
            util.parseHeaders(response.rawHeaders),
          );
          response.on('data', (chunk: Buffer) => handler.onResponseData(controller, chunk));
          response.on('end', () => handler.onResponseEnd());
          response.on('error', failed);
        })
        .on('error', failed)
        .end(body);
    } catch (error) {
      socket.destroy();
      failed(error instanceof Error ? error : new Error('The request cannot be sent.'));
    }
  }

  #ended(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#closed?.resolve();
  }
}
