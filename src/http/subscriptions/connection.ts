import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, type WebSocket as Transport } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../auth/caller';
import { decodeUtf8OrThrow, parseJson } from '../../shared/json-text';
import type { ResultStream } from './result-stream';

/** Maximum number of bytes buffered for a client that sends messages or pings. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** A WebSocket of one caller: the transport that graphql-ws uses. */
export class WebSocketConnection implements Transport {
  /** The TCP connection below the WebSocket. */
  readonly tcpSocket: Socket;
  readonly ip: string;
  /** The Authorization header of the upgrade request; undefined if absent, and after authentication. */
  authorization: string | undefined;
  /** The authenticated caller; undefined before authentication. */
  caller?: Caller;
  releaseQuota?: () => void;
  /** The open subscriptions. releaseResources() ends all: graphql-ws does not end a subscription with a reused id. */
  readonly streams = new Set<ResultStream>();
  #isAlive = true;

  constructor(
    readonly socket: WebSocket,
    { socket: tcpSocket, headers }: IncomingMessage,
  ) {
    this.tcpSocket = tcpSocket;
    this.ip = tcpSocket.remoteAddress ?? '';
    this.authorization = headers.authorization;
    socket.on('pong', () => (this.#isAlive = true));
    socket.on('ping', () => this.#enforceBackpressure());
    // ws closes the connection after a protocol error of the client.
    socket.on('error', () => undefined);
  }

  get protocol(): string {
    return this.socket.protocol;
  }

  /** Sends a message. Resolves when it is written to the socket; only then is the next result computed. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => this.socket.send(text, () => resolve()));
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  onMessage(handle: (text: string) => Promise<void>): void {
    this.socket.on('message', (data: RawData) => {
      if (!this.#enforceBackpressure()) return;
      this.#isAlive = true;
      let text: string;
      try {
        // Validate here: ws validates UTF-8 in text frames only, and graphql-ws accepts duplicate names.
        text = decodeUtf8OrThrow(data as Buffer);
        parseJson(text);
      } catch {
        return this.close(CloseCode.BadRequest, 'Invalid message received');
      }
      handle(text).catch(() => this.close(CloseCode.InternalServerError, 'Internal error'));
    });
  }

  /** Sends a ping. Terminates the connection if no pong or message has arrived since the previous ping. */
  ping(): void {
    if (!this.#isAlive) return this.socket.terminate();
    this.#isAlive = false;
    this.socket.ping();
  }

  /** Releases the quota and ends all subscriptions. Must be called when the connection was closed. */
  releaseResources(): void {
    this.releaseQuota?.();
    for (const stream of this.streams) void stream.return();
  }

  /** Terminates the connection if the client sends but does not read. Returns whether the connection is still open. */
  #enforceBackpressure(): boolean {
    if (this.socket.bufferedAmount <= MAX_UNREAD_BYTES) return true;
    this.socket.terminate();
    return false;
  }
}
