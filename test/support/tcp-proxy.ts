import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy between a gateway and a server that injects network faults. */
export class TcpProxy {
  /** Whether all bytes in both directions are discarded. */
  discards = false;
  #host = '';
  #targetPort = 0;
  readonly #sockets = new Set<Socket>();
  #paused = false;
  #port = 0;
  #server = this.#newServer();

  private constructor(private readonly address: string) {}

  /**
   * Starts a proxy to the host and port of a URL (default 5432).
   * @param own the address on which the proxy listens, and its port (any free one by default)
   */
  static async to(url: string, own: { address?: string; port?: number } = {}): Promise<TcpProxy> {
    const { address = '127.0.0.1', port = 0 } = own;
    const proxy = new TcpProxy(address);
    proxy.redirect(url);
    proxy.#port = port;
    await proxy.listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Returns the URL with the proxy's host and port. */
  through(url: string): string {
    const own = new URL(url);
    own.host = `${this.address}:${this.#port}`;
    return own.href;
  }

  /** Forwards new connections to the host and port of another URL. */
  redirect(url: string): void {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#targetPort = Number(port || 5432);
  }

  async listen(): Promise<void> {
    this.#server = this.#newServer();
    await once(this.#server.listen(this.#port, this.address), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async refuse(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    this.destroyConnections();
    await closed;
  }

  destroyConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  pause(): void {
    this.#paused = true;
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Forwards bytes of new connections; existing ones stay paused. */
  resumeNewConnections(): void {
    this.#paused = false;
  }

  close(): Promise<void> {
    return this.refuse();
  }

  #newServer(): Server {
    return createServer((near) => {
      const far = connect(this.#targetPort, this.#host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (chunk) => !this.discards && to.write(chunk));
        from.on('error', () => from.destroy());
        from.on('close', () => (this.#sockets.delete(from), to.destroy()));
        if (this.#paused) from.pause();
      }
    });
  }
}
