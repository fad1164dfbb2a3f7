import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressMatcher, clientNetwork } from './client-address';
import { ConnectionRefuser } from './connection-refuser';

/**
 * Why a connection is refused:
 * - `limit`: there are too many connections in total
 * - `address_limit`: there are too many connections from one network
 * - `dropped`: one of the reasons above. The connection is reset without a response, because too many refused
 *   connections are still open
 * - `accept_failed`: accept() failed, for example for lack of file descriptors
 */
type RefusalReason = 'limit' | 'address_limit' | 'dropped' | 'accept_failed';

/**
 * Why the gateway closes a connection:
 * - `evicted`: it was idle or had sent no request yet, and a new connection takes its place
 * - `write_timeout`: the client has not read responses for too long
 * - `unread_limit`: too many bytes of responses to the caller, or to all callers together, are unread
 * - `pipeline_limit`: too many pipelined requests are waiting
 */
type CloseReason = 'evicted' | 'write_timeout' | 'unread_limit' | 'pipeline_limit';

export interface ClientConnection {
  readonly socket: Socket;
  /** The network of the client (see clientNetwork); null for a trusted proxy. */
  readonly network: string | null;
  /** The response to the latest request; undefined before the first request. */
  latestResponse?: ServerResponse;
  /** Number of pipelined requests that wait for the response to the previous request. */
  waitingRequestCount: number;
  /** Whether the connection was upgraded to a WebSocket. */
  isUpgraded: boolean;
  /** Id of the caller that was authenticated last on this connection; undefined before the first authentication. */
  callerId?: string;
}

export interface ConnectionLimits {
  maxConnections: number;
  /** Maximum number of connections of one IPv4 address or IPv6 /64 network; 0: no limit. */
  maxConnectionsPerAddress: number;
  trustedProxies: readonly string[];
}

export interface ConnectionObserver {
  onConnectionRefused(reason: RefusalReason): void;
  /** Called when the gateway closes a connection for a CloseReason, but not at a shutdown. */
  onConnectionClosed(reason: CloseReason): void;
}

/**
 * Whether a connection is idle and may be evicted. It is idle if it has had a request and now waits for the next one.
 * If no caller has been authenticated on it yet, it is also idle while it waits for the rest of a request body. A
 * WebSocket is idle until its message connection_init has authenticated a caller.
 */
const mayBeEvicted = ({ isUpgraded, latestResponse, callerId }: ClientConnection): boolean =>
  isUpgraded
    ? callerId === undefined
    : latestResponse?.writableFinished === true ||
      (latestResponse?.req.complete === false && callerId === undefined);

const MAX_EVICTION_CANDIDATES = 32;

/** Maximum number of waiting pipelined requests per connection. Node.js takes quadratic time to abort them. */
const MAX_WAITING_REQUESTS = 16;

/** Limits the number of client connections, and serves one request at a time on each connection. */
export class Connections {
  readonly #isTrustedProxy: (address: string) => boolean;
  readonly #openConnections = new Map<Socket, ClientConnection>();
  /** Connections on which no complete request header has arrived yet, oldest first. */
  readonly #unusedConnections = new Set<ClientConnection>();
  /** State of the open connections of each network. Key null: trusted proxies, which have no limit per address. */
  readonly #stateByNetwork = new Map<
    string | null,
    { openCount: number; readonly unusedConnections: Set<ClientConnection> }
  >();
  readonly #refuser = new ConnectionRefuser();

  constructor(
    readonly limits: ConnectionLimits,
    private readonly observer: ConnectionObserver,
  ) {
    this.#isTrustedProxy = addressMatcher(limits.trustedProxies);
  }

  get size(): number {
    return this.#openConnections.size;
  }

  all(): Iterable<ClientConnection> {
    return this.#openConnections.values();
  }

