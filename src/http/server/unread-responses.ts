import type { ClientConnection, Connections } from './connections';

export interface UnreadLimits {
  /** How long a client may take to read a response, in milliseconds. */
  clientTimeoutMs: number;
  /** Bytes that are buffered for clients: for all callers, and for one. */
  maxUnreadBytes: number;
  maxUnreadBytesPerCaller: number;
}

/** The interval of checks. A process writes some tens of megabytes within it at most. */
const CHECK_MS = 250;

interface Backlog {
  connection: ClientConnection;
  bytes: number;
}

/** Bytes written to a connection at an earlier check. All of them must be flushed within the timeout. */
interface Mark {
  written: number;
  checks: number;
}

/** Backpressure: bounds what is buffered for clients, by time for each connection and by size for each caller and in total. */
export class UnreadResponses {
  /** The timeout as a number of checks, because clocks may step. */
  readonly #maxChecks: number;
  /** The connections with buffered data at the last check. */
  #marks = new Map<ClientConnection, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly connections: Connections,
    private readonly limits: UnreadLimits,
  ) {
    this.#maxChecks = Math.ceil(limits.clientTimeoutMs / CHECK_MS);
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  get bytes(): number {
    let sum = 0;
    for (const { socket } of this.connections.all()) sum += socket.writableLength;
    return sum;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const backlogs: Backlog[] = [];
    const marks = new Map<ClientConnection, Mark>();
    for (const connection of this.connections.all()) {
      const bytes = connection.socket.writableLength;
      if (bytes === 0) continue;
      const mark = this.#markOf(connection, bytes);
      if (mark.checks > this.#maxChecks) {
        this.connections.reset(connection, 'write_timeout');
      } else {
        marks.set(connection, mark);
        backlogs.push({ connection, bytes });
      }
    }
    this.#marks = marks;
    if (backlogs.length > 0) this.#enforce(backlogs);
  }

  /** The previous mark while some of its bytes are still buffered; otherwise a new one. */
  #markOf(connection: ClientConnection, bytes: number): Mark {
    const written = connection.socket.bytesWritten;
    const mark = this.#marks.get(connection);
    const isOld = mark !== undefined && written - bytes < mark.written;
    return isOld ? { ...mark, checks: mark.checks + 1 } : { written, checks: 0 };
  }

  /** Closes the connections with the most unread bytes until each caller, and all together, are within their limits. */
  #enforce(backlogs: Backlog[]): void {
    const { maxUnreadBytes, maxUnreadBytesPerCaller } = this.limits;
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
      this.connections.reset(connection, 'unread_limit');
      perCaller.set(caller, ofCaller - bytes);
      total -= bytes;
    }
  }
}

/** The caller of a connection, or its network before authentication. */
const callerOf = ({ callerId, network, socket }: ClientConnection): string =>
  callerId ?? network ?? socket.remoteAddress ?? '';
