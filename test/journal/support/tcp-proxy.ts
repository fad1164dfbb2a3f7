import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that can fall silent: nothing arrives and nothing is refused. */
export interface TcpProxy {
  port: number;
  silence(): void;
  /** New connections work again; those that are there stay silent for ever. */
  forget(): void;
  /** What was held back arrives now. */
  resume(): void;
  close(): Promise<void>;
}

export async function tcpProxy(port: number, host: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((near) => {
    const far = connect(port, host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => from.destroy());
      from.on('close', () => (sockets.delete(from), to.end()));
      if (silent) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => {
      silent = true;
      for (const socket of sockets) socket.pause();
    },
    forget: () => {
      silent = false;
    },
    resume: () => {
      silent = false;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
