import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer, type Context, type Server } from 'graphql-ws';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import { AccessError } from '../../auth/caller';
import type { GraphqlDependencies } from '../graphql/dependencies';
import { errorNameAndFrames } from '../graphql/graphql-errors';
import { RequestError, toRequestError } from '../graphql/http-error';
import { hasForeignOrigin, isLoopbackHost } from '../server/origin-check';
import { WebSocketConnection } from './connection';
import type { QuotaLimiter } from '../limits/quota-limiter';
import { SubscriptionError } from './result-stream';
import type { SharedTimer } from './shared-timer';
import {
  INVALID_CREDENTIALS_MESSAGE,
  invalidCredentialsError,
  type PreparedSubscription,
  type SubscriptionService,
} from './subscription-service';

interface WebSocketOptions {
  subscriptionService: SubscriptionService;
  /** Limits the number of authenticated connections, with and without subscriptions. */
  connectionQuota: QuotaLimiter;
  /** Calls the functions that send pings to open connections. */
  heartbeatTimer: SharedTimer;
}

/** Maximum length of the reason in a close frame. WebSocket (RFC 6455) allows 123 bytes. */
const MAX_CLOSE_REASON_LENGTH = 120;
const MAX_MESSAGE_BYTES = 100 * 1024;
/** Maximum length of a subscription id, which is repeated with every result. */
const MAX_SUBSCRIPTION_ID_LENGTH = 256;
/** How long a client may take to send connection_init, in milliseconds. */
const CONNECTION_INIT_TIMEOUT_MS = 5000;
/** How long a client may take to respond to a close frame, in milliseconds. After that, ws destroys the connection. */
const CLOSE_FRAME_TIMEOUT_MS = 1000;

/** Standard WebSocket close codes that graphql-ws does not declare. */
const TRY_AGAIN_LATER_CLOSE_CODE = 1013;
const GOING_AWAY_CLOSE_CODE = 1001;

/** Options of ws, whose types lack `closeTimeout`. */
const WEBSOCKET_SERVER_OPTIONS: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  // Compression multiplies the memory of a connection.
  perMessageDeflate: false,
  handleProtocols: (protocols) => handleProtocols(protocols),
  // Let the event loop serve other connections between two messages of one connection.
  allowSynchronousEvents: false,
  closeTimeout: CLOSE_FRAME_TIMEOUT_MS,
};

/** Serves subscriptions over WebSocket (graphql-transport-ws). Each connection belongs to one caller. */
export class WebSocketHandler {
  readonly #webSocketServer = new WebSocketServer(WEBSOCKET_SERVER_OPTIONS);
  readonly #graphqlServer: Server<WebSocketConnection>;
  #isClosing = false;

