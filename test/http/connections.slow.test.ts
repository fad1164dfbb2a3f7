import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/http/server/app';
import { Connections, type ConnectionLimits } from '../../src/http/server/connections';
import { UnreadResponseLimiter, type UnreadLimits } from '../../src/http/server/unread-response-limiter';
import {
  DISCONNECT_POINTS,
  DISCONNECTS,
  sendAndDisconnect,
  runSlowClient,
  slowClients,
} from '../adversarial/bad-clients';
import { httpProblems } from '../adversarial/assert-safe-response';
import { AUTHORIZED } from '../support/credentials';
import { latch, until } from '../support/latch';
import { CHANNEL, clear, closeAfterTests } from '../support/gateway';
import { newKey } from '../support/harness';
import { Wire, requestText } from '../support/wire';
import { heapInUse, openSockets } from './support/resources';
import { startServer, type Server } from './support/servers';

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

/** Size of a large response: more than the kernel buffers for both ends of a connection. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Starts the web server of a gateway with the routes / (small), /large and /held, which responds after release(). */
async function startBareServer(limits: Partial<ConnectionLimits & UnreadLimits> = {}) {
  const reasons: string[] = [];
  const record = (reason: string): void => void reasons.push(reason);
  const all = {
    ...{ maxConnections: 1000, maxConnectionsPerAddress: 0, trustedProxies: [], clientTimeoutMs: 60_000 },
    ...{ maxUnreadBytes: 1e9, maxUnreadBytesPerCaller: 1e9 },
    ...limits,
  };
  const connections = new Connections(all, { onConnectionRefused: record, onConnectionClosed: record });
  const unread = new UnreadResponseLimiter(connections, all);
  const app = createApp({ log: pino({ level: 'silent' }), ...all, trustedProxies: [], connections });
  const { opened, open } = latch();
  app.get('/', () => 'here');
  app.get('/large', () => 'x'.repeat(LARGE_BYTES));
  app.get('/held', () => opened.then(() => 'released'));
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

type BareServer = Awaited<ReturnType<typeof startBareServer>>;

const get = (path: string): string => requestText(`GET ${path} HTTP/1.1`, ['Host: gateway']);

/** Opens a connection and sends these bytes on it. */
const open = async ({ base }: BareServer, text = '', address?: string): Promise<Wire> =>
  (await Wire.open(base, address)).write(text);

/** Opens connections with a request that gets its response after release(). */
async function openBusy(server: BareServer, count: number): Promise<Wire[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => open(server, get('/held'))));
  await until(
    () =>
      [...server.connections.all()].filter(({ latestResponse }) => latestResponse?.writableFinished === false)
        .length >= count,
  );
  return wires;
}

/** Opens idle connections one after another. */
async function openIdle(server: BareServer, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  while (wires.length < count) {
    wires.push(await open(server));
    await until(() => server.connections.size === wires.length);
  }
  return wires;
}

async function expectServed(server: BareServer): Promise<void> {
  const wire = await open(server, get('/'), '127.0.0.9');
  expect((await wire.responses(1))[0]).toMatchObject({ status: 200, body: 'here' });
  wire.close();
}

async function expectReleased(server: BareServer, busy: readonly Wire[]): Promise<void> {
  server.release();
  for (const wire of busy)
    expect((await wire.responses(1))[0]).toMatchObject({ status: 200, body: 'released' });
}

describe('A server with MAX_CONNECTIONS open connections', () => {
  test('closes the oldest connection that has sent no request, and serves a new one', async () => {
    const server = await startBareServer({ maxConnections: 3 });
    const [oldest, next] = await openIdle(server, 3);
    await expectServed(server);
    await oldest?.closed;
    expect([next?.isOpen, server.reasons]).toEqual([true, ['evicted']]);
  });

  test('closes an idle connection to serve a new one, if every open connection has sent a request', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const idle = await open(server, get('/'));
    await idle.responses(1);
    const busy = await openBusy(server, 1);
    await expectServed(server);
    await idle.closed;
    await expectReleased(server, busy);
  });

  test('refuses a new connection with 503 if every connection has a request in flight', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const busy = await openBusy(server, 2);
    const [response, ...others] = await (await open(server, get('/'))).end();
    expect(others).toEqual([]);
    expect(response).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    expect(JSON.parse(response?.body ?? '')).toMatchObject({
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1000 } }],
    });
    expect(response && httpProblems(response)).toEqual([]);
    expect(server.reasons).toEqual(['limit']);
    await expectReleased(server, busy);
    await expectServed(server);
  });

  test('drops new connections without a response if many refused connections are still open', async () => {
    const server = await startBareServer({ maxConnections: 1 });
    const busy = await openBusy(server, 1);
    const port = Number(new URL(server.base).port);
    // Half-open, like the connection of a refused client that does not close its side.
    const refused: Socket[] = Array.from({ length: 60 }, () =>
      connect({ host: '127.0.0.1', port, allowHalfOpen: true }).on('error', () => undefined),
    );
    await until(() => server.reasons.length === 60);
    expect(new Set(server.reasons)).toEqual(new Set(['limit', 'dropped']));
    refused.forEach((socket) => socket.destroy());
    await expectReleased(server, busy);
  });
});

test('MAX_CONNECTIONS_PER_ADDRESS=1 refuses a second connection from one address, and serves another address', async () => {
  const server = await startBareServer({ maxConnectionsPerAddress: 1 });
  const busy = await openBusy(server, 1);
  expect((await (await open(server)).end())[0]?.status).toBe(503);
  await expectServed(server);
  expect(server.reasons).toEqual(['address_limit']);
  await expectReleased(server, busy);
});

