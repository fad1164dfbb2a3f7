import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const CHANNEL = 'net.server.socket';

/** The servers' ends of the connections that are made in this process from now on. */
export class ServerSockets {
  readonly #sockets: Socket[] = [];
  readonly #taken = (message: unknown): void => {
    this.#sockets.push((message as { socket: Socket }).socket);
  };

  constructor() {
    subscribe(CHANNEL, this.#taken);
  }

  /** The server's end of a connection, by the port of the other. */
  to(port: number | undefined): Socket {
    const socket = this.#sockets.find(({ remotePort }) => remotePort === port);
    if (!socket) throw new Error(`Nobody has connected from port ${port}.`);
    return socket;
  }

  stop(): void {
    unsubscribe(CHANNEL, this.#taken);
  }
}
