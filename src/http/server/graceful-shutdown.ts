import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { sleep } from '../../shared/timeout';
import { retryLaterError } from '../graphql/http-error';
import type { ClientConnection, Connections } from './connections';

/** Maximum duration, in ms, of an event loop iteration that counts as quiet if it also accepts no connection. */
const MAX_QUIET_ITERATION_MS = 0.1;
/** How long open connections may take to send their requests after the listener was closed, in milliseconds. */
const MAX_REQUEST_WAIT_MS = 1000;
const POLL_INTERVAL_MS = 10;

export const SHUTTING_DOWN_ERROR = retryLaterError('The gateway is shutting down');

/**
 * Shuts the web server down: completes the requests in flight, and refuses requests that arrive later, so that clients
 * repeat them elsewhere. Does not limit the total time: server.ts does (SHUTDOWN_GRACE_MS).
 */
export class GracefulShutdown {
  #acceptedConnectionCount = 0;
  /** Whether startDraining() was called. Responses then carry `connection: close`. */
  isDraining = false;
  #isClosing = false;

  /** Must be created before the server listens. */
  constructor(
    private readonly app: FastifyInstance,
    private readonly connections: Connections,
  ) {
    app.server.on('connection', (socket: Socket) => {
      this.#acceptedConnectionCount += 1;
      if (this.#isClosing) socket.destroy();
    });
    // Prepend the listener: Fastify's own listener may respond synchronously.
    app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#onRequest(request.socket, response),
    );
    app.addHook('onRequest', (_request, _reply, done) =>
      done(this.#isClosing ? SHUTTING_DOWN_ERROR : undefined),
    );
    app.addHook('preClose', async () => this.#closeConnections());
  }

  /**
   * From now on, sends `connection: close` with the last response of each connection, so that clients reconnect to
   * other instances.
   */
  startDraining(): void {
    this.isDraining = true;
    for (const { latestResponse } of this.#httpConnections()) closeConnectionAfter(latestResponse);
  }

  /**
   * Stops accepting connections. Waits up to `maxWaitMs` for a moment without new connections, then closes the listener
   * and idle connections. Then waits up to `maxWaitMs`, at most 1 s, for requests on the open connections.
   */
  async stopAccepting(maxWaitMs: number): Promise<void> {
    const quietDeadline = performance.now() + maxWaitMs;
    // Wait until hardly any connections are waiting to be accepted, because closing the listener resets them.
    while (performance.now() < quietDeadline && !(await this.#isNextIterationQuiet()));
    // Close the listener before the idle connections. http.Server.close() does the reverse, and connections that arrive
    // in between are reset.
    Server.prototype.close.call(this.app.server);
    this.app.server.closeIdleConnections();
    const requestArrivalDeadline = performance.now() + Math.min(maxWaitMs, MAX_REQUEST_WAIT_MS);
    const isAwaitingRequest = (): boolean =>
      this.#httpConnections().some(({ latestResponse }) => !latestResponse?.req.complete);
    while (isAwaitingRequest() && performance.now() < requestArrivalDeadline) await sleep(POLL_INTERVAL_MS);
  }

  /** Returns all connections except WebSockets, which WebSocketHandler closes. */
  #httpConnections(): ClientConnection[] {
    return [...this.connections.all()].filter(({ isUpgraded }) => !isUpgraded);
  }

  #onRequest(socket: Socket, response: ServerResponse): void {
    if (!this.isDraining) return;
    const previousResponse = this.connections.find(socket)?.latestResponse;
    // Send `connection: close` only with the last of pipelined responses, because the header ends the connection.
    if (previousResponse && !previousResponse.headersSent) previousResponse.removeHeader('connection');
    closeConnectionAfter(response);
  }

  async #isNextIterationQuiet(): Promise<boolean> {
    const connectionCountBefore = this.#acceptedConnectionCount;
    const startedAt = performance.now();
    await setImmediate();
    return (
      connectionCountBefore === this.#acceptedConnectionCount &&
      performance.now() - startedAt < MAX_QUIET_ITERATION_MS
    );
  }

  /** Destroys connections without a fully received request in flight. Closes the others after their latest response. */
  #closeConnections(): void {
    this.#isClosing = true;
    for (const { socket, latestResponse, waitingRequestCount } of this.#httpConnections()) {
      const hasRequestInProgress =
        waitingRequestCount > 0 || (latestResponse?.req.complete && !latestResponse.writableFinished);
      if (hasRequestInProgress) closeConnectionAfter(latestResponse);
      else socket.destroy();
    }
  }
}

function closeConnectionAfter(response: ServerResponse | undefined): void {
  if (response && !response.headersSent) response.setHeader('connection', 'close');
}
