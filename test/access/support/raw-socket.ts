import { connect, type Socket } from 'node:net';

/** An answer, read byte for byte. */
export interface SocketAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** A connection to a gateway on which a test writes what it wants: also what no HTTP library sends. */
export class RawSocket {
  readonly #socket: Socket;
  #text = '';
  #closed = false;
  #changed = Promise.withResolvers<unknown>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    const change = (): void => {
      this.#changed.resolve(undefined);
      this.#changed = Promise.withResolvers();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      change();
    });
    socket.on('close', () => {
      this.#closed = true;
      change();
    });
    socket.on('error', () => undefined);
  }

  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawSocket(socket);
  }

  write(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The next answer; fails when the connection ends before it is whole. */
  async answer(): Promise<SocketAnswer> {
    for (;;) {
      const answer = this.#take();
      if (answer) return answer;
      if (this.#closed) throw new Error(`The connection ended: ${JSON.stringify(this.#text)}`);
      await this.#changed.promise;
    }
  }

  #take(): SocketAnswer | undefined {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#text.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const bodyAt = end + 4;
    if (this.#text.length < bodyAt + length) return undefined;
    const body = this.#text.slice(bodyAt, bodyAt + length);
    this.#text = this.#text.slice(bodyAt + length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }
}

/** One request of exactly those lines, and its answer. */
export async function exchange(url: string, lines: readonly string[], body = ''): Promise<SocketAnswer> {
  const socket = await RawSocket.open(url);
  try {
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    return await socket.answer();
  } finally {
    socket.close();
  }
}