  /** Applies the limits to a server. The option `maxConnections` of Node.js would refuse without a response. */
  attachTo(server: Server): void {
    const acceptListeners = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#accept(socket)) for (const listener of acceptListeners) listener.call(server, socket);
    });
    // While the server listens, an `error` event means that accept() failed. listen() reports earlier errors.
    server.on('error', () => {
      if (server.listening) this.observer.onConnectionRefused('accept_failed');
    });
  }

  /**
   * Calls `handler` when the previous response on the connection has been sent. Resets the connection instead if more
   * than MAX_WAITING_REQUESTS requests wait on it.
   */
  serveInOrder(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    // Ignore requests that the parser had read before the connection was destroyed.
    if (request.socket.destroyed) return;
    const connection = this.#openConnections.get(request.socket);
    if (!connection) return void handler(request, response);
    const previousResponse = connection.latestResponse;
    connection.latestResponse = response;
    if (!previousResponse) this.#removeFromUnused(connection);
    if (!previousResponse || previousResponse.writableFinished) return void handler(request, response);
    connection.waitingRequestCount += 1;
    if (connection.waitingRequestCount > MAX_WAITING_REQUESTS)
      return this.reset(connection, 'pipeline_limit');
    previousResponse.once('close', () => {
      connection.waitingRequestCount -= 1;
      if (!request.socket.destroyed) void handler(request, response);
    });
  }

  /** Returns the open connection of a socket; undefined if it was refused or is closed. */
  find(socket: Socket): ClientConnection | undefined {
    return this.#openConnections.get(socket);
  }

  markUpgraded(socket: Socket): void {
    const connection = this.#openConnections.get(socket);
    if (!connection) return;
    connection.isUpgraded = true;
    this.#removeFromUnused(connection);
  }

  setCaller(socket: Socket, callerId: string): void {
    const connection = this.#openConnections.get(socket);
    if (connection) connection.callerId = callerId;
  }

  /** Resets a connection (TCP RST), so that unread data in the buffers of the kernel is discarded, too. */
  reset(connection: ClientConnection, reason: CloseReason): void {
    connection.socket.resetAndDestroy();
    this.#remove(connection);
    this.observer.onConnectionClosed(reason);
  }

  #accept(socket: Socket): boolean {
    const { remoteAddress } = socket;
    // The address is undefined if the client has disconnected already.
    if (remoteAddress === undefined) {
      socket.destroy();
      return false;
    }
    const network = this.#isTrustedProxy(remoteAddress) ? null : clientNetwork(remoteAddress);
    const refusalReason = this.#enforceLimits(network);
    if (refusalReason) {
      this.observer.onConnectionRefused(this.#refuser.refuse(socket) ? refusalReason : 'dropped');
      return false;
    }
    this.#add({ socket, network, waitingRequestCount: 0, isUpgraded: false });
    return true;
  }

  /** Returns why to refuse a new connection; undefined to accept it. At a limit, tries to evict an older connection. */
  #enforceLimits(network: string | null): RefusalReason | undefined {
    const { maxConnections, maxConnectionsPerAddress } = this.limits;
    const networkState = network === null ? undefined : this.#stateByNetwork.get(network);
    if (networkState && maxConnectionsPerAddress > 0 && networkState.openCount >= maxConnectionsPerAddress)
      return this.#evict(firstOf(networkState.unusedConnections)) ? undefined : 'address_limit';
    if (this.#openConnections.size < maxConnections) return undefined;
    return this.#evict(firstOf(this.#unusedConnections) ?? this.#findEvictable()) ? undefined : 'limit';
  }

  #evict(connection: ClientConnection | undefined): boolean {
    if (!connection) return false;
    // destroy() does not cut off the latest response: the kernel still delivers what was written. A request whose body
    // has not arrived completely is lost.
    connection.socket.destroy();
    this.#remove(connection);
    this.observer.onConnectionClosed('evicted');
    return true;
  }

  /**
   * Searches a limited number of connections (MAX_EVICTION_CANDIDATES) for one that may be evicted. Moves the others to
   * the end, so that the next search begins with connections that were not examined.
   */
  #findEvictable(): ClientConnection | undefined {
    let examinedCount = 0;
    for (const connection of this.#openConnections.values()) {
      if (mayBeEvicted(connection)) return connection;
      if ((examinedCount += 1) > MAX_EVICTION_CANDIDATES) return undefined;
      this.#openConnections.delete(connection.socket);
      this.#openConnections.set(connection.socket, connection);
    }
    return undefined;
  }

  #add(connection: ClientConnection): void {
    connection.socket.once('close', () => this.#remove(connection));
    this.#openConnections.set(connection.socket, connection);
    this.#unusedConnections.add(connection);
    const { network } = connection;
    const networkState = this.#stateByNetwork.get(network) ?? { openCount: 0, unusedConnections: new Set() };
    networkState.openCount += 1;
    networkState.unusedConnections.add(connection);
    this.#stateByNetwork.set(network, networkState);
  }

  #removeFromUnused(connection: ClientConnection): void {
    this.#unusedConnections.delete(connection);
    this.#stateByNetwork.get(connection.network)?.unusedConnections.delete(connection);
  }

  #remove(connection: ClientConnection): void {
    if (!this.#openConnections.delete(connection.socket)) return;
    this.#removeFromUnused(connection);
    const networkState = this.#stateByNetwork.get(connection.network);
    if (networkState && (networkState.openCount -= 1) === 0) this.#stateByNetwork.delete(connection.network);
  }
}

const firstOf = <T>(set: ReadonlySet<T>): T | undefined => set.values().next().value;
