import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { retryLaterError } from '../graphql/http-error';
import { DEFAULT_HEADERS } from './security-headers';

/** Maximum number of refused connections that are still open. Each holds a file descriptor. */
const MAX_OPEN_REFUSED_CONNECTIONS = 32;
/** How long a refused client may take to read the response and disconnect, in milliseconds. */
const REFUSED_LINGER_MS = 1000;

const TOO_MANY_CONNECTIONS_ERROR = retryLaterError('The gateway has too many connections');

/** Returns the HTTP response to a refused client. Does not depend on the request, which is discarded. */
function refusalResponse(): string {
  const requestId = randomUUID();
  const body = JSON.stringify(TOO_MANY_CONNECTIONS_ERROR.responseBody(requestId));
  const headers = {
    ...DEFAULT_HEADERS,
    ...TOO_MANY_CONNECTIONS_ERROR.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
    connection: 'close',
  };
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['HTTP/1.1 503 Service Unavailable', ...headerLines, '', body].join('\r\n');
}

/** Refuses connections above the limits with a 503 response. */
export class ConnectionRefuser {
  #openRefusedCount = 0;

  /** Sends a 503 response and returns true. If too many refused sockets are open, resets this one and returns false. */
  refuse(socket: Socket): boolean {
    socket.on('error', () => undefined);
    if (this.#openRefusedCount >= MAX_OPEN_REFUSED_CONNECTIONS) {
      socket.resetAndDestroy();
      return false;
    }
    this.#openRefusedCount += 1;
    const lingerTimer = setTimeout(() => socket.destroy(), REFUSED_LINGER_MS).unref();
    socket.once('close', () => {
      this.#openRefusedCount -= 1;
      clearTimeout(lingerTimer);
    });
    // Read and discard the request. Closing a connection with unread data resets it: the client may lose the response.
    socket.resume();
    socket.end(refusalResponse());
    return true;
  }
}
