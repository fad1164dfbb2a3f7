import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Refusal } from './refusal';

const LATEST = Symbol('latest response');

/** A connection, and the response to the latest request on it. */
interface Connection extends Socket {
  [LATEST]?: ServerResponse;
}

/** An event loop iteration shorter than this, in which no connection was accepted, counts as quiet. */
const QUIET_MS = 0.1;
/** How long connections that were accepted last may take to send their request. */
const MAX_REQUEST_WAIT_MS = 1000;
const POLL_MS = 10;

/** The gateway is being stopped, and this request came too late. */
export const SHUTTING_DOWN = new Refusal({
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'The gateway is shutting down.',
  retryAfterMs: 1000,
});

/** Moves clients to other instances, and closes the connections of a server without cutting off a request. */
export class GracefulShutdown {
  readonly #app: FastifyInstance;
  readonly #connections = new Set<Connection>();
  #accepted = 0;
  #draining = false;
  #closing = false;

  /** Must be created before the server listens. */
  constructor(app: FastifyInstance) {
    this.#app = app;
    app.server.on('connection', (socket: Socket) => this.#track(socket));
    // Before Fastify's listener, which may send the response at once.
    app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#onRequest(request.socket, response),
    );
    // WebSockets are closed by their own protocol.
    app.server.on('upgrade', ({ socket }: IncomingMessage) => this.#connections.delete(socket));
    app.addHook('onRequest', (_request, _reply, done) => done(this.#closing ? SHUTTING_DOWN : undefined));
    app.addHook('preClose', (done) => {
      this.#closeConnections();
      done();
    });
  }

  /** Whether responses close their connections. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** Sends `connection: close` with every response from now on, so that clients and proxies go elsewhere. */
  drain(): void {
    this.#draining = true;
    for (const { [LATEST]: response } of this.#connections) closeAfter(response);
  }

  /**
   * Closes the listener and the idle connections. Resolves when the connections that were accepted before have sent their
   * request; these requests are still served. Waits for `maxWaitMs` at most for a moment to close, and then for requests.
   */
  async stopAccepting(maxWaitMs: number): Promise<void> {
    const closeBy = performance.now() + maxWaitMs;
    // The kernel resets connections that are established but not accepted yet: close when there are hardly any.
    while (performance.now() < closeBy && !(await this.#isQuietIteration()));
    // Only the listener, and nothing before it: http.Server.close() would close idle connections first, which takes longer.
    Server.prototype.close.call(this.#app.server);
    this.#app.server.closeIdleConnections();
    const deadline = performance.now() + Math.min(maxWaitMs, MAX_REQUEST_WAIT_MS);
    while (this.#isAwaitingRequest() && performance.now() < deadline) await sleep(POLL_MS);
  }

  #track(socket: Connection): void {
    this.#accepted += 1;
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
    if (this.#closing) socket.destroy();
  }

  #onRequest(socket: Connection, response: ServerResponse): void {
    // Not until it has ended: a listener for the end of every response costs a fifth of a small request.
    const previous = socket[LATEST];
    socket[LATEST] = response;
    if (!this.#draining) return;
    // A pipelined request: the connection may not be closed before it has its response.
    if (previous && !previous.headersSent) previous.removeHeader('connection');
    closeAfter(response);
  }

  async #isQuietIteration(): Promise<boolean> {
    const { startedAt, accepted } = { startedAt: performance.now(), accepted: this.#accepted };
    await new Promise((resolve) => setImmediate(resolve));
    return accepted === this.#accepted && performance.now() - startedAt < QUIET_MS;
  }

  #isAwaitingRequest(): boolean {
    return [...this.#connections].some(({ [LATEST]: response }) => !response?.req.complete);
  }

  /** Destroys connections without a complete request, and closes the others after their response. */
  #closeConnections(): void {
    this.#closing = true;
    for (const socket of this.#connections) {
      const response = socket[LATEST];
      if (!response?.req.complete || response.writableFinished) socket.destroy();
      else closeAfter(response);
    }
  }
}

function closeAfter(response: ServerResponse | undefined): void {
  if (response && !response.headersSent) response.setHeader('connection', 'close');
}
