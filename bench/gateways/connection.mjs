// Minimal HTTP/1.1 client on one keep-alive connection. It does little work because it shares a core with the service.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Response timeout. No gateway of the benchmark takes that long unless it hangs. */
const TIMEOUT_MS = 20_000;
const END_OF_HEAD = '\r\n\r\n';

/** Serialises a request. */
export function requestText({ path, body: given = '', method = 'POST', headers = {} }) {
  const body = typeof given === 'string' ? given : JSON.stringify(given);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'accept: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  if (method === 'POST')
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}${END_OF_HEAD}${body}`;
}

/** Decodes a chunked body. Returns undefined while bytes are missing. */
function joinChunks(bytes, from) {
  const parts = [];
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(bytes.latin1Slice(at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0) return parts.join('');
    parts.push(bytes.utf8Slice(start, start + size));
    at = start + size + 2;
  }
}

/** Parses a response. Returns undefined while bytes are missing. */
export function readAnswer(bytes) {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return undefined;
  const head = bytes.latin1Slice(0, headEnd);
  const start = headEnd + END_OF_HEAD.length;
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) {
    const text = joinChunks(bytes, start);
    return text === undefined ? undefined : { status, text };
  }
  const end = start + Number(length);
  return bytes.length < end ? undefined : { status, text: bytes.utf8Slice(start, end) };
}

export class Connection {
  #socket;
  #held;
  #waiting;

  static async open(port) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('The gateway did not respond in time.')));
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The gateway closed the connection.')));
  }

  /** Sends a request and resolves with the status and the body text. */
  ask(text) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(text);
    });
  }

  close() {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #read(bytes) {
    this.#held = this.#held ? Buffer.concat([this.#held, bytes]) : bytes;
    const answer = readAnswer(this.#held);
    if (!answer) return;
    this.#held = undefined;
    this.#waiting.resolve(answer);
  }
}
