import { connect, type Socket } from 'node:net';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** What a browser sends to open a WebSocket; another value replaces a header, undefined leaves it out. */
export const upgradeLines = (
  url: string,
  { path = '/graphql', ...changed }: Record<string, string | undefined> = {},
): string[] => {
  const headers: Record<string, string | undefined> = {
    Host: new URL(url).host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Protocol': 'graphql-transport-ws',
    ...changed,
  };
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  return [`GET ${path} HTTP/1.1`, ...given.map(([name, value]) => `${name}: ${value}`)];
};

/** A connection of which every byte is seen, and which does nothing by itself: it never answers, nor leaves. */
export class Silent {
  readonly #chunks: Buffer[] = [];
  /** Whether the other side has said that it is done. */
  readonly ended: Promise<unknown>;
  isGone = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => this.#chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isGone = true;
    });
    this.ended = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  }

  static async open(url: string, lines: readonly string[]): Promise<Silent> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const silent = new Silent(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    silent.write(lines);
    return silent;
  }

  write(lines: readonly string[] | Buffer): void {
    this.socket.write(Buffer.isBuffer(lines) ? lines : `${lines.join('\r\n')}\r\n\r\n`);
  }

  /** What has come so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.bytes.toString('latin1'))?.[1]);
  }

  /** What came behind the headers. */
  get body(): Buffer {
    const end = this.bytes.indexOf('\r\n\r\n');
    return end < 0 ? Buffer.alloc(0) : this.bytes.subarray(end + 4);
  }
}

/** A message of a client, masked with zeros; at most 125 bytes. */
export const textFrame = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, 0x80 | Buffer.byteLength(text), 0, 0, 0, 0]), Buffer.from(text)]);
