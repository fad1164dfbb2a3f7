import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressMatcher, clientNetwork } from './client-address';
import { ConnectionRefuser } from './connection-refuser';

/**
 * Why a connection was not accepted. `dropped`: closed without a response, as too many are being refused at once;
 * `accept_failed`: by the operating system, for example as no file descriptor is left.
 */
export type ConnectionRefusal = 'limit' | 'address_limit' | 'dropped' | 'accept_failed';

/**
 * Why the server closed a connection. `evicted`: it was idle and another client needed its place; `pipeline_limit`: too
 * many requests waited on it.
 */
export type ConnectionEnd = 'evicted' | 'write_timeout' | 'unread_limit' | 'pipeline_limit';

/** One client connection of the web server. */
export interface ClientConnection {
  readonly socket: Socket;
  /** Remote IPv4 address or IPv6 network; null for a trusted proxy, which connects for everybody. */
  readonly network: string | null;
  /** The response to the last request; undefined before the first one. */
  latest: ServerResponse | undefined;
  /** How many requests wait for the response before them. */
  waiting: number;
  /** Whether it has become a WebSocket. */
  isUpgraded: boolean;
  /** The caller of the last request, once known. */
  callerId: string | undefined;
}

export interface ConnectionLimits {
  maxConnections: number;
  /** 0: no limit. */
  maxConnectionsPerAddress: number;
  trustedProxies: readonly string[];
}

/** Called for connections that are refused or closed. */
export interface ConnectionListener {
  connectionRefused(reason: ConnectionRefusal): void;
  connectionEnded(reason: ConnectionEnd): void;
}

/** The connections of one client network: how many, and which of them are silent. */
interface Network {
  count: number;
  readonly silent: Set<ClientConnection>;
}

/** Whether a connection waits for its next request, or for somebody who has not said who it is. */
const isIdle = ({ isUpgraded, latest, callerId }: ClientConnection): boolean =>
  isUpgraded
    ? callerId === undefined
    : latest?.writableFinished === true || (latest?.req.complete === false && callerId === undefined);

/** How many connections are examined to find an idle one. */
const MAX_EXAMINED = 32;

/** How many requests of one connection wait. Node reads on while they do, and what it needs to end them is quadratic. */
const MAX_WAITING = 16;