  constructor(
    private readonly dependencies: GraphqlDependencies,
    private readonly options: WebSocketOptions,
  ) {
    const { subscriptionService } = options;
    this.#graphqlServer = makeServer<Record<string, unknown>, WebSocketConnection>({
      connectionInitWaitTimeout: CONNECTION_INIT_TIMEOUT_MS,
      onConnect: (context) => this.#authenticate(context),
      onSubscribe: async ({ extra }, subscriptionId, payload) => {
        const { caller, ip, webSocket } = extra;
        if (!caller) return webSocket.close(CloseCode.Unauthorized, 'Unauthorized');
        const closeReason = `The id of the subscribe message has more than ${MAX_SUBSCRIPTION_ID_LENGTH} characters.`;
        if (subscriptionId.length > MAX_SUBSCRIPTION_ID_LENGTH)
          return webSocket.close(CloseCode.BadRequest, closeReason);
        if (!dependencies.authenticator.areCredentialsStillValid(caller))
          closeForInvalidCredentials(webSocket);
        const preparedOrErrors = await subscriptionService.prepare(payload, {
          caller,
          ip,
          requestId: randomUUID(),
        });
        // Free the payload: graphql-ws keeps it in memory as long as the subscription lasts.
        for (const name of Object.keys(payload)) Reflect.deleteProperty(payload, name);
        return 'schema' in preparedOrErrors ? { ...preparedOrErrors, connection: extra } : preparedOrErrors;
      },
      subscribe: (args) => {
        const { connection, ...preparedSubscription } = args as PreparedSubscription & {
          connection: WebSocketConnection;
        };
        const stream = subscriptionService.start(preparedSubscription, () =>
          connection.resultStreams.delete(stream),
        );
        connection.resultStreams.add(stream);
        return stream;
      },
      // Send all errors of a SubscriptionError. By default, graphql-ws would send only its message.
      onError: (_context, _id, _payload, errors) =>
        errors
          .flatMap((error) =>
            error.originalError instanceof SubscriptionError ? error.originalError.errors : error,
          )
          .map((error) => error.toJSON()),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const rejectionStatus = this.#rejectionStatusLine(request);
    if (rejectionStatus !== undefined) {
      // Destroy the socket of the rejected upgrade: the client may never close it.
      socket.once('finish', () => socket.destroy());
      socket.end(`HTTP/1.1 ${rejectionStatus}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#webSocketServer.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, request));
  }

  get openCount(): number {
    return this.#webSocketServer.clients.size;
  }

  /** Closes all connections, so that clients reconnect to other instances. Resolves when they are closed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closePromises = [...this.#webSocketServer.clients].map(
      (webSocket) => new Promise((resolve) => webSocket.once('close', resolve)),
    );
    for (const webSocket of this.#webSocketServer.clients)
      webSocket.close(GOING_AWAY_CLOSE_CODE, 'The gateway is shutting down.');
    await Promise.all(closePromises);
  }

  /** Terminates all connections without a close frame. */
  terminateAll(): void {
    for (const webSocket of this.#webSocketServer.clients) webSocket.terminate();
  }

  /** Returns the HTTP status with which an upgrade request is rejected; undefined if it is accepted. */
  #rejectionStatusLine({ headers, headersDistinct }: IncomingMessage): string | undefined {
    if (this.#isClosing) return '503 Service Unavailable';
    if ((headersDistinct['authorization'] ?? []).length > 1) return '400 Bad Request';
    const { authenticator, corsOrigins } = this.dependencies;
    if (authenticator.isDisabled && !isLoopbackHost(headers.host)) return '403 Forbidden';
    return hasForeignOrigin(headers, corsOrigins) ? '403 Forbidden' : undefined;
  }

  #serve(webSocket: WebSocket, request: IncomingMessage): void {
    const { authenticator } = this.dependencies;
    const connection = new WebSocketConnection(webSocket, request);
    const stopPinging = this.options.heartbeatTimer.addCallback(() => {
      const { caller } = connection;
      if (caller && !authenticator.areCredentialsStillValid(caller)) closeForInvalidCredentials(webSocket);
      connection.ping();
    });
    const notifyClosed = this.#graphqlServer.opened(connection, connection);
    webSocket.once('close', (closeCode, closeReason) => {
      stopPinging();
      connection.releaseResources();
      void notifyClosed(closeCode, closeReason.toString());
    });
  }

  /** Authenticates a connection. If authentication fails or a quota is used up, closes it and returns false. */
  async #authenticate(context: Context<Record<string, unknown>, WebSocketConnection>): Promise<boolean> {
    const { connectionParams, extra } = context;
    const { authenticator, connections, log, onUnauthenticated } = this.dependencies;
    try {
      const authorization = authorizationOf(connectionParams) ?? extra.authorization;
      const caller = await authenticator.authenticate(authorization);
      // Reject a token as soon as it has expired. authenticate() accepts it 30 s longer, because clocks may differ.
      if (!authenticator.areCredentialsStillValid(caller)) throw invalidCredentialsError();
      if (extra.webSocket.readyState !== extra.webSocket.OPEN) return false;
      extra.releaseQuota = this.options.connectionQuota.acquire(caller.id);
      extra.caller = caller;
      connections.setCaller(extra.tcpSocket, caller.id);
      // Remove the credentials from memory.
      extra.authorization = undefined;
      Reflect.deleteProperty(context, 'connectionParams');
      return true;
    } catch (error) {
      if (error instanceof AccessError) onUnauthenticated();
      const requestError = error instanceof AccessError ? toRequestError(error) : error;
      if (!(requestError instanceof RequestError)) {
        log.error(
          errorNameAndFrames(error),
          'unexpected error while authenticating a WebSocket connection; the connection is closed (bug: please report it)',
        );
        throw error;
      }
      const { code, message, publicExtensions } = requestError;
      const closeCode = publicExtensions.retryable ? TRY_AGAIN_LATER_CLOSE_CODE : CloseCode.Unauthorized;
      extra.webSocket.close(closeCode, `${code}: ${message}`.slice(0, MAX_CLOSE_REASON_LENGTH));
      return false;
    }
  }
}

/** Closes a connection whose credentials are no longer valid, so that the client reconnects with new ones. */
const closeForInvalidCredentials = (webSocket: WebSocket): void =>
  webSocket.close(CloseCode.Forbidden, `UNAUTHENTICATED: ${INVALID_CREDENTIALS_MESSAGE}`);

/** Returns the credentials in the payload of connection_init, if any. Throws an AccessError if there are several. */
function authorizationOf(connectionParams: Readonly<Record<string, unknown>> = {}): string | undefined {
  const entries = Object.entries(connectionParams).filter(([name]) => name.toLowerCase() === 'authorization');
  if (entries.length > 1)
    throw new AccessError('BAD_CREDENTIALS', 'connection_init has several credentials.');
  const [[, authorization] = []] = entries;
  return typeof authorization === 'string' ? authorization : undefined;
}
