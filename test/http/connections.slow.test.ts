import { connect, type Socket } from 'node:net';
import {
  DISCONNECT_POINTS,
  DISCONNECTS,
  sendAndDisconnect,
  runSlowClient,
  slowClients,
  type Disconnect,
  type DisconnectPoint,
} from '../adversarial/bad-clients';
import { httpProblems } from '../adversarial/assert-safe-response';
import { Caller, createInput } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { newKey } from '../support/harness';
import { Wire, postText } from '../support/wire';
import { LARGE_BYTES, get, requested, startBareServer, type BareServer } from './support/bare-server';
import { heapInUse, openSockets } from './support/resources';
import { startServer, type Server } from './support/servers';

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

async function expectServed({ base }: Pick<BareServer, 'base'>): Promise<void> {
  const wire = (await Wire.open(base, '127.0.0.9')).write(get('/'));
  expect((await wire.responses(1))[0]).toMatchObject({ status: 200, body: 'here' });
  wire.close();
}

/** Opens idle connections one after another. */
async function silent({ base, connections }: BareServer, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  for (let place = 0; place < count; place += 1) {
    wires.push(await Wire.open(base));
    await until(() => connections.size >= Math.min(connections.max, place + 1));
  }
  return wires;
}

describe('A server at its limit MAX_CONNECTIONS', () => {
  test('closes the oldest connection without a request, and serves a new one', async () => {
    const server = await startBareServer({ maxConnections: 3 });
    const [oldest, next] = await silent(server, 3);
    const [response] = await (await Wire.open(server.base)).write(get('/')).responses(1);
    expect(response).toMatchObject({ status: 200, body: 'here' });
    await oldest?.closed;
    expect(next?.isOpen).toBe(true);
    expect(server.reasons).toEqual(['evicted']);
    expect(server.connections.size).toBe(3);
  });

  test('closes an idle connection if every connection has sent a request', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const idle = await Wire.open(server.base);
    await idle.write(get('/')).responses(1);
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 2);
    await expectServed(server);
    await idle.closed;
    server.release();
    expect((await busy.responses(1))[0]).toMatchObject({ status: 200, body: 'released' });
  });

  test('refuses a new connection with 503 if all others are in use', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const busy = [await Wire.open(server.base), await Wire.open(server.base)];
    const released = busy.map((wire) => wire.write(get('/held')).responses(1));
    await requested(server, 2);
    const refused = await (await Wire.open(server.base)).write(get('/')).end();
    expect(refused).toHaveLength(1);
    const [response] = refused;
    expect(response).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    expect(JSON.parse(response?.body ?? '')).toMatchObject({
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1000 } }],
    });
    expect(response && httpProblems(response)).toEqual([]);
    expect(server.reasons).toEqual(['limit']);
    server.release();
    for (const responses of await Promise.all(released)) expect(responses[0]?.status).toBe(200);
    await expectServed(server);
  });

  test('drops new connections without a response if many refused ones are still open', async () => {
    const server = await startBareServer({ maxConnections: 1 });
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 1);
    const { port } = new URL(server.base);
    // Half-open, like the connection of a refused client that does not close its side.
    const refused: Socket[] = Array.from({ length: 60 }, () =>
      connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true }).on('error', () => undefined),
    );
    await until(() => server.reasons.length === 60);
    expect(new Set(server.reasons)).toEqual(new Set(['limit', 'dropped']));
    expect(server.connections.size).toBe(1);
    refused.forEach((socket) => socket.destroy());
    server.release();
    expect((await busy.responses(1))[0]?.status).toBe(200);
  });
});

describe('MAX_CONNECTIONS_PER_ADDRESS', () => {
  test('refuses a second connection from one address, and serves another address', async () => {
    const server = await startBareServer({ maxConnectionsPerAddress: 1 });
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 1);
    expect((await (await Wire.open(server.base)).end())[0]?.status).toBe(503);
    await expectServed(server);
    expect(server.reasons).toEqual(['address_limit']);
    server.release();
    await busy.responses(1);
  });

  test('does not apply to trusted proxies', async () => {
    const server = await startBareServer({ maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] });
    await silent(server, 5);
    expect(server.connections.size).toBe(5);
    expect(server.reasons).toEqual([]);
  });
});

describe('Pipelined requests', () => {
  test('are processed one after another', async () => {
    const server = await startBareServer({});
    const wire = (await Wire.open(server.base)).write(get('/held') + get('/').repeat(16));
    await requested(server, 1);
    expect(wire.received).toBe('');
    server.release();
    const responses = await wire.responses(17);
    expect(responses.map(({ body }) => body)).toEqual(['released', ...Array<string>(16).fill('here')]);
  });

  test('end their connection when there are thousands', async () => {
    const server = await startBareServer({});
    const flood = (await Wire.open(server.base)).write(get('/held') + get('/').repeat(5_000));
    await flood.closed;
    expect(flood.received).toBe('');
    expect(server.reasons).toEqual(['pipeline_limit']);
    expect(server.connections.size).toBe(0);
    await expectServed(server);
    server.release();
  });
});

