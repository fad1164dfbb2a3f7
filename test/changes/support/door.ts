import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can be shut: who knocks is refused, and who is inside is put out. */
export class Door {
  readonly port: number;
  readonly #to: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => {
    const far = connect(Number(this.#to.port || 5432), this.#to.hostname);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (this.#sockets.delete(socket), near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  });

  private constructor(to: URL, port: number) {
    this.#to = to;
    this.port = port;
  }

  /** A door that is shut. */
  static async to(url: string): Promise<Door> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return new Door(new URL(url), port);
  }

  /** The address of the server, by way of the door. */
  get url(): string {
    const url = new URL(this.#to);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve));
  }

  async shut(): Promise<void> {
    const shut = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await shut;
  }
}
