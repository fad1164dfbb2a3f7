import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, type WebSocket as Transport } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../auth/caller';
import { decodeUtf8, parseJson, RepeatedNameError } from '../../shared/json-text';
import type { ResultStream } from './result-stream';

/** More than any honest client leaves unread while it goes on asking. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Whether a message is JSON with a name twice in one object. What is not JSON is refused by graphql-ws. */
function repeatsAName(text: string): boolean {
  try {
    parseJson(text);
    return false;
  } catch (error) {
    return error instanceof RepeatedNameError;
  }
}

/** One WebSocket, as graphql-ws uses it, and what is known of who is at its other end. */
export class Connection implements Transport {
  readonly socket: WebSocket;
  /** The TCP connection below it. */
  readonly transport: Socket;
  readonly ip: string;
  /** The Authorization header of the request, for clients that can set one; until they are known. */
  authorization: string | undefined;
  /** Who it is, once that is known. */
  caller?: Caller;
  /** Gives the connection's seat back. */
  giveBack?: () => void;
  /** Its subscriptions. graphql-ws loses sight of one whose id is used again before it has ended. */
  readonly #streams = new Set<ResultStream>();
  #isAlive = true;

  constructor(socket: WebSocket, { socket: transport, headers }: IncomingMessage) {
    this.socket = socket;
    this.transport = transport;
    this.ip = transport.remoteAddress ?? '';
    this.authorization = headers.authorization;
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('ping', () => this.#enforceBackpressure());
    // A client that breaks the protocol: its connection is closed, and the reason is its own affair.
    socket.on('error', () => undefined);
  }

  get protocol(): string {
    return this.socket.protocol;
  }

  /** Resolves when it has left: until then the next result waits, and is replaced by newer ones. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.socket.send(text, () => resolve());
    });
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  onMessage(handle: (text: string) => Promise<void>): void {
    this.socket.on('message', (data: RawData) => {
      if (!this.#enforceBackpressure()) return;
      this.#isAlive = true;
      // As a Buffer, which is how ws gives messages out. It checks the UTF-8 of text frames only.
      const text = decodeUtf8(data as Buffer);
      if (text === undefined || repeatsAName(text))
        return this.close(CloseCode.BadRequest, 'Invalid message received');
      handle(text).catch(() => this.close(CloseCode.InternalServerError, 'Internal error'));
    });
  }

  /** Asks whether anybody is there; lets go who did not answer the last time. */
  ping(): void {
    if (!this.#isAlive) return this.socket.terminate();
    this.#isAlive = false;
    this.socket.ping();
  }

  /** Begins a subscription that ends with the connection at the latest. */
  trackSubscription(start: (over: (stream: ResultStream) => void) => ResultStream): ResultStream {
    const stream = start((over) => void this.#streams.delete(over));
    this.#streams.add(stream);
    return stream;
  }

  /** It is closed: nothing of it stays. */
  ended(): void {
    this.giveBack?.();
    for (const stream of this.#streams) void stream.return();
  }

  /** Who asks and does not read is let go: what it is to be told may not pile up. */
  #enforceBackpressure(): boolean {
    if (this.socket.bufferedAmount <= MAX_UNREAD_BYTES) return true;
    this.socket.terminate();
    return false;
  }
}
