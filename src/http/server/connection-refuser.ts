import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { PublicExtensions } from '../graphql/error-codes';
import { SAFE_HEADERS } from './security-headers';

/** Refused connections that are open at once; they take file descriptors too. */
const MAX_REFUSALS = 32;
/** How long a refused client has to read the response and close its connection, in milliseconds. */
const LINGER_MS = 1000;
const RETRY_AFTER_MS = 1000;

/** The response to whatever a refused client asks: its request is not read. */
function refusal(): string {
  const requestId = randomUUID();
  const extensions: PublicExtensions = {
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
    requestId,
  };
  const body = JSON.stringify({
    errors: [
      { message: 'The gateway has too many connections; this request was not carried out.', extensions },
    ],
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

/** Refuses connections with a response, as long as few are being refused at once. */
export class ConnectionRefuser {
  #open = 0;

  /**
   * Answers a connection with 503, whatever it asks, and closes it. Returns false where it was closed without a response, as
   * too many are being refused.
   */
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
    // Read and discard: closing a connection with unread data resets it, and the client may lose the response.
    socket.resume();
    socket.end(refusal());
    return true;
  }
}