describe('Responses that a client does not read', () => {
  /** Opens a connection that requests large responses and reads none. */
  async function unread({ base }: BareServer, requests: number, address = '127.0.0.1'): Promise<Wire> {
    const wire = await Wire.open(base, address);
    wire.socket.pause();
    return wire.write(get('/large').repeat(requests));
  }

  /** Reads until that many bytes have been received. */
  async function receives(wire: Wire, bytes: number): Promise<void> {
    let received = 0;
    wire.socket.removeAllListeners('data').on('data', (chunk: Buffer) => (received += chunk.length));
    wire.socket.resume();
    await until(() => received > bytes);
  }

  const buffered = ({ unread: responses }: BareServer): Promise<number> => until(() => responses.bytes);

  test('are buffered one at a time per connection, and delivered completely when the client reads', async () => {
    const server = await startBareServer();
    const wire = await unread(server, 3);
    await buffered(server);
    await expectServed(server);
    expect(server.unread.bytes).toBeLessThanOrEqual(LARGE_BYTES + 1000);
    await receives(wire, 3 * LARGE_BYTES);
    expect(server.reasons).toEqual([]);
    wire.close();
  });

  test('end their connection after CLIENT_TIMEOUT_MS', async () => {
    const server = await startBareServer({ clientTimeoutMs: 300 });
    const wire = await unread(server, 2);
    await until(() => server.reasons.includes('write_timeout'));
    expect(server.unread.bytes).toBe(0);
    // The end of the connection is visible once the client reads again.
    wire.socket.removeAllListeners('data').resume();
    await wire.closed;
    await expectServed(server);
  });

  test.each([
    ['one caller, not for others', 'maxUnreadBytesPerCaller', (): string => '127.0.0.1'],
    ['all callers together', 'maxUnreadBytes', (place: number): string => `127.0.0.${place}`],
  ] as const)('are limited for %s: connections with most data are closed', async (_whom, limit, address) => {
    const server = await startBareServer({ [limit]: 2 * LARGE_BYTES });
    const other = limit === 'maxUnreadBytesPerCaller' ? await unread(server, 1, '127.0.0.2') : undefined;
    const wires = await Promise.all([1, 2, 3, 4].map((place) => unread(server, 1, address(place))));
    await until(() => server.reasons.length > 0);
    expect(new Set(server.reasons)).toEqual(new Set(['unread_limit']));
    await until(() => server.unread.bytes <= (other ? 3 : 2) * LARGE_BYTES);
    if (other) await receives(other, LARGE_BYTES);
    await expectServed(server);
    for (const wire of other ? [...wires, other] : wires) wire.close();
  });
});

const serves = async ({ client }: Server): Promise<boolean> =>
  (await client.request('{ __typename }')).status === 200;

test('A client that does not finish its request is disconnected after CLIENT_TIMEOUT_MS, with status 408 or no response, and delays no other client', async () => {
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
    expect(seen).toEqual(final.slice(0, 1).map(() => ({ name, status: 408, faults: [] })));
  }
  await until(openSockets, (count) => count <= before + 5);
});

describe('A client that disconnects', () => {
  let server: Server;
  let caller: Caller;

  beforeAll(async () => {
    server = await startServer();
    caller = new Caller(server.base);
    // Warm-up: connections to the service, caches and compiled code remain and are not leaks.
    await caller.create('payment', newKey());
  });

  const lookup = (): string =>
    JSON.stringify({ query: `{ payment(channel: "${CHANNEL}", externalId: "${newKey()}") { __typename } }` });
  const create = (key: string): string =>
    JSON.stringify({
      query: 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
      variables: { input: createInput('payment', key) },
    });

  const SPARE_CONNECTIONS = 30;

  /** Sends bodies on connections of their own, all at once, and disconnects each at that point. */
  const sendAll = (bodies: readonly string[], point: DisconnectPoint, disconnect: Disconnect) => {
    const options = { headers: [authorization], disconnect };
    return Promise.all(bodies.map((body) => sendAndDisconnect(server.base, point, body, options)));
  };

  test.each(DISCONNECTS)('(%s) at any point of its request leaks no sockets', async (_how, disconnect) => {
    const before = openSockets();
    for (const departure of DISCONNECT_POINTS)
      for (let round = 0; round < 5; round += 1)
        await sendAll(Array.from({ length: 10 }, lookup), departure, disconnect);
    await until(openSockets, (now) => now <= before + SPARE_CONNECTIONS);
    expect(await serves(server)).toBe(true);
  });

  const BEFORE_ANSWER = DISCONNECT_POINTS.find(({ name }) => name === 'before the answer')!;

  test('leaks no memory, even if it does so hundreds of times', async () => {
    const [, disconnect] = DISCONNECTS[1]!;
    const rounds = async (count: number): Promise<void> => {
      for (let round = 0; round < count; round += 1)
        await sendAll(Array.from({ length: 20 }, lookup), BEFORE_ANSWER, disconnect);
      server.service.requests.length = 0;
      server.logLines.length = 0;
    };
    await rounds(5);
    const before = heapInUse();
    await rounds(15);
    expect(heapInUse() - before).toBeLessThan(15);
  });

  test.each(DISCONNECTS)(
    '(%s) right after sending a create, and repeats it, creates exactly once',
    async (_how, disconnect) => {
      const keys = Array.from({ length: 15 }, newKey);
      await sendAll(keys.map(create), BEFORE_ANSWER, disconnect);
      for (const key of keys) {
        const end = await until(
          () => caller.create('payment', key),
          ({ result }) => result !== 'RequestInProgressError',
        );
        expect(end.result).toBe('PaymentSuccess');
        expect(server.service.created(key)).toHaveLength(1);
      }
    },
  );

  test('before its request body is complete causes no attempt and no payment', async () => {
    const key = newKey();
    const wire = await Wire.open(server.base);
    wire.write(postText(create(key), ['Host: gateway', authorization]).slice(0, -1));
    wire.socket.end();
    wire.socket.resume();
    await wire.closed;
    expect(await caller.attempt(key)).toBeNull();
    expect(server.service.created(key)).toHaveLength(0);
  });
});
