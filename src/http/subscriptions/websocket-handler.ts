import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer, type Context, type Server } from 'graphql-ws';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import type { Authenticator } from '../../auth/authenticator';
import { AccessError } from '../../auth/caller';
import { isLoopbackHost, isOwnOrigin } from '../server/origin-check';
import { RequestError, toRequestError } from '../graphql/http-error';
import { Connection } from './connection';
import type { Heartbeat } from './heartbeat';
import {
  CREDENTIALS_EXPIRED,
  type PreparedSubscription,
  type SubscriptionService,
} from './subscription-service';
import { SubscriptionError } from './result-stream';
import type { QuotaLimiter } from './quota-limiter';

interface WebSocketOptions {
  service: SubscriptionService;
  authenticator: Authenticator;
  /** Of connections, with and without subscriptions. */
  quota: QuotaLimiter;
  heartbeat: Heartbeat;
  /** Whether a page of another origin may connect. */
  isOriginAllowed(origin: string): boolean;
  unauthenticated(): void;
  /** Called when a connection was authenticated. */
  identified(transport: Socket, callerId: string): void;
  /** Called for unexpected errors. */
  reportBug(error: unknown): void;
}

/** The protocol limits the reason of a close frame to 123 bytes. */
const MAX_REASON = 120;
const MAX_MESSAGE_BYTES = 100 * 1024;
/** Limit of subscription ids, which are repeated with every result. */
const MAX_ID_LENGTH = 256;
/** How long a client may take to send connection_init. */
const INIT_TIMEOUT_MS = 5000;
/** How long a client may take to answer a close frame. */
const CLOSE_TIMEOUT_MS = 1000;

const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;

/** closeTimeout is missing in the types of ws. */
const SERVER_OPTIONS: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  // Compression multiplies the memory of a connection.
  perMessageDeflate: false,
  handleProtocols: (protocols) => handleProtocols(protocols),
  // Other connections are served between two messages of one.
  allowSynchronousEvents: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

/** GraphQL over WebSocket (graphql-transport-ws). A connection belongs to one caller. */
export class WebSocketHandler {
  readonly #sockets = new WebSocketServer(SERVER_OPTIONS);
  readonly #server: Server<Connection>;
  #closing = false;

