import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Maximum age in ms of a connection that was opened in advance. Most services keep idle connections for longer. The
 * number of calls of take() within this time determines how many connections are opened.
 */
const MAX_STANDBY_AGE_MS = 5000;
const MAX_STANDBY_CONNECTIONS = 16;

interface StandbyConnection {
  socket: Socket;
  connectedAt: number;
}

/** Socket events after which a standby connection is closed: unrequested data, end by the service, error. */
const CLOSING_EVENTS = ['data', 'end', 'error'];

function destroySocket(this: Socket): void {
  this.destroy();
}

/** Connections opened in advance: one for each call of take() in the last five seconds, but at most 16. */
export class StandbyConnections {
  #readyConnections: StandbyConnection[] = [];
  /** Times of the last calls of take() in ms by the monotonic clock, oldest first; at most MAX_STANDBY_CONNECTIONS. */
  #recentTakeTimes: number[] = [];
  #connectingCount = 0;
  readonly #refillTimer = setInterval(() => this.#refill(), MAX_STANDBY_AGE_MS / 4).unref();
  #isClosed = false;

  /** @param connect opens a connection and calls back when it is ready for a request or has failed */
  constructor(private readonly connect: (onConnect: buildConnector.Callback) => void) {}

  /** Removes and returns the newest connection; undefined if there is none. Then opens connections for later calls. */
  take(): Socket | undefined {
    this.#recentTakeTimes = [...this.#recentTakeTimes, performance.now()].slice(-MAX_STANDBY_CONNECTIONS);
    this.#dropExpired();
    const socket = this.#readyConnections.pop()?.socket;
    for (const eventName of CLOSING_EVENTS) socket?.off(eventName, destroySocket);
    socket?.ref();
    // Connect only after the current request has been sent.
    setImmediate(() => this.#refill());
    return socket;
  }

  /** Closes all connections and opens no more. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#refillTimer);
    for (const { socket } of this.#readyConnections.splice(0)) socket.destroy();
  }

  #refill(): void {
    this.#dropExpired();
    if (this.#isClosed) return;
    while (this.#readyConnections.length + this.#connectingCount < this.#recentTakeTimes.length) {
      this.#connectingCount += 1;
      this.connect((...[, socket]) => {
        this.#connectingCount -= 1;
        if (socket) this.#add(socket);
      });
    }
  }

  #add(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy();
    for (const eventName of CLOSING_EVENTS) socket.on(eventName, destroySocket);
    // A standby connection must not keep the process running.
    socket.unref();
    this.#readyConnections.push({ socket, connectedAt: performance.now() });
  }

  #dropExpired(): void {
    const cutoff = performance.now() - MAX_STANDBY_AGE_MS;
    this.#recentTakeTimes = this.#recentTakeTimes.filter((takenAt) => takenAt > cutoff);
    for (const { socket, connectedAt } of this.#readyConnections) if (connectedAt <= cutoff) socket.destroy();
    this.#readyConnections = this.#readyConnections.filter(({ socket }) => !socket.destroyed);
  }
}
