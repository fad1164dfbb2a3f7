import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer, type Context, type Server } from 'graphql-ws';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import type { Authenticator } from '../../auth/authenticator';
import { AccessError } from '../../auth/caller';
import { isLoopbackHost, isOwnOrigin } from '../server/origin-check';
import { RequestError, accessRefusal } from '../graphql/http-error';
import { Connection } from './connection';
import type { Heartbeat } from './heartbeat';
import type { SubscriptionService, PreparedSubscription } from './subscription-service';
import { SubscriptionError } from './result-stream';
import type { QuotaLimiter } from './quota-limiter';

interface WebSocketOptions {
  live: SubscriptionService;
  authenticator: Authenticator;
  /** Connections, whether or not anything is subscribed to over them. */
  seats: QuotaLimiter;
  heartbeat: Heartbeat;
  /** Whether a page of this origin may connect; called only where a browser names one that is not the gateway's own. */
  isOriginAllowed(origin: string): boolean;
  /** Hears of a connection whose caller is not known. */
  unauthenticated(): void;
  /** Hears who is at the other end of a connection. */
  identified(transport: Socket, callerId: string): void;
  /** Hears of what should not have happened. */
  bug(error: unknown): void;
}

/** A reason to close has room for 123 bytes. */
const MAX_REASON = 120;
/** As much as a subscription may need to be asked for. */
const MAX_MESSAGE_BYTES = 100 * 1024;
/** Names of subscriptions are short. */
const MAX_ID = 256;
/** How long a client may take to say who it is. */
const INIT_TIMEOUT_MS = 5000;
/** How long clients may take to agree to the closing of their connections. */
const CLOSING_MS = 1000;

const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;

/** The types of ws do not know all that it can do. */
const SOCKETS: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  // It would cost every connection many times its memory, for messages of a few hundred bytes.
  perMessageDeflate: false,
  handleProtocols: (protocols) => handleProtocols(protocols),
  // Of many messages that come at once, one at a time: others want to be served in between.
  allowSynchronousEvents: false,
  closeTimeout: CLOSING_MS,
};

