import { connect, type Socket } from 'node:net';
import { Wire } from '../attack/wire';
import { faultsOfHttp } from '../attack/judge';
import { until } from '../exactly-once/support/gate';
import { get, requested, startBareServer, type BareServer } from './support/bare-server';

/** Opens connections one after another, each known to the server before the next. */
async function silent({ base, connections }: BareServer, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  for (let place = 0; place < count; place += 1) {
    wires.push(await Wire.open(base));
    await until(
      () => connections.size,
      (size) => size >= Math.min(connections.max, place + 1),
    );
  }
  return wires;
}

describe('A server with as many connections as it accepts', () => {
  test('closes the oldest one without a request, and serves the new one', async () => {
    const server = await startBareServer({ maxConnections: 3 });
    const [oldest, next] = await silent(server, 3);
    const [answer] = await (await Wire.open(server.base)).write(get('/')).answers(1);
    expect(answer).toMatchObject({ status: 200, body: 'here' });
    await oldest?.closed;
    expect(next?.isOpen).toBe(true);
    expect(server.reasons).toEqual(['evicted']);
    expect(server.connections.size).toBe(3);
  });

  test('closes one that waits for its next request where there is none without a request', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const waiting = await Wire.open(server.base);
    await waiting.write(get('/')).answers(1);
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 2);
    const [answer] = await (await Wire.open(server.base)).write(get('/')).answers(1);
    expect(answer?.status).toBe(200);
    await waiting.closed;
    server.release();
    expect((await busy.answers(1))[0]).toMatchObject({ status: 200, body: 'released' });
  });

  test('answers one more with 503 and closes it while all others are in use', async () => {
    const server = await startBareServer({ maxConnections: 2 });
    const busy = [await Wire.open(server.base), await Wire.open(server.base)];
    const released = busy.map((wire) => wire.write(get('/held')).answers(1));
    await requested(server, 2);
    const refused = await (await Wire.open(server.base)).write(get('/')).end();
    expect(refused).toHaveLength(1);
    const [answer] = refused;
    expect(answer).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({
      errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 1000 } }],
    });
    expect(answer && faultsOfHttp(answer)).toEqual([]);
    expect(server.reasons).toEqual(['limit']);
    server.release();
    for (const answers of await Promise.all(released)) expect(answers[0]?.status).toBe(200);
    expect((await (await Wire.open(server.base)).write(get('/')).answers(1))[0]?.status).toBe(200);
  });

  test('drops what it cannot refuse politely, and accepts no more', async () => {
    const server = await startBareServer({ maxConnections: 1 });
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 1);
    const { port } = new URL(server.base);
    // Half-open: a refused client that does not close its side.
    const refused: Socket[] = Array.from({ length: 60 }, () =>
      connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true }).on('error', () => undefined),
    );
    await until(
      () => server.reasons.length,
      (count) => count === 60,
    );
    expect(new Set(server.reasons)).toEqual(new Set(['limit', 'dropped']));
    expect(server.connections.size).toBe(1);
    refused.forEach((socket) => socket.destroy());
    server.release();
    expect((await busy.answers(1))[0]?.status).toBe(200);
  });
});

describe('The limit of connections from one address', () => {
  test('refuses one address and serves another', async () => {
    const server = await startBareServer({ maxConnectionsPerAddress: 1 });
    const busy = (await Wire.open(server.base)).write(get('/held'));
    await requested(server, 1);
    expect((await (await Wire.open(server.base)).end())[0]?.status).toBe(503);
    const other = await Wire.open(server.base, '127.0.0.2');
    expect((await other.write(get('/')).answers(1))[0]?.status).toBe(200);
    expect(server.reasons).toEqual(['address_limit']);
    server.release();
    await busy.answers(1);
  });

  test('closes silent connections of that address only', async () => {
    const server = await startBareServer({ maxConnectionsPerAddress: 2 });
    const other = await Wire.open(server.base, '127.0.0.2');
    await until(
      () => server.connections.size,
      (size) => size === 1,
    );
    const [oldest] = await silent(server, 3);
    expect((await (await Wire.open(server.base)).write(get('/')).answers(1))[0]?.status).toBe(200);
    await oldest?.closed;
    expect(other.isOpen).toBe(true);
  });

  test('does not hold for trusted proxies', async () => {
    const server = await startBareServer({ maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] });
    await silent(server, 5);
    expect(server.connections.size).toBe(5);
    expect(server.reasons).toEqual([]);
  });
});

test('Requests that a client pipelines are carried out one after another', async () => {
  const server = await startBareServer({});
  const wire = (await Wire.open(server.base)).write(get('/held') + get('/').repeat(16));
  await requested(server, 1);
  expect(wire.received).toBe('');
  server.release();
  const answers = await wire.answers(17);
  expect(answers.map(({ body }) => body)).toEqual(['released', ...Array<string>(16).fill('here')]);
});

test('A client that pipelines thousands of requests loses its connection, and the server serves others', async () => {
  const server = await startBareServer({});
  const flood = (await Wire.open(server.base)).write(get('/held') + get('/').repeat(20_000));
  await flood.closed;
  expect(flood.received).toBe('');
  expect(server.reasons).toEqual(['pipeline_limit']);
  expect(server.connections.size).toBe(0);
  expect((await (await Wire.open(server.base)).write(get('/')).answers(1))[0]?.status).toBe(200);
  server.release();
});
