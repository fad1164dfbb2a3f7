import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { redirectCall, sendCall } from '../support/calls';
import { testGateway } from '../support/gateway';

let server: Server;
/** The connections of the gateway, in the order in which they were opened. */
let connections: Socket[];
/** The connection of each create, as its index in `connections`. */
let used: number[];
let responseHeaders: Record<string, string>;
let caller: Awaited<ReturnType<typeof testGateway>>;

beforeEach(async () => {
  [connections, used, responseHeaders] = [[], [], {}];
  server = createServer((request, response) => {
    used.push(connections.indexOf(request.socket));
    response.writeHead(201, { 'content-type': 'application/json', ...responseHeaders });
    response.end(JSON.stringify({ status: 'processing', transaction_id: randomUUID() }));
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  caller = await testGateway(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

async function create(): Promise<void> {
  expect((await sendCall(caller, redirectCall('CARD'))).result?.__typename).toBe('PaymentSuccess');
}

async function opened(count: number): Promise<void> {
  while (connections.length < count) await once(server, 'connection');
}

describe('A create', () => {
  test('reuses the connection of a create that has just ended', async () => {
    for (let count = 0; count < 3; count += 1) {
      await create();
      // A real wait, because sockets have no simulated time; a connection is reused after 5 ms.
      await setTimeout(10);
    }
    expect(used).toEqual([0, 0, 0]);
  });

  test('is not lost when the service closes each connection after its response without announcing it', async () => {
    server.on('request', ({ socket }, response) => response.on('finish', () => socket.end()));
    for (let count = 0; count < 20; count += 1) await create();
    expect(new Set(used).size).toBe(20);
  });

  test.each<Record<string, string>>([
    { connection: 'close' },
    { 'keep-alive': 'timeout=1' },
    { 'keep-alive': 'timeout=9, max=0' },
  ])(
    'does not reuse a connection after a response with %j, and uses one that was opened in advance',
    async (headers) => {
      responseHeaders = headers;
      await create();
      await opened(2);
      await create();
      expect(used).toEqual([0, 1]);
      expect(connections.length).toBeGreaterThan(2);
    },
  );

  test('is not sent over a connection that was opened in advance and closed by the service', async () => {
    responseHeaders = { connection: 'close' };
    await create();
    await opened(2);
    const [, standby] = connections;
    standby?.destroy();
    await once(standby!, 'close');
    await create();
    expect(used).toHaveLength(2);
    expect(used).not.toContain(1);
  });

  test('is not sent over a connection on which the service sent bytes before a request', async () => {
    responseHeaders = { connection: 'close' };
    await create();
    await opened(2);
    connections[1]?.write('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}');
    await once(connections[1]!, 'close');
    await create();
    expect(used).not.toContain(1);
  });

  test('does not reuse a connection that has been idle for more than a second', async () => {
    await create();
    await once(connections[0]!, 'close');
    await create();
    expect(used[1]).not.toBe(0);
  });
});
