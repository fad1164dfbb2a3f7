import type { ClientConnection, Connections } from './connections';

export interface UnreadLimits {
  /** How long a client may take to read what was written to it, in milliseconds. */
  clientTimeoutMs: number;
  /** Bytes that are buffered because clients do not read them: of all callers, and of one. */
  maxUnreadBytes: number;
  maxUnreadBytesPerCaller: number;
}

/** How often the connections are checked. In between a process writes some tens of megabytes at most. */
const CHECK_MS = 250;

/** Data that waits to be sent over one connection. */
interface Backlog {
  connection: ClientConnection;
  bytes: number;
}

/** Number of bytes written to a connection at an earlier check. All of them must be flushed within the timeout. */
interface Mark {
  written: number;
  checks: number;
}

/**
 * Bounds what is buffered for clients that do not read: by time for each connection, by size for each caller and in all.
 * One check of all connections at an interval, so that a response itself costs nothing.
 */
export class UnreadResponses {
  readonly #connections: Connections;
  readonly #limits: UnreadLimits;
  /** Counted in checks, as a wall clock may step. */
  readonly #maxChecks: number;
  /** Of the connections that had data buffered at the last check. */
  #marks = new Map<ClientConnection, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(connections: Connections, limits: UnreadLimits) {
    this.#connections = connections;
    this.#limits = limits;
    this.#maxChecks = Math.ceil(limits.clientTimeoutMs / CHECK_MS);
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  /** Bytes that are buffered now because clients do not read them. */
  get bytes(): number {
    let sum = 0;
    for (const { socket } of this.#connections.all()) sum += socket.writableLength;
    return sum;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const backlogs: Backlog[] = [];
    const marks = new Map<ClientConnection, Mark>();
    for (const connection of this.#connections.all()) {
      const bytes = connection.socket.writableLength;
      if (bytes === 0) continue;
      const mark = this.#markOf(connection, bytes);
      if (mark.checks > this.#maxChecks) {
        this.#connections.reset(connection, 'write_timeout');
      } else {
        marks.set(connection, mark);
        backlogs.push({ connection, bytes });
      }
    }
    this.#marks = marks;
    if (backlogs.length > 0) this.#enforce(backlogs);
  }

  /** The mark of the check before, where some of its bytes are buffered still; else a new one. */
  #markOf(connection: ClientConnection, bytes: number): Mark {
    const written = connection.socket.bytesWritten;
    const mark = this.#marks.get(connection);
    const isOld = mark !== undefined && written - bytes < mark.written;
    return isOld ? { ...mark, checks: mark.checks + 1 } : { written, checks: 0 };
  }

  /** Closes the connections with the most unread bytes until each caller, and all together, are within their limits. */
  #enforce(backlogs: Backlog[]): void {
    const { maxUnreadBytes, maxUnreadBytesPerCaller } = this.#limits;
    const perCaller = new Map<string, number>();
    let total = 0;
    for (const { connection, bytes } of backlogs) {
      const caller = callerOf(connection);
      perCaller.set(caller, (perCaller.get(caller) ?? 0) + bytes);
      total += bytes;
    }
    for (const { connection, bytes } of backlogs.sort((one, other) => other.bytes - one.bytes)) {
      const caller = callerOf(connection);
      const ofCaller = perCaller.get(caller) ?? 0;
      if (ofCaller <= maxUnreadBytesPerCaller && total <= maxUnreadBytes) continue;
      this.#connections.reset(connection, 'unread_limit');
      perCaller.set(caller, ofCaller - bytes);
      total -= bytes;
    }
  }
}

/** Whose responses a connection carries: the caller, or else the address it comes from. */
const callerOf = ({ callerId, network, socket }: ClientConnection): string =>
  callerId ?? network ?? socket.remoteAddress ?? '';
