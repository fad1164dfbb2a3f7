import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressMatcher, clientNetwork } from './client-address';
import { ConnectionRefuser } from './connection-refuser';

/**
 * Why a connection was refused. `dropped`: closed without a response, because too many are being refused;
 * `accept_failed`: by the operating system, for example without a free file descriptor.
 */
type ConnectionRefusal = 'limit' | 'address_limit' | 'dropped' | 'accept_failed';

/** Why the server closed a connection. `evicted`: idle while the limit was reached; `pipeline_limit`: too many pipelined requests. */
type ConnectionEnd = 'evicted' | 'write_timeout' | 'unread_limit' | 'pipeline_limit';

export interface ClientConnection {
  readonly socket: Socket;
  /** See clientNetwork(); null for a trusted proxy. */
  readonly network: string | null;
  /** The response to the latest request; undefined before the first one. */
  latest: ServerResponse | undefined;
  /** Pipelined requests that wait for the response to the previous one. */
  waiting: number;
  /** Whether it is a WebSocket. */
  isUpgraded: boolean;
  /** The caller of the latest request, once authenticated. */
  callerId: string | undefined;
}

export interface ConnectionLimits {
  maxConnections: number;
  /** 0: no limit. */
  maxConnectionsPerAddress: number;
  trustedProxies: readonly string[];
}

export interface ConnectionListener {
  connectionRejected(reason: ConnectionRefusal): void;
  connectionClosed(reason: ConnectionEnd): void;
}

interface Network {
  count: number;
  readonly silent: Set<ClientConnection>;
}

/** Whether a connection waits for its next request, or for authentication. */
const isIdle = ({ isUpgraded, latest, callerId }: ClientConnection): boolean =>
  isUpgraded
    ? callerId === undefined
    : latest?.writableFinished === true || (latest?.req.complete === false && callerId === undefined);

const MAX_EXAMINED = 32;

/** Pipelined requests of one connection. Node.js takes quadratic time to end them. */
const MAX_WAITING = 16;

/** The client connections of the web server: limits their number, and serves one request at a time on each. */
export class Connections {
  readonly #isProxy: (address: string) => boolean;
  readonly #open = new Map<Socket, ClientConnection>();
  /** Connections without a complete request header so far, in order of age. */
  readonly #silent = new Set<ClientConnection>();
  readonly #networks = new Map<string, Network>();
  readonly #refuser = new ConnectionRefuser();

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly listener: ConnectionListener,
  ) {
    this.#isProxy = addressMatcher(limits.trustedProxies);
  }

  get size(): number {
    return this.#open.size;
  }

  get max(): number {
    return this.limits.maxConnections;
  }

  all(): Iterable<ClientConnection> {
    return this.#open.values();
  }

  /** Applies the limits to a server. Not with `server.maxConnections`, which drops connections without a response. */
  guard(server: Server): void {
    const accept = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#accept(socket)) for (const listener of accept) listener.call(server, socket);
    });
    // Errors before the server listens are reported by listen().
    server.on('error', () => {
      if (server.listening) this.listener.connectionRejected('accept_failed');
    });
  }

  /** Handles a request once the response to the previous one on its connection has been sent. */
  serve(request: IncomingMessage, response: ServerResponse, handler: RequestListener): void {
    // The parser emits the requests that it has read also after the connection was destroyed.
    if (request.socket.destroyed) return;
    const connection = this.#open.get(request.socket);
    if (!connection) return void handler(request, response);
    const previous = connection.latest;
    connection.latest = response;
    if (!previous) this.#onRequestStarted(connection);
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

  upgraded(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.isUpgraded = true;
    this.#onRequestStarted(connection);
  }

  /** Records the authenticated caller of a connection. */
  identified(socket: Socket, callerId: string): void {
    const connection = this.#open.get(socket);
    if (connection) connection.callerId = callerId;
  }

  /** Resets a connection, which discards unread data in the buffers of the kernel too. */
  reset(connection: ClientConnection, reason: ConnectionEnd): void {
    connection.socket.resetAndDestroy();
    this.#forget(connection);
    this.listener.connectionClosed(reason);
  }

  #accept(socket: Socket): boolean {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) {
      // The client has disconnected already.
      socket.destroy();
      return false;
    }
    const network = this.#isProxy(remoteAddress) ? null : clientNetwork(remoteAddress);
    const refusal = this.#refusal(network);
    if (refusal) {
      this.listener.connectionRejected(this.#refuser.refuse(socket) ? refusal : 'dropped');
      return false;
    }
    const initial = { latest: undefined, waiting: 0, isUpgraded: false, callerId: undefined };
    const connection = { socket, network, ...initial };
    this.#remember(connection);
    socket.once('close', () => this.#forget(connection));
    return true;
  }

  /** Why a connection of that network is refused; undefined when it is accepted, after evicting another one if necessary. */
  #refusal(network: string | null): ConnectionRefusal | undefined {
    const { maxConnections, maxConnectionsPerAddress: perAddress } = this.limits;
    const ofNetwork = network === null ? undefined : this.#networks.get(network);
    if (ofNetwork && perAddress > 0 && ofNetwork.count >= perAddress)
      return this.#evict(firstOf(ofNetwork.silent)) ? undefined : 'address_limit';
    if (this.#open.size < maxConnections) return undefined;
    return this.#evict(firstOf(this.#silent) ?? this.#idle()) ? undefined : 'limit';
  }

  #evict(connection: ClientConnection | undefined): boolean {
    if (!connection) return false;
    // The kernel still delivers the end of the latest response.
    connection.socket.destroy();
    this.#forget(connection);
    this.listener.connectionClosed('evicted');
    return true;
  }

  /** Finds an idle connection among the first ones, and moves those to the end. */
  #idle(): ClientConnection | undefined {
    let examined = 0;
    for (const connection of this.#open.values()) {
      if (isIdle(connection)) return connection;
      if ((examined += 1) > MAX_EXAMINED) return undefined;
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

  #onRequestStarted(connection: ClientConnection): void {
    this.#silent.delete(connection);
    if (connection.network !== null) this.#networks.get(connection.network)?.silent.delete(connection);
  }

  #forget(connection: ClientConnection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#onRequestStarted(connection);
    const network = connection.network === null ? undefined : this.#networks.get(connection.network);
    if (network && (network.count -= 1) === 0) this.#networks.delete(connection.network ?? '');
  }
}

const firstOf = <T>(set: ReadonlySet<T>): T | undefined => set.values().next().value;
