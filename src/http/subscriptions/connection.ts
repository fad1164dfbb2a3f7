import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CloseCode, type WebSocket as Transport } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../auth/caller';
import { decodeUtf8, parseStrictJson } from '../../shared/json-text';
import { nextEventLoopTurn } from '../../shared/next-turn';
import type { ResultStream } from './result-stream';

/** Maximum number of unread bytes buffered for a client. Checked when the client sends a message or ping. */
const MAX_UNREAD_BYTES_PER_SOCKET = 4 * 1024 * 1024;

/**
 * Maximum number of bytes that a client may send before it is authenticated: a connection_init message with a token,
 * and frame headers.
 */
const MAX_UNAUTHENTICATED_BYTES = 16 * 1024;

/** WebSocket connection of one caller. Implements the interface of a socket that graphql-ws expects. */
export class WebSocketConnection implements Transport {
  readonly tcpSocket: Socket;
  readonly ip: string;
  /** The Authorization header of the upgrade request; undefined if absent, and after authentication. */
  authorization: string | undefined;
  /** The authenticated caller; undefined before authentication. */
  caller?: Caller;
  /** Releases the connection's quota; undefined before authentication. */
  releaseQuota?: () => void;
  /** The open subscriptions. releaseResources() ends them, because graphql-ws can miss one whose id was reused. */
  readonly resultStreams = new Set<ResultStream>();
  #isAlive = true;

  constructor(
    readonly webSocket: WebSocket,
    { socket: tcpSocket, headers }: IncomingMessage,
  ) {
    this.tcpSocket = tcpSocket;
    this.ip = tcpSocket.remoteAddress ?? '';
    this.authorization = headers.authorization;
    this.#limitUnauthenticatedBytes();
    webSocket.on('pong', () => (this.#isAlive = true));
    webSocket.on('ping', () => this.#enforceUnreadLimit());
    // Ignore protocol errors of the client: ws closes the connection after them.
    webSocket.on('error', () => undefined);
  }

  get protocol(): string {
    return this.webSocket.protocol;
  }

  /** Sends a message. Resolves when the write has ended or failed; graphql-ws then requests the next result. */
  send(messageText: string): Promise<void> {
    return new Promise((resolve) => this.webSocket.send(messageText, () => resolve()));
  }

  close(closeCode: number, closeReason: string): void {
    this.webSocket.close(closeCode, closeReason);
  }

  onMessage(handleMessage: (messageText: string) => Promise<void>): void {
    this.webSocket.on('message', (data: RawData) => {
      if (!this.#enforceUnreadLimit()) return;
      this.#isAlive = true;
      let messageText: string;
      try {
        // Check UTF-8 and duplicate names: ws checks UTF-8 in text frames only, and graphql-ws checks neither.
        messageText = decodeUtf8(data as Buffer);
        parseStrictJson(messageText);
      } catch {
        return this.close(CloseCode.BadRequest, 'Invalid message received');
      }
      handleMessage(messageText).catch(() => this.close(CloseCode.InternalServerError, 'Internal error'));
    });
  }

  /** Sends a ping. Terminates the connection if no pong or message has arrived since the previous ping. */
  ping(): void {
    if (!this.#isAlive) return this.webSocket.terminate();
    this.#isAlive = false;
    this.webSocket.ping();
  }

  /** Releases the quota and ends all subscriptions. Must be called once, after the connection was closed. */
  releaseResources(): void {
    this.releaseQuota?.();
    for (const stream of this.resultStreams) void stream.return();
  }

  /** Terminates the connection if the client sends too many bytes before it is authenticated. */
  #limitUnauthenticatedBytes(): void {
    const { tcpSocket, webSocket } = this;
    let byteCount = 0;
    const countBytes = ({ length }: Buffer): void => {
      byteCount += length;
      if (this.caller) tcpSocket.off('data', countBytes);
      else if (byteCount > MAX_UNAUTHENTICATED_BYTES) void nextEventLoopTurn().then(terminateIfOpen);
    };
    // If the message is longer than the maximum, ws closes the connection, and the client must receive the close frame.
    const terminateIfOpen = (): void => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.terminate();
    };
    tcpSocket.on('data', countBytes);
  }

  /** Terminates the connection if too many bytes are unread. Returns whether the connection is still open. */
  #enforceUnreadLimit(): boolean {
    if (this.webSocket.bufferedAmount <= MAX_UNREAD_BYTES_PER_SOCKET) return true;
    this.webSocket.terminate();
    return false;
  }
}
