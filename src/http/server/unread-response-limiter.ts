import type { ClientConnection, Connections } from './connections';

export interface UnreadLimits {
  /** How long a client may take to read the data that is buffered for it, in milliseconds. */
  clientTimeoutMs: number;
  /** Maximum number of bytes buffered for all callers together. */
  maxUnreadBytes: number;
  /** Maximum number of bytes buffered for one caller. */
  maxUnreadBytesPerCaller: number;
}

/** Interval of the checks, in ms. Until the next check, unread data may exceed the limits by tens of megabytes. */
const UNREAD_CHECK_INTERVAL_MS = 250;

/**
 * A position in the data written to a connection. The client must read the data before this position within the
 * timeout.
 */
interface FlushMark {
  /** Total bytes written to the connection when the mark was set. */
  bytesWrittenBefore: number;
  /** Number of checks since the mark was set. */
  checkCount: number;
}

/** Closes connections whose clients do not read responses. Limits how much data is buffered, and for how long. */
export class UnreadResponseLimiter {
  /** Marks of the connections that had buffered data at the last check. */
  #markByConnection = new Map<ClientConnection, FlushMark>();
  readonly #timer = setInterval(() => this.#checkConnections(), UNREAD_CHECK_INTERVAL_MS).unref();

  constructor(
    private readonly connections: Connections,
    private readonly limits: UnreadLimits,
  ) {}

  /** Number of bytes buffered for all connections. */
  get unreadBytes(): number {
    let sum = 0;
    for (const { socket } of this.connections.all()) sum += socket.writableLength;
    return sum;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #checkConnections(): void {
    // Measure the timeout as a number of checks, because the wall clock can jump.
    const maxCheckCount = Math.ceil(this.limits.clientTimeoutMs / UNREAD_CHECK_INTERVAL_MS);
    const markByConnection = new Map<ClientConnection, FlushMark>();
    for (const connection of this.connections.all()) {
      if (connection.socket.writableLength === 0) continue;
      const mark = this.#updatedMark(connection);
      if (mark.checkCount > maxCheckCount) this.connections.reset(connection, 'write_timeout');
      else markByConnection.set(connection, mark);
    }
    this.#markByConnection = markByConnection;
    if (markByConnection.size > 0) this.#enforceByteLimits([...markByConnection.keys()]);
  }

  #updatedMark(connection: ClientConnection): FlushMark {
    const { bytesWritten, writableLength } = connection.socket;
    const mark = this.#markByConnection.get(connection);
    const isUnflushed = mark !== undefined && bytesWritten - writableLength < mark.bytesWrittenBefore;
    return isUnflushed
      ? { ...mark, checkCount: mark.checkCount + 1 }
      : { bytesWrittenBefore: bytesWritten, checkCount: 0 };
  }

  /** Closes connections, those with the most unread bytes first, until the limits per caller and in total are met. */
  #enforceByteLimits(connections: ClientConnection[]): void {
    const { maxUnreadBytes, maxUnreadBytesPerCaller } = this.limits;
    const bytesByCaller = new Map<string, number>();
    let totalBytes = this.unreadBytes;
    for (const connection of connections) {
      const callerKey = callerIdOrAddress(connection);
      bytesByCaller.set(callerKey, (bytesByCaller.get(callerKey) ?? 0) + connection.socket.writableLength);
    }
    for (const connection of connections.sort((a, b) => b.socket.writableLength - a.socket.writableLength)) {
      const callerKey = callerIdOrAddress(connection);
      const connectionBytes = connection.socket.writableLength;
      const callerBytes = bytesByCaller.get(callerKey) ?? 0;
      if (callerBytes <= maxUnreadBytesPerCaller && totalBytes <= maxUnreadBytes) continue;
      this.connections.reset(connection, 'unread_limit');
      bytesByCaller.set(callerKey, callerBytes - connectionBytes);
      totalBytes -= connectionBytes;
    }
  }
}

const callerIdOrAddress = ({ callerId, network, socket }: ClientConnection): string =>
  callerId ?? network ?? socket.remoteAddress ?? '';
