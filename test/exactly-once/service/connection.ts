import type { Socket } from 'node:net';

/** A request as it arrived. */
export interface Arrived {
  method: string;
  path: string;
  /** Without the question mark. */
  query: URLSearchParams;
  headers: Record<string, string>;
  json: Record<string, unknown>;
}

/** An answer as it should be. */
export interface Answer {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** The text of an HTTP answer; a body that is given stands instead of the JSON. */
export function httpText({ status, json, headers = {} }: Answer, body = JSON.stringify(json)): string {
  const all = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} Whatever`, ...lines, '', body].join('\r\n');
}

/** Reads the first request of what has arrived so far; undefined while it is not complete. */
function readRequest(bytes: Buffer): { request: Arrived; rest: Buffer } | undefined {
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
  const [path = '', query = ''] = target.split('?');
  const body = bytes.subarray(headEnd + 4, end).toString('utf8');
  const json = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
  const request = { method, path, query: new URLSearchParams(query), headers, json };
  return { request, rest: bytes.subarray(end) };
}

/** One connection of the gateway, in the hands of whoever answers: it can be answered, or anything but. */
export class Connection {
  readonly socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #hungUp = false;
  #date: () => string;

  constructor(socket: Socket, date: () => string, take: (request: Arrived, connection: Connection) => void) {
    this.socket = socket;
    this.#date = date;
    socket.setNoDelay(true);
    // Whatever the gateway does with its end is its own affair.
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      // Who has hung up no longer listens.
      if (this.#hungUp) return;
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      for (let read = readRequest(this.#bytes); read; read = readRequest(this.#bytes)) {
        this.#bytes = read.rest;
        take(read.request, this);
      }
    });
  }

  /** Answers as a service should; with a body of its own where one is given. */
  send(answer: Answer, body?: string): void {
    const headers = { date: this.#date(), ...answer.headers };
    this.write(httpText({ ...answer, headers }, body));
  }

  /** Writes just that. */
  write(text: string | Buffer): void {
    if (this.socket.writable) this.socket.write(text);
  }

  /** Ends it with a RST: what was written and not yet read is lost with it. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Ends it as a server does that has nothing more to say. */
  end(): void {
    this.#hungUp = true;
    this.socket.end();
  }

  /** Runs something again and again for as long as the connection lasts. */
  every(ms: number, run: () => void): void {
    const timer = setInterval(run, ms);
    this.socket.once('close', () => clearInterval(timer));
  }
}