  constructor(private readonly options: WebSocketOptions) {
    const { service } = options;
    this.#server = makeServer<Record<string, unknown>, Connection>({
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: (context) => this.#authenticate(context),
      onSubscribe: async ({ extra }, id, payload) => {
        const { caller, ip, socket } = extra;
        if (!caller) return socket.close(CloseCode.Unauthorized, 'Unauthorized');
        if (id.length > MAX_ID_LENGTH) return socket.close(CloseCode.BadRequest, 'The id is too long.');
        // The client reconnects with a new token.
        if (!options.authenticator.isCurrent(caller)) closeExpired(socket);
        const prepared = await service.prepare(payload, { caller, ip });
        // graphql-ws keeps the payload as long as the subscription lasts.
        Reflect.set(payload, 'query', '');
        return 'schema' in prepared ? { ...prepared, connection: extra } : prepared;
      },
      subscribe: (args) => {
        const { connection, ...prepared } = args as PreparedSubscription & { connection: Connection };
        return connection.trackSubscription((onEnd) => service.start(prepared, onEnd));
      },
      // graphql-ws would send the message of the SubscriptionError only.
      onError: (_context, _id, _payload, errors) =>
        errors
          .flatMap((error) =>
            error.originalError instanceof SubscriptionError ? error.originalError.errors : [error],
          )
          .map((error) => error.toJSON()),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const rejection = this.#rejectionOf(request);
    if (rejection !== undefined) {
      // The client may never close the connection.
      socket.once('finish', () => socket.destroy());
      socket.end(`HTTP/1.1 ${rejection}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#serve(opened, request));
  }

  get size(): number {
    return this.#sockets.clients.size;
  }

  /** Closes all connections, so that clients reconnect to other instances. Resolves when they are closed. */
  async close(): Promise<void> {
    this.#closing = true;
    const closed = [...this.#sockets.clients].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of this.#sockets.clients) socket.close(GOING_AWAY, 'The gateway is shutting down.');
    const forceCloseTimer = setTimeout(() => this.abandon(), CLOSE_TIMEOUT_MS);
    await Promise.all(closed);
    clearTimeout(forceCloseTimer);
  }

  abandon(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** The HTTP status with which an upgrade request is rejected; undefined when it is accepted. */
  #rejectionOf({ headers, headersDistinct }: IncomingMessage): string | undefined {
    if (this.#closing) return '503 Service Unavailable';
    if ((headersDistinct['authorization'] ?? []).length > 1) return '400 Bad Request';
    const { origin, host } = headers;
    if (this.options.authenticator.isOpen && !isLoopbackHost(host)) return '403 Forbidden';
    // Browsers send no CORS preflight before a WebSocket.
    const isForeign = origin !== undefined && !isOwnOrigin(origin, host);
    return isForeign && !this.options.isOriginAllowed(origin) ? '403 Forbidden' : undefined;
  }

  #serve(socket: WebSocket, request: IncomingMessage): void {
    const { authenticator, heartbeat } = this.options;
    const connection = new Connection(socket, request);
    const stopPinging = heartbeat.add(() => {
      const { caller } = connection;
      if (caller && !authenticator.isCurrent(caller)) closeExpired(socket);
      connection.ping();
    });
    const closed = this.#server.opened(connection, connection);
    socket.once('close', (code, reason) => {
      stopPinging();
      connection.onClosed();
      void closed(code, reason.toString());
    });
  }

  /** Authenticates a connection. Closes it and returns false when that fails. */
  async #authenticate(context: Context<Record<string, unknown>, Connection>): Promise<boolean> {
    const { connectionParams, extra } = context;
    const { authenticator, quota } = this.options;
    try {
      const caller = await authenticator.identify(authorizationOf(connectionParams) ?? extra.authorization);
      // Without the leeway that single requests have.
      if (!authenticator.isCurrent(caller)) throw new AccessError('BAD_CREDENTIALS', CREDENTIALS_EXPIRED);
      if (extra.socket.readyState !== extra.socket.OPEN) return false;
      extra.release = quota.acquire(caller.id);
      extra.caller = caller;
      this.options.identified(extra.transport, caller.id);
      // Credentials are not kept in memory.
      extra.authorization = undefined;
      Reflect.deleteProperty(context, 'connectionParams');
      return true;
    } catch (error) {
      if (error instanceof AccessError) this.options.unauthenticated();
      const rejection = error instanceof AccessError ? toRequestError(error) : error;
      if (!(rejection instanceof RequestError)) {
        this.options.reportBug(error);
        throw error;
      }
      const { code, message, retryAfterMs } = rejection.options;
      const closeCode = retryAfterMs === undefined ? CloseCode.Unauthorized : TRY_AGAIN_LATER;
      extra.socket.close(closeCode, `${code}: ${message}`.slice(0, MAX_REASON));
      return false;
    }
  }
}

/** The client reconnects with new credentials. */
const closeExpired = (socket: WebSocket): void =>
  socket.close(CloseCode.Forbidden, `UNAUTHENTICATED: ${CREDENTIALS_EXPIRED}`);

/** Credentials in the payload of connection_init, by a case-insensitive name. Throws an AccessError for more than one. */
function authorizationOf(params: Readonly<Record<string, unknown>> = {}): string | undefined {
  const given = Object.entries(params).filter(([name]) => name.toLowerCase() === 'authorization');
  if (given.length > 1) throw new AccessError('BAD_CREDENTIALS', 'There is more than one authorization.');
  const [[, text] = []] = given;
  return typeof text === 'string' ? text : undefined;
}
