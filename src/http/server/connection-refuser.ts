import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { PublicExtensions } from '../graphql/error-codes';
import { SAFE_HEADERS } from './security-headers';

/** Refused connections that are open at a time. Each holds a file descriptor. */
const MAX_REFUSALS = 32;
/** How long a refused client may take to read the response, in milliseconds. */
const LINGER_MS = 1000;
const RETRY_AFTER_MS = 1000;

/** The response to a refused client, whose request is not read. */
function refusedResponse(): string {
  const requestId = randomUUID();
  const extensions: PublicExtensions = {
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
    requestId,
  };
  const body = JSON.stringify({
    errors: [{ message: 'The gateway has too many connections; the request was not executed.', extensions }],
  });
  const headers = {
    ...SAFE_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'retry-after': RETRY_AFTER_MS / 1000,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['HTTP/1.1 503 Service Unavailable', ...lines, '', body].join('\r\n');
}

export class ConnectionRefuser {
  #open = 0;

  /** Sends 503 and closes the connection. Returns false when it was closed without a response, because too many are open. */
  refuse(socket: Socket): boolean {
    socket.on('error', () => undefined);
    if (this.#open >= MAX_REFUSALS) {
      socket.resetAndDestroy();
      return false;
    }
    this.#open += 1;
    const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => {
      this.#open -= 1;
      clearTimeout(linger);
    });
    // Discard the request: closing a connection with unread data resets it, and the client may lose the response.
    socket.resume();
    socket.end(refusedResponse());
    return true;
  }
}