/** GraphQL over WebSocket (graphql-transport-ws): the subscriptions of one connection, which belongs to one caller. */
export class WebSocketHandler {
  readonly #options: WebSocketOptions;
  readonly #sockets = new WebSocketServer(SOCKETS);
  readonly #server: Server<Connection>;
  #closing = false;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    const { live } = options;
    this.#server = makeServer<Record<string, unknown>, Connection>({
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: (context) => this.#admit(context),
      onSubscribe: async ({ extra }, id, payload) => {
        const { caller, ip, socket } = extra;
        if (!caller) return socket.close(CloseCode.Unauthorized, 'Unauthorized');
        // It would go back with every result.
        if (id.length > MAX_ID) return socket.close(CloseCode.BadRequest, 'The id is too long.');
        // With another token another connection: the client asks for one when it connects again.
        if (!options.authenticator.isCurrent(caller)) closeExpired(socket);
        const prepared = await live.prepare(payload, { caller, ip });
        // The library keeps what was asked for as long as the subscription lasts.
        Reflect.set(payload, 'query', '');
        return 'schema' in prepared ? { ...prepared, connection: extra } : prepared;
      },
      subscribe: (args) => {
        const { connection, ...prepared } = args as PreparedSubscription & { connection: Connection };
        return connection.trackSubscription((over) => live.start(prepared, over));
      },
      // The library would keep the words of the first one only.
      onError: (_context, _id, _payload, errors) =>
        errors
          .flatMap((error) =>
            error.originalError instanceof SubscriptionError ? error.originalError.errors : [error],
          )
          .map((error) => error.toJSON()),
    });
  }

  /** Takes over a connection that asks for a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = this.#refuse(request);
    if (refusal !== undefined) {
      // Its client may never leave by itself.
      socket.once('finish', () => socket.destroy());
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#serve(opened, request));
  }

  /** So many connections are open. */
  get size(): number {
    return this.#sockets.clients.size;
  }

  /** Tells every client to go elsewhere, and resolves when they have gone. */
  async close(): Promise<void> {
    this.#closing = true;
    const gone = [...this.#sockets.clients].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of this.#sockets.clients) socket.close(GOING_AWAY, 'The gateway is shutting down.');
    const forceCloseTimer = setTimeout(() => this.abandon(), CLOSING_MS);
    await Promise.all(gone);
    clearTimeout(forceCloseTimer);
  }

  /** Ends the connections that are still open. */
  abandon(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** Why a connection is not taken, as a status of HTTP. */
  #refuse({ headers, headersDistinct }: IncomingMessage): string | undefined {
    if (this.#closing) return '503 Service Unavailable';
    if ((headersDistinct['authorization'] ?? []).length > 1) return '400 Bad Request';
    const { origin, host } = headers;
    if (this.#options.authenticator.isOpen && !isLoopbackHost(host)) return '403 Forbidden';
    // A page may not act in the name of whoever looks at it: browsers send no preflight before a WebSocket.
    const isForeign = origin !== undefined && !isOwnOrigin(origin, host);
    return isForeign && !this.#options.isOriginAllowed(origin) ? '403 Forbidden' : undefined;
  }

  #serve(socket: WebSocket, request: IncomingMessage): void {
    const { authenticator, heartbeat } = this.#options;
    const connection = new Connection(socket, request);
    const beatNoMore = heartbeat.add({
      beat: () => {
        const { caller } = connection;
        if (caller && !authenticator.isCurrent(caller)) closeExpired(socket);
        connection.ping();
      },
    });
    const closed = this.#server.opened(connection, connection);
    socket.once('close', (code, reason) => {
      beatNoMore();
      connection.ended();
      void closed(code, reason.toString());
    });
  }

  /** Finds out who is there. Returns false, after it has said why, where the connection is not kept. */
  async #admit(context: Context<Record<string, unknown>, Connection>): Promise<boolean> {
    const { connectionParams, extra } = context;
    const { authenticator, seats } = this.#options;
    try {
      const caller = await authenticator.identify(authorizationOf(connectionParams) ?? extra.authorization);
      // What lasts does so for as long as the token says, without the leeway that single calls have.
      if (!authenticator.isCurrent(caller)) throw new AccessError('BAD_CREDENTIALS', EXPIRED);
      if (extra.socket.readyState !== extra.socket.OPEN) return false;
      extra.giveBack = seats.acquire(caller.id);
      extra.caller = caller;
      this.#options.identified(extra.transport, caller.id);
      // Not kept for as long as the connection lasts.
      extra.authorization = undefined;
      Reflect.deleteProperty(context, 'connectionParams');
      return true;
    } catch (error) {
      if (error instanceof AccessError) this.#options.unauthenticated();
      const refusal = error instanceof AccessError ? accessRefusal(error) : error;
      if (!(refusal instanceof RequestError)) {
        this.#options.bug(error);
        throw error;
      }
      const { code, message, retryAfterMs } = refusal.facts;
      const closeCode = retryAfterMs === undefined ? CloseCode.Unauthorized : TRY_AGAIN_LATER;
      extra.socket.close(closeCode, `${code}: ${message}`.slice(0, MAX_REASON));
      return false;
    }
  }
}

const EXPIRED = 'The credentials are not good any more.';

/** Lets a client come back with other credentials: it makes another connection for them. */
const closeExpired = (socket: WebSocket): void =>
  socket.close(CloseCode.Forbidden, `UNAUTHENTICATED: ${EXPIRED}`);

/** Credentials in the payload of `connection_init`; the name is case-insensitive, as for a header. Throws an AccessError when two are given. */
function authorizationOf(params: Readonly<Record<string, unknown>> = {}): string | undefined {
  const given = Object.entries(params).filter(([name]) => name.toLowerCase() === 'authorization');
  if (given.length > 1) throw new AccessError('BAD_CREDENTIALS', 'There is more than one authorization.');
  const [[, text] = []] = given;
  return typeof text === 'string' ? text : undefined;
}