/** Client connections of the web server: how many are accepted, from where, and one request at a time on each. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #listener: ConnectionListener;
  readonly #isProxy: (address: string) => boolean;
  readonly #open = new Map<Socket, ClientConnection>();
  /** Connections without a complete request header so far, the oldest first. */
  readonly #silent = new Set<ClientConnection>();
  readonly #networks = new Map<string, Network>();
  readonly #refuser = new ConnectionRefuser();

  constructor(limits: ConnectionLimits, listener: ConnectionListener) {
    this.#limits = limits;
    this.#listener = listener;
    this.#isProxy = addressMatcher(limits.trustedProxies);
  }

  get size(): number {
    return this.#open.size;
  }

  get max(): number {
    return this.#limits.maxConnections;
  }

  all(): Iterable<ClientConnection> {
    return this.#open.values();
  }

  /**
   * Applies the limits to a server. Not by `server.maxConnections`, which drops connections without a response.
   */
  guard(server: Server): void {
    const accept = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#accept(socket)) for (const listener of accept) listener.call(server, socket);
    });
    // Without a listener it would end the process. Errors before the server listens are those of listen().
    server.on('error', () => {
      if (server.listening) this.#listener.connectionRefused('accept_failed');
    });
  }

  /** Handles a request once the response before it on the same connection has been sent: an unread one holds up the next. */
  serve(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    // The parser goes on to the end of what it has read.
    if (request.socket.destroyed) return;
    const connection = this.#open.get(request.socket);
    if (!connection) return void handler(request, response);
    const previous = connection.latest;
    connection.latest = response;
    if (!previous) this.#spoke(connection);
    if (!previous || previous.writableFinished) return void handler(request, response);
    connection.waiting += 1;
    if (connection.waiting > MAX_WAITING) return this.reset(connection, 'pipeline_limit');
    previous.once('close', () => {
      connection.waiting -= 1;
      if (!request.socket.destroyed) void handler(request, response);
    });
  }

  /** The response to the latest request on a connection; undefined before the first one. */
  latestOn(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.latest;
  }

  /** A connection becomes a WebSocket. */
  upgraded(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.isUpgraded = true;
    this.#spoke(connection);
  }

  /** Names the caller that a connection serves from now on. */
  identified(socket: Socket, callerId: string): void {
    const connection = this.#open.get(socket);
    if (connection) connection.callerId = callerId;
  }

  /** Closes a connection and discards what its client has not read, also in the buffers of the kernel. */
  reset(connection: ClientConnection, reason: ConnectionEnd): void {
    connection.socket.resetAndDestroy();
    this.#forget(connection);
    this.#listener.connectionEnded(reason);
  }

  #accept(socket: Socket): boolean {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) {
      // The client has left already.
      socket.destroy();
      return false;
    }
    const network = this.#isProxy(remoteAddress) ? null : clientNetwork(remoteAddress);
    const refusal = this.#refusal(network);
    if (refusal) {
      this.#listener.connectionRefused(this.#refuser.refuse(socket) ? refusal : 'dropped');
      return false;
    }
    const connection = {
      socket,
      network,
      latest: undefined,
      waiting: 0,
      isUpgraded: false,
      callerId: undefined,
    };
    this.#remember(connection);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Why one more connection of that network is not accepted. Makes room for it where it can. */
  #refusal(network: string | null): ConnectionRefusal | undefined {
    const { maxConnections, maxConnectionsPerAddress: perAddress } = this.#limits;
    const ofNetwork = network === null ? undefined : this.#networks.get(network);
    if (ofNetwork && perAddress > 0 && ofNetwork.count >= perAddress)
      return this.#evict(firstOf(ofNetwork.silent)) ? undefined : 'address_limit';
    if (this.#open.size < maxConnections) return undefined;
    return this.#evict(firstOf(this.#silent) ?? this.#idle()) ? undefined : 'limit';
  }

  #evict(connection: ClientConnection | undefined): boolean {
    if (!connection) return false;
    // Bytes of the last response in the kernel's send buffer are still delivered.
    connection.socket.destroy();
    this.#forget(connection);
    this.#listener.connectionEnded('evicted');
    return true;
  }

  /** A connection that may be closed for another one; not every connection is examined. */
  #idle(): ClientConnection | undefined {
    let examined = 0;
    for (const connection of this.#open.values()) {
      if (isIdle(connection)) return connection;
      if ((examined += 1) > MAX_EXAMINED) return undefined;
      // The next search starts behind it.
      this.#open.delete(connection.socket);
      this.#open.set(connection.socket, connection);
    }
    return undefined;
  }

  #remember(connection: ClientConnection): void {
    this.#open.set(connection.socket, connection);
    this.#silent.add(connection);
    if (connection.network === null) return;
    const network = this.#networks.get(connection.network) ?? { count: 0, silent: new Set() };
    network.count += 1;
    network.silent.add(connection);
    this.#networks.set(connection.network, network);
  }

  /** It is not silent any more. */
  #spoke(connection: ClientConnection): void {
    this.#silent.delete(connection);
    if (connection.network !== null) this.#networks.get(connection.network)?.silent.delete(connection);
  }

  #forget(connection: ClientConnection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#spoke(connection);
    const network = connection.network === null ? undefined : this.#networks.get(connection.network);
    if (network && (network.count -= 1) === 0) this.#networks.delete(connection.network ?? '');
  }
}

const firstOf = <T>(set: ReadonlySet<T>): T | undefined => set.values().next().value;
