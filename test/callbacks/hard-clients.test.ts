import { Wire } from '../attack/wire';
import { until } from '../exactly-once/support/gate';
import { bare, startListener, withBody, type Listener } from './support/listener';

const SMALL = 64 * 1024;
const MEGABYTE = 1024 * 1024;

let listener: Listener;

beforeAll(async () => {
  listener = await startListener();
});

beforeEach(() => {
  listener.hints.length = 0;
  listener.sockets.length = 0;
});

const serves = async (): Promise<boolean> => (await fetch(`${listener.base}/callbacks/next`)).status === 204;

/** Sends that again and again until the server ends the connection, or far more of it than a server should take. */
async function sendWithoutEnd(wire: Wire, piece: string): Promise<number> {
  const bytes = Buffer.from(piece);
  let sent = 0;
  while (wire.isOpen && sent < 64 * MEGABYTE) {
    sent += bytes.length;
    if (wire.socket.write(bytes)) continue;
    await Promise.race([new Promise((resolve) => wire.socket.once('drain', resolve)), wire.closed]);
  }
  return sent;
}

describe('A body that is long, or that may be, is not waited for', () => {
  const piece = 'x'.repeat(SMALL);

  test.each([
    ['in chunks that never end', 'Transfer-Encoding: chunked', `${SMALL.toString(16)}\r\n${piece}\r\n`],
    ['in one endless chunk', 'Transfer-Encoding: chunked\r\n\r\nfffffffff', piece],
    ['of a gigabyte, as it says before', 'Content-Length: 1000000000', piece],
  ])('%s: the answer comes, and the connection ends after little of it', async (_how, header, part) => {
    const wire = await Wire.open(listener.base);
    wire.write(bare('POST /callbacks/token', [header]));
    const sent = await sendWithoutEnd(wire, part);
    const answers = await wire.end();
    expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[204, 'close']]);
    // What the operating systems on both sides hold counts as sent.
    expect(sent).toBeLessThan(64 * MEGABYTE);
    const [socket] = listener.sockets;
    await until(
      () => socket?.destroyed,
      (isGone) => isGone === true,
    );
    expect(socket?.bytesRead).toBeLessThan(MEGABYTE);
    expect(listener.hints).toEqual(['token']);
    expect(await serves()).toBe(true);
  });

  test('a connection is kept for the last length that counts as small, and ended for the next', async () => {
    const kept = await Wire.open(listener.base);
    const two = withBody('POST /callbacks/a', 'x'.repeat(SMALL)) + bare('POST /callbacks/b');
    const both = await kept.write(two).answers(2);
    expect(both.map(({ status, headers }) => [status, headers.connection])).toEqual([
      [204, 'keep-alive'],
      [204, 'keep-alive'],
    ]);
    kept.close();
    const ended = await Wire.open(listener.base);
    const one = withBody('POST /callbacks/c', 'x'.repeat(SMALL + 1)) + bare('POST /callbacks/d');
    const only = await ended.write(one).end();
    expect(only.map(({ status, headers }) => [status, headers.connection])).toEqual([[204, 'close']]);
    expect(listener.hints.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  test.each(['Infinity', '-1', '1e3', '0x10', '99999999999999999999', '1, 2'])(
    'a length of %s is none: nothing is taken for a token',
    async (length) => {
      const wire = await Wire.open(listener.base);
      const answers = await wire.write(bare('POST /callbacks/token', [`Content-Length: ${length}`])).end();
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expect(listener.hints).toEqual([]);
    },
  );

  test('an ordinary client that sends chunks has its answer', async () => {
    const parts = ['{"status":', '"success"}'];
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(Buffer.from(part));
      },
    });
    // Node's fetch asks for this where the body is a stream.
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
    expect((await fetch(`${listener.base}/callbacks/token`, init)).status).toBe(204);
    expect(listener.hints).toEqual(['token']);
  });
});