test('MAX_CONNECTIONS_PER_ADDRESS does not apply to trusted proxies', async () => {
  const server = await startBareServer({ maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] });
  await openIdle(server, 5);
  expect(server.reasons).toEqual([]);
});

test('Pipelined requests are processed one after another', async () => {
  const server = await startBareServer();
  const [wire] = await openBusy(server, 1);
  wire!.write(get('/').repeat(16));
  await expectServed(server);
  expect(wire!.received).toBe('');
  server.release();
  const bodies = (await wire!.responses(17)).map(({ body }) => body);
  expect(bodies).toEqual(['released', ...Array<string>(16).fill('here')]);
});

test('A connection with thousands of pipelined requests is closed', async () => {
  const server = await startBareServer();
  const flood = await open(server, get('/held') + get('/').repeat(5_000));
  await flood.closed;
  expect([flood.received, server.reasons]).toEqual(['', ['pipeline_limit']]);
  await expectServed(server);
  server.release();
});

describe('Responses that a client does not read', () => {
  /** Opens a connection that requests large responses and reads none. */
  async function openUnread(server: BareServer, requests: number, address?: string): Promise<Wire> {
    const wire = await open(server, '', address);
    wire.socket.pause();
    return wire.write(get('/large').repeat(requests));
  }

  /** Reads until that many bytes have been received. */
  async function receives({ socket }: Wire, bytes: number): Promise<void> {
    let received = 0;
    socket.removeAllListeners('data').on('data', (chunk: Buffer) => (received += chunk.length));
    socket.resume();
    await until(() => received > bytes);
  }

  test('are buffered one at a time per connection, and delivered completely when the client reads', async () => {
    const server = await startBareServer();
    const wire = await openUnread(server, 3);
    await until(() => server.unread.unreadBytes);
    await expectServed(server);
    expect(server.unread.unreadBytes).toBeLessThanOrEqual(LARGE_BYTES + 1000);
    await receives(wire, 3 * LARGE_BYTES);
    expect(server.reasons).toEqual([]);
    wire.close();
  });

  test('cause their connection to be closed after CLIENT_TIMEOUT_MS', async () => {
    const server = await startBareServer({ clientTimeoutMs: 300 });
    const wire = await openUnread(server, 2);
    await until(() => server.reasons.includes('write_timeout'));
    expect(server.unread.unreadBytes).toBe(0);
    // The end of the connection is visible once the client reads again.
    wire.socket.removeAllListeners('data').resume();
    await wire.closed;
    await expectServed(server);
  });

  test.each([
    ['per caller', 'maxUnreadBytesPerCaller', 3, (): string => '127.0.0.1'],
    ['for all callers together', 'maxUnreadBytes', 2, (place: number): string => `127.0.0.${place}`],
  ] as const)(
    'are limited in size %s: beyond the limit, connections are closed',
    async (_whom, limit, kept, address) => {
      const server = await startBareServer({ [limit]: 2 * LARGE_BYTES });
      const other =
        limit === 'maxUnreadBytesPerCaller' ? await openUnread(server, 1, '127.0.0.2') : undefined;
      const wires = await Promise.all([1, 2, 3, 4].map((place) => openUnread(server, 1, address(place))));
      await until(() => server.reasons.length > 0);
      expect(new Set(server.reasons)).toEqual(new Set(['unread_limit']));
      await until(() => server.unread.unreadBytes <= kept * LARGE_BYTES);
      if (other) await receives(other, LARGE_BYTES);
      await expectServed(server);
      for (const wire of other ? [...wires, other] : wires) wire.close();
    },
  );
});

const serves = async ({ client }: Server): Promise<boolean> =>
  (await client.request('{ __typename }')).status === 200;

test('A client that never completes its request is disconnected after CLIENT_TIMEOUT_MS, and delays no other client', async () => {
  const server = await startServer({ CLIENT_TIMEOUT_MS: '300' });
  const before = openSockets();
  const clients = Array.from({ length: 5 }, () => slowClients(authorization)).flat();
  const disconnected = Promise.all(clients.map((client) => runSlowClient(server.base, client)));
  for (let count = 0; count < 10; count += 1) expect(await serves(server)).toBe(true);
  for (const [place, responses] of (await disconnected).entries()) {
    const { name } = clients[place]!;
    // Status 100 asks for the body; 200 belongs to an earlier request.
    const final = responses.filter(({ status }) => ![100, 200].includes(status));
    const seen = final.map((response) => ({ name, status: response.status, faults: httpProblems(response) }));
    expect(seen).toEqual([{ name, status: 408, faults: [] }]);
  }
  await until(openSockets, (count) => count <= before + 5);
});

test.each(DISCONNECTS)(
  'The gateway leaks neither sockets nor memory when clients disconnect by %s at any point of a request',
  async (_how, disconnect) => {
    const server = await startServer();
    const lookup = (): string =>
      JSON.stringify({
        query: `{ payment(channel: "${CHANNEL}", externalId: "${newKey()}") { __typename } }`,
      });
    const disconnectAll = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1)
        for (const point of DISCONNECT_POINTS) {
          const bodies = Array.from({ length: 10 }, lookup);
          const options = { headers: [authorization], disconnect };
          await Promise.all(bodies.map((body) => sendAndDisconnect(server.base, point, body, options)));
        }
      clear(server);
    };
    // Connections to the service, caches and compiled code remain, and are not leaks.
    await disconnectAll(2);
    const [sockets, heap] = [openSockets(), heapInUse()];
    await disconnectAll(6);
    await until(openSockets, (now) => now <= sockets + 30);
    expect(await serves(server)).toBe(true);
    expect(heapInUse() - heap).toBeLessThan(15);
  },
);
