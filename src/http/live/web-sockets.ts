import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer, type Context, type Server } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Authenticator } from '../../access/authenticator';
import { AccessError, type Caller } from '../../access/caller';
import { Refusal, accessRefusal } from '../refusal';
import type { Heartbeat } from './heartbeat';
import type { LiveOperations, Prepared } from './live-operations';
import { StreamFault } from './result-stream';
import type { Seats } from './seats';

interface WebSocketOptions {
  live: LiveOperations;
  authenticator: Authenticator;
  /** Connections, whether or not anything is subscribed to over them. */
  seats: Seats;
  heartbeat: Heartbeat;
  /** Whether a page of this origin may connect; called only where a browser names one that is not the gateway's own. */
  isOriginAllowed(origin: string): boolean;
  /** Hears of what should not have happened. */
  bug(error: unknown): void;
}

/** What is known of a connection. */
interface Connection {
  ip: string;
  /** The Authorization header of the request, for clients that can set one. */
  authorization: string | undefined;
  /** Who is at the other end, once that is known. */
  caller?: Caller;
  giveBack?: () => void;
  socket: WebSocket;
}

/** A reason to close has room for 123 bytes. */
const MAX_REASON = 120;
/** As much as a subscription may need to be asked for. */
const MAX_MESSAGE_BYTES = 100 * 1024;
/** More than any honest client leaves unread while it goes on asking. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** How long a client may take to say who it is. */
const INIT_TIMEOUT_MS = 5000;
/** How long clients may take to agree to the closing of their connections. */
const CLOSING_MS = 1000;

const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;

/** GraphQL over WebSocket (graphql-transport-ws): the subscriptions of one connection, which belongs to one caller. */
export class WebSockets {
  readonly #options: WebSocketOptions;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // It would cost every connection many times its memory, for messages of a few hundred bytes.
    perMessageDeflate: false,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  readonly #server: Server<Connection>;
  #closing = false;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    const { live } = options;
    this.#server = makeServer<Record<string, unknown>, Connection>({
      connectionInitWaitTimeout: INIT_TIMEOUT_MS,
      onConnect: (context) => this.#admit(context),
      onSubscribe: async ({ extra }, _id, payload) => {
        const { caller, ip, socket } = extra;
        if (!caller) return socket.close(CloseCode.Unauthorized, 'Unauthorized');
        // With another token another connection: the client asks for one when it connects again.
        if (!options.authenticator.isCurrent(caller)) leave(socket);
        return live.prepare(payload, { caller, ip });
      },
      subscribe: (prepared) => live.start(prepared as Prepared),
      // The library would keep the words of the first one only.
      onError: (_context, _id, _payload, errors) =>
        errors
          .flatMap((error) =>
            error.originalError instanceof StreamFault ? error.originalError.errors : [error],
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

  /** Tells every client to go elsewhere, and resolves when they have gone. */
  async close(): Promise<void> {
    this.#closing = true;
    const gone = [...this.#sockets.clients].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of this.#sockets.clients) socket.close(GOING_AWAY, 'The gateway is shutting down.');
    const impatience = setTimeout(() => this.abandon(), CLOSING_MS);
    await Promise.all(gone);
    clearTimeout(impatience);
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
    // A page may not act in the name of whoever looks at it: browsers send no preflight before a WebSocket.
    const isForeign = origin !== undefined && hostOf(origin) !== host;
    return isForeign && !this.#options.isOriginAllowed(origin) ? '403 Forbidden' : undefined;
  }

  #serve(socket: WebSocket, { headers, socket: { remoteAddress = '' } }: IncomingMessage): void {
    const connection: Connection = { socket, ip: remoteAddress, authorization: headers.authorization };
    let isThere = true;
    const beatNoMore = this.#options.heartbeat.add({
      beat: () => {
        if (!isThere) return socket.terminate();
        const { caller } = connection;
        if (caller && !this.#options.authenticator.isCurrent(caller)) leave(socket);
        isThere = false;
        socket.ping();
      },
    });
    const closed = this.#server.opened(
      {
        protocol: socket.protocol,
        // Resolves when it has left: until then the next result waits, and is replaced by newer ones.
        send: (text) =>
          new Promise((resolve) => {
            socket.send(text, () => resolve());
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data: Buffer) => {
            // It asks and does not read: what it is to be told may not pile up.
            if (socket.bufferedAmount > MAX_UNREAD_BYTES) return socket.terminate();
            isThere = true;
            handle(data.toString()).catch(() =>
              socket.close(CloseCode.InternalServerError, 'Internal error'),
            );
          }),
      },
      connection,
    );
    socket.on('pong', () => {
      isThere = true;
    });
    // A client that breaks the protocol: its connection is closed, and the reason is its own affair.
    socket.on('error', () => undefined);
    socket.once('close', (code, reason) => {
      beatNoMore();
      connection.giveBack?.();
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
      extra.giveBack = seats.take(caller.id);
      extra.caller = caller;
      // Not kept for as long as the connection lasts.
      extra.authorization = undefined;
      Reflect.deleteProperty(context, 'connectionParams');
      return true;
    } catch (error) {
      const refusal = error instanceof AccessError ? accessRefusal(error) : error;
      if (!(refusal instanceof Refusal)) {
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
const leave = (socket: WebSocket): void => socket.close(CloseCode.Forbidden, `UNAUTHENTICATED: ${EXPIRED}`);

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** What a client gave as its credentials; the name in any case, as it is that of a header. */
function authorizationOf(params: Readonly<Record<string, unknown>> = {}): string | undefined {
  const given = Object.entries(params).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  return typeof given === 'string' ? given : undefined;
}