describe('A client that stops in the middle', () => {
  let impatient: Listener;

  beforeAll(async () => {
    impatient = await startListener({ clientTimeoutMs: 300 });
  });

  const head = (header: string): string => bare('POST /callbacks/token', [header]);

  test.each([
    ['of a short body', `${head('Content-Length: 1000')}{"a":`],
    ['of a long body', `${head('Content-Length: 100000')}{"a":`],
    ['of a chunk', `${head('Transfer-Encoding: chunked')}100\r\n{"a":`],
    ['between chunks', `${head('Transfer-Encoding: chunked')}5\r\n{"a":\r\n`],
    ['before its body', head('Content-Length: 10')],
  ])('%s has its answer all the same, and is sent away', async (_where, text) => {
    impatient.hints.length = 0;
    const wire = await Wire.open(impatient.base);
    const [first, ...more] = (await wire.write(text).end()).map(({ status }) => status);
    expect(first).toBe(204);
    // Where the connection was kept for the rest, it is told why it ends.
    expect([[], [408]]).toContainEqual(more);
    expect(impatient.hints).toEqual(['token']);
  });

  test.each(['', 'POST /callb', 'POST /callbacks/token HTTP/1.1\r\nHost: gateway\r\nX-A: '])(
    'of its headers counts for nothing: %j',
    async (text) => {
      impatient.hints.length = 0;
      const wire = await Wire.open(impatient.base);
      const answers = await wire.write(text).end();
      expect(answers.map(({ status }) => status)).toEqual([408]);
      expect(impatient.hints).toEqual([]);
    },
  );
});

test('clients that leave without waiting for the answer hold nobody up', async () => {
  const wires = await Promise.all(Array.from({ length: 50 }, () => Wire.open(listener.base)));
  for (const wire of wires) {
    wire.write(bare('POST /callbacks/token', ['Content-Length: 50']) + 'half');
    wire.socket.resetAndDestroy();
  }
  await until(
    () => listener.sockets.filter((socket) => !socket.destroyed).length,
    (open) => open === 0,
  );
  expect(await serves()).toBe(true);
});

describe('What is no HTTP is refused as everywhere', () => {
  test.each([
    ['noise', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a method that there is not', bare('STEAL /callbacks/token')],
    ['no Host', 'POST /callbacks/token HTTP/1.1\r\n\r\n'],
    ['a version that there is not', 'POST /callbacks/token HTTP/9.9\r\nHost: gateway\r\n\r\n'],
    ['a blank in the address', bare('POST /callbacks/to ken')],
    ['headers without end', bare('POST /callbacks/token', [`X-A: ${'a'.repeat(100_000)}`])],
    ['two lengths', bare('POST /callbacks/token', ['Content-Length: 1', 'Content-Length: 2'])],
    [
      'a length and chunks',
      bare('POST /callbacks/token', ['Content-Length: 1', 'Transfer-Encoding: chunked']),
    ],
  ])('%s', async (_name, text) => {
    const wire = await Wire.open(listener.base);
    const answers = await wire.write(text).end();
    expect(answers).toHaveLength(1);
    expect([400, 431]).toContain(answers[0]?.status);
    expect(listener.hints).toEqual([]);
    expect(await serves()).toBe(true);
  });

  test.each([
    ['noise after a whole request', `${bare('POST /callbacks/token')}\0\xff noise\r\n\r\n`, 2],
    [
      'a chunk whose size is none',
      bare('POST /callbacks/token', ['Transfer-Encoding: chunked']) + 'zz\r\n',
      1,
    ],
  ])('%s: the connection ends, and the next is served', async (_name, text, atMost) => {
    const wire = await Wire.open(listener.base);
    const answers = await wire.write(text).end();
    expect(answers.length).toBeLessThanOrEqual(atMost);
    for (const { status } of answers) expect([204, 400]).toContain(status);
    expect(await serves()).toBe(true);
  });
});
