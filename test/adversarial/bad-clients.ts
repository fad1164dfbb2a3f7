import { Wire, postText, requestText, type WireResponse } from '../support/wire';

export type Disconnect = (wire: Wire) => void;

/** How a client ends its TCP connection. */
export const DISCONNECTS: readonly (readonly [string, Disconnect])[] = [
  ['FIN', (wire) => void wire.socket.end()],
  ['RST', (wire) => void wire.socket.resetAndDestroy()],
];

export interface DisconnectPoint {
  name: string;
  /** Returns the part of the request that the client sends before it disconnects. */
  sends(request: string): string;
  /** Whether the client waits for the first byte of the response before it disconnects. */
  waits?: boolean;
}

const headEnd = (request: string): number => request.indexOf('\r\n\r\n') + 4;

export const DISCONNECT_POINTS: readonly DisconnectPoint[] = [
  { name: 'after connecting', sends: () => '' },
  { name: 'in the headers', sends: (request) => request.slice(0, headEnd(request) - 20) },
  { name: 'in the body', sends: (request) => request.slice(0, headEnd(request) + 10) },
  { name: 'before the response', sends: (request) => request },
  { name: 'during the response', sends: (request) => request, waits: true },
  { name: 'with ten requests in flight', sends: (request) => request.repeat(10) },
];

/** Connects, sends a POST up to the disconnect point, and disconnects. Resolves when the connection is closed. */
export async function sendAndDisconnect(
  url: string,
  { sends, waits = false }: DisconnectPoint,
  body: string,
  { headers, disconnect }: { headers: readonly string[]; disconnect: Disconnect },
): Promise<void> {
  const wire = await Wire.open(url);
  wire.write(sends(postText(body, [`Host: ${new URL(url).host}`, ...headers])));
  if (waits) await wire.firstByte();
  disconnect(wire);
  wire.socket.resume();
  await wire.closed;
}

export interface SlowClient {
  name: string;
  first: string;
  /** Text that the client then sends every `DRIP_MS`; undefined if it sends nothing more. */
  drip?: string;
}

const head = (...more: string[]): string =>
  requestText('POST /graphql HTTP/1.1', ['Host: a', 'Content-Type: application/json', ...more]);

/** Returns clients that never complete a request that they have begun. */
export const slowClients = (authorization: string): readonly SlowClient[] => [
  { name: 'connects and sends nothing', first: '' },
  { name: 'sends the first line letter by letter', first: 'POST /', drip: 'a' },
  { name: 'never ends its headers', first: 'POST /graphql HTTP/1.1\r\nHost: a\r\n', drip: 'X-A: b\r\n' },
  { name: 'sends headers and no body', first: head(authorization, 'Content-Length: 100') },
  { name: 'sends its body letter by letter', first: head(authorization, 'Content-Length: 90000'), drip: ' ' },
  {
    name: 'sends its body in chunks that never end',
    first: head(authorization, 'Transfer-Encoding: chunked'),
    drip: '1\r\n \r\n',
  },
  {
    name: 'waits for 100 Continue before its body',
    first: head(authorization, 'Content-Length: 100', 'Expect: 100-continue'),
  },
  { name: 'stops in its second request', first: 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HT' },
];

const DRIP_MS = 20;

/** Acts as a slow client until the server closes the connection. Resolves with the received responses. */
export async function runSlowClient(url: string, { first, drip }: SlowClient): Promise<WireResponse[]> {
  const wire = (await Wire.open(url)).write(first);
  const timer = drip === undefined ? undefined : setInterval(() => wire.write(drip), DRIP_MS);
  try {
    return await wire.end();
  } finally {
    clearInterval(timer);
  }
}
