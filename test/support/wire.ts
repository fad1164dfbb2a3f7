import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from './latch';

export interface WireResponse {
  status: number;
  /** Headers with names in lower case; values of repeated names are joined. */
  headers: Record<string, string>;
  body: string;
}

/** Splits received bytes into responses, without an incomplete last one. */
export function parseResponses(received: string): WireResponse[] {
  const responses: WireResponse[] = [];
  for (let rest = received; ;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return responses;
    const [first = '', ...lines] = rest.slice(0, headEnd).split('\r\n');
    const fields = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    });
    const headers = Object.fromEntries(new Headers(fields));
    const read = readBody(rest.slice(headEnd + 4), headers);
    if (!read) return responses;
    responses.push({ status: Number(first.split(' ')[1]), headers, body: read.body });
    rest = read.rest;
  }
}

function readBody(text: string, headers: Record<string, string>): { body: string; rest: string } | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(text);
  const length = Number(headers['content-length'] ?? 0);
  return text.length < length ? undefined : { body: text.slice(0, length), rest: text.slice(length) };
}

function readChunks(text: string): { body: string; rest: string } | undefined {
  let [body, rest] = ['', text];
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    const size = Number.parseInt(rest, 16);
    if (lineEnd < 0 || rest.length < lineEnd + size + 4) return undefined;
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size);
    rest = rest.slice(lineEnd + size + 4);
    if (size === 0) return { body, rest };
  }
}

/** A connection on which any bytes can be written. */
export class Wire {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  /** All received bytes, decoded as Latin-1. */
  received = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
  }

  /** Connects; `localAddress` is the client's address. */
  static async open(url: string, localAddress?: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const wire = new Wire(connect({ host: hostname, port: Number(port), noDelay: true, localAddress }));
    await once(wire.socket, 'connect');
    return wire;
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** Writes bytes; strings are encoded as Latin-1. */
  write(bytes: string | Buffer): this {
    if (this.socket.writable)
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Resolves when `count` responses have arrived or the connection has closed. */
  async responses(count: number): Promise<WireResponse[]> {
    await until(() => !this.isOpen || parseResponses(this.received).length >= count);
    return parseResponses(this.received);
  }

  /** Resolves when the connection has closed. */
  end(): Promise<WireResponse[]> {
    return this.responses(Infinity);
  }

  async firstByte(): Promise<void> {
    if (this.received === '') await Promise.race([once(this.socket, 'data'), this.closed]);
  }

  close(): void {
    this.socket.destroy();
  }
}

export const requestText = (line: string, headers: readonly string[], body = ''): string =>
  `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;

export const postText = (body: string, headers: readonly string[]): string =>
  requestText(
    'POST /graphql HTTP/1.1',
    [...headers, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`],
    // The UTF-8 bytes as characters, because the text is written as Latin-1.
    Buffer.from(body, 'utf8').toString('latin1'),
  );

/** Sends one request of exactly these lines on a new connection, and returns the response. */
export async function exchange(url: string, lines: readonly string[], body = ''): Promise<WireResponse> {
  const [line = '', ...headers] = lines;
  const wire = await Wire.open(url);
  const [response] = await wire.write(requestText(line, headers, body)).responses(1);
  wire.close();
  if (!response) throw new Error(`The connection ended: ${JSON.stringify(wire.received)}`);
  return response;
}
