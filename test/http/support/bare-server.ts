import { pino } from 'pino';
import { createApp } from '../../../src/http/server/app';
import { Connections, type ConnectionLimits } from '../../../src/http/server/connections';
import { UnreadResponses, type UnreadLimits } from '../../../src/http/server/unread-responses';
import { requestText } from '../../support/wire';
import { latch, until } from '../../support/latch';
import { closeAfterTests } from '../../support/gateway';

/** Size of a large response: more than the kernel buffers for both ends of a connection. */
export const LARGE_BYTES = 16 * 1024 * 1024;

/** The web server of a gateway with three routes: / (small), /large and /held, which responds after release(). */
export interface BareServer {
  base: string;
  connections: Connections;
  unread: UnreadResponses;
  reasons: string[];
  release(): void;
}

export async function startBareServer(
  limits: Partial<ConnectionLimits & UnreadLimits> = {},
): Promise<BareServer> {
  const reasons: string[] = [];
  const record = (reason: string): void => void reasons.push(reason);
  const { clientTimeoutMs = 60_000 } = limits;
  const connections = new Connections(
    { maxConnections: 1000, maxConnectionsPerAddress: 0, trustedProxies: [], ...limits },
    { connectionRejected: record, connectionClosed: record },
  );
  const unread = new UnreadResponses(connections, {
    clientTimeoutMs,
    maxUnreadBytes: 1e9,
    maxUnreadBytesPerCaller: 1e9,
    ...limits,
  });
  const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [], clientTimeoutMs, connections });
  const { opened, open } = latch();
  app.get('/', () => 'here');
  app.get('/large', () => 'x'.repeat(LARGE_BYTES));
  app.get('/held', async () => {
    await opened;
    return 'released';
  });
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  closeAfterTests({
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
      unread.stop();
    },
  });
  return { base, connections, unread, reasons, release: open };
}

export const get = (path: string): string => requestText(`GET ${path} HTTP/1.1`, ['Host: gateway']);

export const requested = ({ connections }: BareServer, count: number): Promise<boolean> =>
  until(() => [...connections.all()].filter(({ latest }) => latest).length === count);
