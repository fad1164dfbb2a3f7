import { Wire } from '../attack/wire';
import { until } from '../exactly-once/support/gate';
import { LARGE_BYTES, get, startBareServer, type BareServer } from './support/bare-server';

/** Opens a connection from that address, on which so many large responses are requested and none is read. */
async function unread({ base }: BareServer, requests: number, address = '127.0.0.1'): Promise<Wire> {
  const wire = await Wire.open(base, address);
  wire.socket.pause();
  return wire.write(get('/large').repeat(requests));
}

/** Lets a client read. Resolves when it has received so many bytes. */
async function receives(wire: Wire, bytes: number): Promise<void> {
  wire.socket.resume();
  await until(
    () => wire.received.length,
    (received) => received > bytes,
  );
}

const isServed = async ({ base }: BareServer): Promise<void> => {
  const wire = (await Wire.open(base, '127.0.0.9')).write(get('/'));
  expect((await wire.answers(1))[0]).toMatchObject({ status: 200, body: 'here' });
  wire.close();
};

describe('Responses that a client does not read', () => {
  test('are buffered one at a time, however many were requested on one connection', async () => {
    const server = await startBareServer();
    const wire = await unread(server, 16);
    await until(
      () => server.unread.bytes,
      (bytes) => bytes > 0,
    );
    await isServed(server);
    expect(server.unread.bytes).toBeLessThanOrEqual(LARGE_BYTES + 1000);
    wire.close();
  });

  test('end their connection after the timeout', async () => {
    const server = await startBareServer({ clientTimeoutMs: 500 });
    const wire = await unread(server, 2);
    await until(
      () => server.reasons,
      (reasons) => reasons.includes('write_timeout'),
    );
    expect(server.unread.bytes).toBe(0);
    // Its end shows once the client reads again.
    wire.socket.resume();
    await wire.closed;
    await isServed(server);
  });

  test('end their connection where they are many small ones', async () => {
    const server = await startBareServer();
    const wire = await Wire.open(server.base);
    wire.socket.pause();
    const more = setInterval(() => wire.write(get('/').repeat(500)), 5);
    await until(
      () => server.reasons,
      (reasons) => reasons.includes('pipeline_limit'),
    ).finally(() => {
      clearInterval(more);
      wire.close();
    });
  });

  test('are bounded for one caller: the connections with the most are closed, those of others stay', async () => {
    const server = await startBareServer({ maxUnreadBytesPerCaller: 2 * LARGE_BYTES });
    const other = await unread(server, 1, '127.0.0.2');
    const wires = await Promise.all(Array.from({ length: 5 }, () => unread(server, 1)));
    await until(
      () => server.reasons,
      (reasons) => reasons.length > 0,
    );
    expect(new Set(server.reasons)).toEqual(new Set(['unread_limit']));
    await until(
      () => server.unread.bytes,
      (bytes) => bytes <= 3 * LARGE_BYTES,
    );
    await receives(other, LARGE_BYTES);
    await isServed(server);
    [...wires, other].forEach((wire) => wire.close());
  });

  test('are bounded for all callers together', async () => {
    const server = await startBareServer({ maxUnreadBytes: 2 * LARGE_BYTES });
    const wires = await Promise.all(
      Array.from({ length: 6 }, (_, place) => unread(server, 1, `127.0.0.${place + 1}`)),
    );
    await until(
      () => server.reasons,
      (reasons) => reasons.includes('unread_limit'),
    );
    await until(
      () => server.unread.bytes,
      (bytes) => bytes <= 2 * LARGE_BYTES,
    );
    await isServed(server);
    wires.forEach((wire) => wire.close());
  });

  test('are delivered whole to a client that reads before the timeout', async () => {
    const server = await startBareServer();
    const wire = await unread(server, 2);
    await until(
      () => server.unread.bytes,
      (bytes) => bytes > 0,
    );
    await receives(wire, 2 * LARGE_BYTES);
    expect(server.reasons).toEqual([]);
  });
});
