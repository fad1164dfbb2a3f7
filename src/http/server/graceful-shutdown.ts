import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sleep } from '../../shared/timeout';
import { RequestError } from '../graphql/http-error';
import type { ClientConnection, Connections } from './connections';

/** An event loop iteration without a new connection counts as quiet when it is shorter than this. */
const QUIET_MS = 0.1;
/** How long the latest connections may take to send their request. */
const MAX_REQUEST_WAIT_MS = 1000;
const POLL_MS = 10;

export const SHUTTING_DOWN = new RequestError({
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'The gateway is shutting down; the request was not executed. Repeat it unchanged.',
  retryAfterMs: 1000,
});

/** Moves clients to other instances and closes connections without interrupting a request. */
export class GracefulShutdown {
  #accepted = 0;
  #draining = false;
  #closing = false;

  /** Must be created before the server listens. */
  constructor(
    private readonly app: FastifyInstance,
    private readonly connections: Connections,
  ) {
    app.server.on('connection', (socket: Socket) => {
      this.#accepted += 1;
      if (this.#closing) socket.destroy();
    });
    // Before Fastify's listener, which may respond synchronously.
    app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#onRequest(request.socket, response),
    );
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

  /** Sends `connection: close` with every response from now on, so that clients reconnect to other instances. */
  drain(): void {
    this.#draining = true;
    for (const { latest } of this.#httpConnections()) closeAfter(latest);
  }

  /**
   * Closes the listener and idle connections. Resolves when every accepted connection has sent its request, which is still
   * served. Waits at most `maxWaitMs` for a quiet moment to close the listener, and again for requests.
   */
  async stopAccepting(maxWaitMs: number): Promise<void> {
    const closeBy = performance.now() + maxWaitMs;
    // The kernel resets connections that are not accepted yet: close when there are hardly any.
    while (performance.now() < closeBy && !(await this.#isQuietIteration()));
    // Not http.Server.close(), which closes idle connections first and takes longer.
    Server.prototype.close.call(this.app.server);
    this.app.server.closeIdleConnections();
    const deadline = performance.now() + Math.min(maxWaitMs, MAX_REQUEST_WAIT_MS);
    while (this.#isAwaitingRequest() && performance.now() < deadline) await sleep(POLL_MS);
  }

  /** Connections other than WebSockets, which their own protocol closes. */
  #httpConnections(): ClientConnection[] {
    return [...this.connections.all()].filter(({ isUpgraded }) => !isUpgraded);
  }

  #onRequest(socket: Socket, response: ServerResponse): void {
    if (!this.#draining) return;
    const previous = this.connections.latestOn(socket);
    // A pipelined request: the connection must stay open until its response.
    if (previous && !previous.headersSent) previous.removeHeader('connection');
    closeAfter(response);
  }

  async #isQuietIteration(): Promise<boolean> {
    const { startedAt, accepted } = { startedAt: performance.now(), accepted: this.#accepted };
    await new Promise((resolve) => setImmediate(resolve));
    return accepted === this.#accepted && performance.now() - startedAt < QUIET_MS;
  }

  #isAwaitingRequest(): boolean {
    return this.#httpConnections().some(({ latest }) => !latest?.req.complete);
  }

  /** Destroys connections without a complete request, and closes the others after their latest response. */
  #closeConnections(): void {
    this.#closing = true;
    for (const { socket, latest, waiting } of this.#httpConnections()) {
      const isServing = waiting > 0 || (latest?.req.complete && !latest.writableFinished);
      if (isServing) closeAfter(latest);
      else socket.destroy();
    }
  }
}

function closeAfter(response: ServerResponse | undefined): void {
  if (response && !response.headersSent) response.setHeader('connection', 'close');
}
