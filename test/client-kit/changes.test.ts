import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { changes, gatewayError, type Change } from '@paygraph/client';
import { CHANNEL } from '../support/gateway';
import { serverOf } from '../support/http-server';
import { latch, until } from '../support/latch';

interface Received {
  path: string;
  authorization: string | undefined;
  after: string | null;
}

type Reply = (response: ServerResponse, request: Received) => unknown;

interface ScriptedGateway {
  url: string;
  received: Received[];
}

/** Starts a server that responds to requests with these replies in turn, and to later ones with the last reply. */
async function startGateway(...replies: Reply[]): Promise<ScriptedGateway> {
  const received: Received[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { after } = (JSON.parse(body) as { variables: Pick<Received, 'after'> }).variables;
    const latest = { path: request.url!, authorization: request.headers.authorization, after };
    const reply = replies[received.push(latest) - 1] ?? replies.at(-1);
    reply?.(response, latest);
  };
  const origin = await serverOf((request, response) => void respond(request, response));
  return { url: `${origin}/graphql`, received };
}

const wireChange = (cursor: number) =>
  cursor % 2 === 0
    ? { __typename: 'PayoutChange', cursor: `${cursor}`, payoutStatus: 'COMPLETED', payoutMethod: 'BKASH' }
    : { __typename: 'PaymentChange', cursor: `${cursor}`, status: 'COMPLETED', method: 'CARD' };

const pageOf = (all: object[], endCursor: string, hasMore = false) => ({
  data: { changes: { changes: all, endCursor, hasMore } },
});

const JSON_TYPE = { 'content-type': 'application/json' };
const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

const json =
  (body: object, status = 200): Reply =>
  (response) =>
    response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
const page = (cursors: number[], { hasMore = false, end = cursors.at(-1) ?? 0 } = {}): Reply =>
  json(pageOf(cursors.map(wireChange), `${end}`, hasMore));

const event = (body: object): string => `event: next\ndata: ${JSON.stringify(body)}\n\n`;
const live = (cursor: number): string => event({ data: { changes: wireChange(cursor) } });
const failure = (code: string, extensions: object = {}) => ({
  errors: [{ message: 'm', extensions: { code, retryable: false, requestId: 'r', ...extensions } }],
});

/** Begins an event stream, and sends these parts. The stream stays open. */
const stream =
  (...parts: string[]): Reply =>
  (response) => {
    response.writeHead(200, EVENT_STREAM);
    for (const part of [':\n\n', ...parts]) response.write(part);
  };
const reset: Reply = (response) => response.destroy();

const IDLE_MS = 3_600_000;

/** Returns the running timers of IDLE_MS, with their callbacks. They expire only when the test calls these. */
function heldIdleTimers(): Map<unknown, () => void> {
  const held = new Map<unknown, () => void>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((expire: () => void, ms: number) => {
    const timer = set(expire, ms);
    if (ms === IDLE_MS) held.set(timer, expire);
    return timer;
  }) as typeof setTimeout);
  jest.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    held.delete(timer);
    clear(timer);
  });
  return held;
}

const read = (gateway: ScriptedGateway, options: Partial<Parameters<typeof changes>[0]> = {}) =>
  changes({ url: gateway.url, channel: CHANNEL, retryWaitMs: () => 1, ...options });

async function take(count: number, source: AsyncIterable<Change>): Promise<Change[]> {
  const taken: Change[] = [];
  for await (const change of source) if (taken.push(change) === count) break;
  return taken;
}
const takeCursors = async (...parameters: Parameters<typeof take>): Promise<number[]> =>
  (await take(...parameters)).map(({ cursor }) => Number(cursor));

const positions = ({ received }: ScriptedGateway) =>
  received.map(({ path, after }) => [path.replace('/graphql', ''), after]);

