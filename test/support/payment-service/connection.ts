import type { Socket } from 'node:net';

export interface ReceivedHttpRequest {
  method: string;
  path: string;
  query: string;
  parameters: URLSearchParams;
  headers: Record<string, string>;
  body: string;
  /** The parsed body; `{}` if there is none. */
  json: Record<string, unknown>;
}

export interface ServiceResponse {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** Returns the bytes of an HTTP response; `body` replaces the JSON. */
export function httpResponse(
  { status, json, headers = {} }: ServiceResponse,
  body: string | Buffer = JSON.stringify(json),
): Buffer {
  const all = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([
    Buffer.from([`HTTP/1.1 ${status} Status`, ...lines, '', ''].join('\r\n')),
    Buffer.from(body),
  ]);
}

/** Parses the first request of the received bytes; undefined while it is incomplete. */
function readRequest(bytes: Buffer): { request: ReceivedHttpRequest; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < end) return undefined;
  const [method = '', target = ''] = first.split(' ');
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const body = bytes.subarray(headEnd + 4, end).toString('utf8');
  const json = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
  const parameters = new URLSearchParams(query);
  return { request: { method, path, query, parameters, headers, body, json }, rest: bytes.subarray(end) };
}

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n';

/** A connection of the gateway to the fake service. */
export class ServiceConnection {
  readonly socket: Socket;
  readonly #date: () => string;
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(
    socket: Socket,
    date: () => string,
    receive: (request: ReceivedHttpRequest, connection: ServiceConnection) => void,
  ) {
    this.socket = socket;
    this.#date = date;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (this.#ended) return;
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      if (!/^[A-Z]/.test(this.#bytes.toString('latin1', 0, 1))) return this.end(BAD_REQUEST);
      for (let read = readRequest(this.#bytes); read; read = readRequest(this.#bytes)) {
        this.#bytes = read.rest;
        receive(read.request, this);
      }
    });
  }

  /** Sends a response with a Date header; `body` replaces the JSON. */
  send(response: ServiceResponse, body?: string | Buffer): void {
    this.write(httpResponse({ ...response, headers: { date: this.#date(), ...response.headers } }, body));
  }

  write(bytes: string | Buffer, written?: () => void): void {
    if (this.socket.writable) this.socket.write(bytes, written);
  }

  /** Ends the connection with a RST: written and unread bytes are lost. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Ends the connection with a FIN, after `bytes`. Later requests on it are ignored. */
  end(bytes?: string | Buffer): void {
    this.#ended = true;
    if (bytes === undefined) this.socket.end();
    else this.socket.end(bytes);
  }

  every(ms: number, run: () => void): void {
    const timer = setInterval(run, ms);
    this.socket.once('close', () => clearInterval(timer));
  }
}
