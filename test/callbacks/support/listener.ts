import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createApp } from '../../../src/http/server/app';
import { Connections } from '../../../src/http/server/connections';
import { addCallbacks } from '../../../src/http/server/callback-route';
import { requestText } from '../../support/wire';
import { closeAfterTests } from '../../support/gateway';

/** The web server of the gateway with the callback route only. */
export interface Listener {
  app: FastifyInstance;
  base: string;
  /** Tokens that the route has read, in order. */
  tokens: string[];
  logLines: string[];
  sockets: Socket[];
}

interface ListenerOptions {
  clientTimeoutMs?: number;
  onCallback?(token: string): void;
  addRoutes?(app: FastifyInstance): unknown;
}

export async function startListener(options: ListenerOptions = {}): Promise<Listener> {
  const { clientTimeoutMs = 20_000, onCallback, addRoutes } = options;
  const [tokens, logLines, sockets]: [string[], string[], Socket[]] = [[], [], []];
  const log = pino({ level: 'trace' }, { write: (line) => void logLines.push(line) });
  const connections = new Connections(
    { maxConnections: 1000, maxConnectionsPerAddress: 0, trustedProxies: [] },
    { connectionRejected: () => undefined, connectionClosed: () => undefined },
  );
  const app = createApp({ log, trustedProxies: [], clientTimeoutMs, connections });
  addCallbacks(app, (token) => {
    tokens.push(token);
    onCallback?.(token);
  });
  await addRoutes?.(app);
  app.server.on('connection', (socket: Socket) => sockets.push(socket));
  await app.listen({ host: '127.0.0.1', port: 0 });
  closeAfterTests({ close: () => app.close() });
  const { port } = app.server.address() as AddressInfo;
  return { app, base: `http://127.0.0.1:${port}`, tokens, logLines, sockets };
}

export const withBody = (line: string, body: string, headers: readonly string[] = []): string =>
  requestText(`${line} HTTP/1.1`, ['Host: gateway', ...headers, `Content-Length: ${body.length}`], body);

export const bare = (line: string, headers: readonly string[] = []): string =>
  requestText(`${line} HTTP/1.1`, ['Host: gateway', ...headers]);
