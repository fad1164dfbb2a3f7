import type { ClientConnection, Connections } from './connections';

export interface UnreadLimits {
  /** How long a client may take to read a response, in milliseconds. */
  clientTimeoutMs: number;
  /** Maximum number of bytes buffered for all callers together. */
  maxUnreadBytes: number;
  /** Maximum number of bytes buffered for one caller. */
  maxUnreadBytesPerCaller: number;
}

/** Interval of the checks. A process writes at most some tens of megabytes between two checks. */
const CHECK_INTERVAL_MS = 250;

interface Backlog {
  connection: ClientConnection;
  bytes: number;
}

/** A position in the data written to a connection. The data before it must be flushed within the timeout. */
interface FlushMark {
  /** Total bytes written to the connection when the mark was set. */
  written: number;
  /** Number of checks since the mark was set. */
  checks: number;
}

/** Closes connections whose clients do not read, to limit the amount of buffered data and the time for which it is buffered. */
export class UnreadResponses {
  /** The timeout as a number of checks, because clocks may step. */
  readonly #maxChecks: number;
  /** Marks of the connections that had buffered data at the last check. */
  #marks = new Map<ClientConnection, FlushMark>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly connections: Connections,
    private readonly limits: UnreadLimits,
  ) {
    this.#maxChecks = Math.ceil(limits.clientTimeoutMs / CHECK_INTERVAL_MS);
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
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
    const marks = new Map<ClientConnection, FlushMark>();
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
    if (backlogs.length > 0) this.#enforceByteLimits(backlogs);
  }

  /** Returns the previous mark if data before it is still buffered; otherwise a new mark. */
  #markOf(connection: ClientConnection, bytes: number): FlushMark {
    const written = connection.socket.bytesWritten;
    const mark = this.#marks.get(connection);
    const isOld = mark !== undefined && written - bytes < mark.written;
    return isOld ? { ...mark, checks: mark.checks + 1 } : { written, checks: 0 };
  }

  /** Closes the connections with the most unread bytes until each caller, and all together, are within their limits. */
  #enforceByteLimits(backlogs: Backlog[]): void {
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

/** Returns the id of the caller; before authentication the network or address of the client. */
const callerOf = ({ callerId, network, socket }: ClientConnection): string =>
  callerId ?? network ?? socket.remoteAddress ?? '';
