import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, type WebSocket as Transport } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../auth/caller';
import { decodeUtf8, parseJson, RepeatedNameError } from '../../shared/json-text';
import type { ResultStream } from './result-stream';

const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Whether a message is JSON with a duplicate name. graphql-ws rejects messages that are not JSON. */
function hasDuplicateName(text: string): boolean {
  try {
    parseJson(text);
    return false;
  } catch (error) {
    return error instanceof RepeatedNameError;
  }
}

/** One WebSocket of one caller, as graphql-ws uses it. */
export class Connection implements Transport {
  readonly socket: WebSocket;
  /** The TCP connection below it. */
  readonly transport: Socket;
  readonly ip: string;
  /** The Authorization header of the upgrade request, until authentication. */
  authorization: string | undefined;
  caller?: Caller;
  release?: () => void;
  /** The open subscriptions. graphql-ws loses one when its id is used again. */
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
    // Protocol errors of the client: ws closes the connection.
    socket.on('error', () => undefined);
  }

  get protocol(): string {
    return this.socket.protocol;
  }

  /** Resolves when the message was written to the socket, so that newer results replace waiting ones. */
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
      // ws checks the UTF-8 of text frames only.
      const text = decodeUtf8(data as Buffer);
      if (text === undefined || hasDuplicateName(text))
        return this.close(CloseCode.BadRequest, 'Invalid message received');
      handle(text).catch(() => this.close(CloseCode.InternalServerError, 'Internal error'));
    });
  }

  /** Sends a ping, or terminates the connection when the previous one was not answered. */
  ping(): void {
    if (!this.#isAlive) return this.socket.terminate();
    this.#isAlive = false;
    this.socket.ping();
  }

  /** Starts a subscription, which ends with the connection at the latest. */
  trackSubscription(start: (onEnd: (stream: ResultStream) => void) => ResultStream): ResultStream {
    const stream = start((ended) => void this.#streams.delete(ended));
    this.#streams.add(stream);
    return stream;
  }

  /** Must be called when the connection was closed. */
  onClosed(): void {
    this.release?.();
    for (const stream of this.#streams) void stream.return();
  }

  /** Terminates the connection of a client that sends and does not read. Returns false then. */
  #enforceBackpressure(): boolean {
    if (this.socket.bufferedAmount <= MAX_UNREAD_BYTES) return true;
    this.socket.terminate();
    return false;
  }
}