describe('changes() of the client kit', () => {
  afterEach(() => jest.restoreAllMocks());

  test('reads pages until none is left, and then subscribes after the last page', async () => {
    const gateway = await startGateway(
      page([1, 2], { hasMore: true }),
      page([3], { end: 9 }),
      stream(live(10), live(11)),
    );
    expect(await takeCursors(5, read(gateway))).toEqual([1, 2, 3, 10, 11]);
    expect(positions(gateway)).toEqual([
      ['', null],
      ['', '2'],
      ['/stream', '9'],
    ]);
  });

  test('yields every change once, in order, when requests fail and responses are cut anywhere', async () => {
    const COUNT = 300;
    // Every fifth request fails, and most responses are cut, each after a different number of bytes.
    const gateway = await startGateway((response, { path, after }) => {
      const request = gateway.received.length;
      if (request % 5 === 0) return response.destroy();
      const rest = Array.from({ length: COUNT - Number(after) }, (_, index) => Number(after) + 1 + index);
      const isPage = !path.endsWith('/stream');
      const size = request % 7;
      const end = `${rest[size - 1] ?? after ?? 0}`;
      const text = isPage
        ? JSON.stringify(pageOf(rest.slice(0, size).map(wireChange), end, request % 3 === 0))
        : rest.map(live).join('');
      const length = Buffer.byteLength(text);
      response.writeHead(200, isPage ? { ...JSON_TYPE, 'content-length': length } : EVENT_STREAM);
      if (isPage && request % 2 === 0) return response.end(text);
      return response.write(text.slice(0, (request * 97) % length), () => response.destroy());
    });
    const all = Array.from({ length: COUNT }, (_, index) => index + 1);
    expect(await takeCursors(COUNT, read(gateway))).toEqual(all);
    expect(gateway.received.length).toBeGreaterThan(20);
  });

  test.each<[string, Reply]>([
    ['a refused connection', reset],
    ['an HTML page of a proxy with 502', (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>')],
    ['an event stream that ends', (response, request) => (stream()(response, request), response.end())],
    ['an event with a retryable error', stream(event(failure('SERVICE_UNAVAILABLE', { retryable: true })))],
    ['credentials that expire', stream(event(failure('UNAUTHENTICATED')))],
  ])('continues without a gap or repetition after %s', async (_name, interruption) => {
    const gateway = await startGateway(page([1]), interruption, page([2]), stream(live(3)));
    expect(await takeCursors(3, read(gateway))).toEqual([1, 2, 3]);
    expect(positions(gateway).slice(1)).toEqual([
      ['/stream', '1'],
      ['', '1'],
      ['/stream', '2'],
    ]);
  });

  test('yields payment and payout changes with the field names of the schema, however the stream is split into chunks', async () => {
    const ofPayout = event({ data: { changes: { ...wireChange(2), externalId: 'Ünï-₹' } } });
    const text = `${live(1)}: comment\r\n\r\n${ofPayout}`.replaceAll('\n\n', '\r\n\r\n');
    const gateway = await startGateway(page([]), async (response, request) => {
      stream()(response, request);
      for (const byte of Buffer.from(text))
        await new Promise((resolve) => response.write(Buffer.of(byte), () => setImmediate(resolve)));
    });
    expect(await take(2, read(gateway))).toMatchObject([
      { __typename: 'PaymentChange', cursor: '1', status: 'COMPLETED', method: 'CARD' },
      { __typename: 'PayoutChange', cursor: '2', status: 'COMPLETED', method: 'BKASH', externalId: 'Ünï-₹' },
    ]);
  });

  test('skips types of changes that this version does not know', async () => {
    const unknown = { __typename: 'RefundChange' };
    const gateway = await startGateway(
      json(pageOf([unknown, wireChange(1)], '1')),
      stream(event({ data: { changes: unknown } }), live(2)),
    );
    expect(await takeCursors(2, read(gateway))).toEqual([1, 2]);
  });

  test('reconnects when an event stream is silent for idleTimeoutMs, but not when the consumer is slow', async () => {
    const gateway = await startGateway(page([1]), stream(live(2), live(3)), page([4]));
    const timers = heldIdleTimers();
    const source = read(gateway, { idleTimeoutMs: IDLE_MS });
    const taken: string[] = [];
    while (taken.length < 3) taken.push((await source.next()).value.cursor);
    expect(taken).toEqual(['1', '2', '3']);
    // No wait is timed while the consumer has a change.
    expect(timers.size).toBe(0);
    const next = source.next();
    await until(() => timers.size);
    expect(gateway.received).toHaveLength(2);
    for (const expire of timers.values()) expire();
    expect((await next).value.cursor).toBe('4');
    expect(gateway.received).toHaveLength(3);
    await source.return(undefined as never);
  });

  test('passes the number of earlier failures in a row to retryWaitMs, and the cause of each failure to onRetry', async () => {
    const limited = failure('RATE_LIMITED', { retryable: true, retryAfterMs: 20 });
    const gateway = await startGateway(reset, json(limited, 429), page([1]), reset, page([2]));
    const failures: number[] = [];
    const causes: [unknown, number][] = [];
    const options = {
      retryWaitMs: (count: number) => (failures.push(count), 1),
      onRetry: (cause: unknown, waitMs: number) => void causes.push([gatewayError(cause)?.code, waitMs]),
    };
    await take(2, read(gateway, options));
    expect(failures).toEqual([0, 1, 0]);
    expect(causes).toEqual([
      [undefined, 1],
      ['RATE_LIMITED', 20],
      [undefined, 1],
    ]);
  });

  test('calls a headers function before each request', async () => {
    const gateway = await startGateway(page([]), stream(live(1)));
    let token = 0;
    await take(1, read(gateway, { headers: async () => ({ authorization: `Bearer ${(token += 1)}` }) }));
    expect(gateway.received.map(({ authorization }) => authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  const EXPIRED = failure('CURSOR_EXPIRED', { oldestCursor: '7' });
  const UNAUTHENTICATED = failure('UNAUTHENTICATED');
  const FORBIDDEN = failure('FORBIDDEN');

  test.each<[string, string, object, Reply[]]>([
    ['CursorExpired', 'a page cursor has expired', { oldestCursor: '7' }, [json(EXPIRED)]],
    ['CursorExpired', 'a stream cursor expired', { oldestCursor: '7' }, [page([]), stream(event(EXPIRED))]],
    ['RequestRefused', 'credentials are refused', UNAUTHENTICATED, [json(UNAUTHENTICATED, 401)]],
    ['RequestRefused', 'the caller loses its rights', FORBIDDEN, [page([]), stream(event(FORBIDDEN))]],
    ['RequestRefused', 'the response is not from a gateway', {}, [(response) => response.end('<html>')]],
    ['RequestRefused', 'the URL is wrong', { errors: [] }, [(response) => response.writeHead(404).end()]],
  ])('throws %s when %s', async (name, _cause, properties, replies) => {
    const gateway = await startGateway(...replies);
    await expect(read(gateway).next()).rejects.toMatchObject({ name, ...properties });
    expect(gateway.received).toHaveLength(replies.length);
  });

  test.each<[string, Reply[], number]>([
    ['a request is in flight', [() => undefined], 1],
    ['the stream is silent', [page([]), stream()], 2],
    ['a retry is pending', [reset], 1],
  ])('throws the abort reason of its signal if aborted while %s', async (_name, replies, requests) => {
    const gateway = await startGateway(...replies);
    const controller = new AbortController();
    const next = read(gateway, { signal: controller.signal, retryWaitMs: () => 1_000_000 }).next();
    await until(() => gateway.received.length === requests);
    controller.abort(new Error('stopped'));
    await expect(next).rejects.toThrow('stopped');
    await expect(read(gateway, { signal: controller.signal }).next()).rejects.toThrow('stopped');
    expect(gateway.received).toHaveLength(requests);
  });

  test('closes the connection when the consumer leaves its loop', async () => {
    const closed = latch();
    const gateway = await startGateway(page([]), (response, request) => {
      response.once('close', closed.open);
      stream(live(1))(response, request);
    });
    await take(1, read(gateway));
    await closed.opened;
  });

  test('reads a stream no faster than its consumer takes the changes', async () => {
    const COUNT = 50_000;
    const externalId = 'x'.repeat(2000);
    let written = 0;
    const gateway = await startGateway(page([]), async (response, request) => {
      stream()(response, request);
      for (; written < COUNT && !response.destroyed; written += 1) {
        const change = event({ data: { changes: { ...wireChange(written + 1), externalId } } });
        await new Promise((resolve) => response.write(change, resolve));
      }
    });
    const source = read(gateway);
    await source.next();
    // The server stops writing when the buffers of the sockets are full.
    await until(async () => {
      const before = written;
      await sleep(400);
      return before === written;
    });
    expect(written).toBeLessThan(COUNT / 2);
    expect((await source.next()).value.cursor).toBe('2');
    await source.return(undefined as never);
  });
});
