import type { IncomingMessage, ServerResponse } from 'node:http';
import { CursorExpired, RequestRefused, changes, gatewayError, type Change } from '@paygraph/client';
import { serverOf } from '../support/http-server';
import { latch, until } from '../support/latch';

const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  after: string | null;
}

type Reply = (response: ServerResponse, request: Received) => unknown;

/** A server that responds to requests with the given replies in turn, and to later ones with the last reply. */
class ScriptedGateway {
  readonly received: Received[] = [];
  url = '';

  static async start(...replies: Reply[]): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway();
    const origin = await serverOf((request, response) => void gateway.#respond(request, response, replies));
    gateway.url = `${origin}/graphql`;
    return gateway;
  }

  async #respond(request: IncomingMessage, response: ServerResponse, replies: Reply[]): Promise<void> {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
      variables: { after: string | null };
    };
    const received = { path: request.url ?? '', headers: request.headers, after: body.variables.after };
    const reply = replies[Math.min(this.received.push(received), replies.length) - 1];
    reply?.(response, received);
  }
}

const wireChange = (cursor: number) =>
  cursor % 2 === 0
    ? { __typename: 'PayoutChange', cursor: `${cursor}`, payoutStatus: 'COMPLETED', payoutMethod: 'BKASH' }
    : { __typename: 'PaymentChange', cursor: `${cursor}`, status: 'COMPLETED', method: 'CARD' };

const json = (body: object, status = 200): Reply => {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const page = (cursors: number[], { hasMore = false, end = String(cursors.at(-1) ?? 0) } = {}): Reply =>
  json({ data: { changes: { changes: cursors.map(wireChange), endCursor: end, hasMore } } });

const event = (body: object): string => `event: next\ndata: ${JSON.stringify(body)}\n\n`;
const live = (cursor: number): string => event({ data: { changes: wireChange(cursor) } });
const failure = (code: string, extensions: object = {}) => ({
  errors: [{ message: 'm', extensions: { code, retryable: false, requestId: 'r', ...extensions } }],
});

/** Begins an event stream, and sends these parts. The stream stays open. */
const stream = (...parts: string[]): Reply => {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const part of [':\n\n', ...parts]) response.write(part);
  };
};
const cutStream = (...parts: string[]): Reply => {
  return (response, request) => {
    stream(...parts)(response, request);
    setImmediate(() => response.destroy());
  };
};
const reset: Reply = (response) => response.destroy();

const read = (gateway: ScriptedGateway, options: Partial<Parameters<typeof changes>[0]> = {}) =>
  changes({ url: gateway.url, channel: CHANNEL, retryWaitMs: () => 1, ...options });

/** Takes this number of changes, and returns their cursors. */
async function take(count: number, source: AsyncIterable<Change>): Promise<number[]> {
  const cursors: number[] = [];
  for await (const { cursor } of source) if (cursors.push(Number(cursor)) === count) break;
  return cursors;
}

const positions = ({ received }: ScriptedGateway) =>
  received.map(({ path, after }) => [path.replace('/graphql', ''), after]);

describe('changes', () => {
  test('reads pages until none is left, and then subscribes after the last page', async () => {
    const gateway = await ScriptedGateway.start(
      page([1, 2], { hasMore: true }),
      page([3], { end: '9' }),
      stream(live(10), live(11)),
    );
    expect(await take(5, read(gateway, { after: '0' }))).toEqual([1, 2, 3, 10, 11]);
    expect(positions(gateway)).toEqual([
      ['', '0'],
      ['', '2'],
      ['/stream', '9'],
    ]);
  });

  test('yields payment and payout changes with the field names of the schema', async () => {
    const gateway = await ScriptedGateway.start(page([1, 2]));
    const taken: Change[] = [];
    for await (const change of read(gateway)) if (taken.push(change) === 2) break;
    expect(taken).toMatchObject([
      { __typename: 'PaymentChange', status: 'COMPLETED', method: 'CARD' },
      { __typename: 'PayoutChange', status: 'COMPLETED', method: 'BKASH' },
    ]);
  });

  test('yields every change once, in order, when requests fail and streams are cut anywhere', async () => {
    const COUNT = 300;
    // Every fifth request fails, and each response is cut after a different number of bytes.
    const respond: Reply = (response, { path, after }) => {
      const request = gateway.received.length;
      if (request % 5 === 0) return reset(response, gateway.received[0]!);
      const rest = Array.from({ length: COUNT - Number(after) }, (_, index) => Number(after) + 1 + index);
      const isStream = path.endsWith('/stream');
      const size = request % 7;
      const cursors = rest.slice(0, size);
      const endCursor = String(cursors.at(-1) ?? after ?? 0);
      const text = isStream
        ? rest.map(live).join('')
        : JSON.stringify({
            data: { changes: { changes: cursors.map(wireChange), endCursor, hasMore: request % 3 === 0 } },
          });
      const type = isStream ? 'text/event-stream' : 'application/json';
      const length = Buffer.byteLength(text);
      response.writeHead(200, { 'content-type': type, ...(!isStream && { 'content-length': length }) });
      if (!isStream && request % 2 === 0) return response.end(text);
      return response.write(text.slice(0, (request * 97) % length), () => response.destroy());
    };
    const gateway = await ScriptedGateway.start(respond);
    const all = Array.from({ length: COUNT }, (_, index) => index + 1);
    expect(await take(COUNT, read(gateway))).toEqual(all);
    expect(gateway.received.length).toBeGreaterThan(20);
  });

  test.each<[string, Reply]>([
    ['a refused connection', reset],
    ['an HTML page of a proxy with 502', (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>')],
    ['a retryable error', json(failure('SERVICE_UNAVAILABLE', { retryable: true }))],
    ['a rate limit', json(failure('RATE_LIMITED', { retryable: true, retryAfterMs: 2 }), 429)],
    ['an event stream that is cut', cutStream()],
    ['an event stream that ends', (response, request) => (stream()(response, request), response.end())],
    ['an event with a retryable error', stream(event(failure('SERVICE_UNAVAILABLE', { retryable: true })))],
    ['credentials that expire', stream(event(failure('UNAUTHENTICATED')))],
    [
      'a response that is cut',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{', () => response.destroy());
      },
    ],
  ])('continues without a gap or repetition after %s', async (_name, interruption) => {
    const first = await ScriptedGateway.start(page([1]), interruption, page([2]), stream(live(3)));
    expect(await take(3, read(first))).toEqual([1, 2, 3]);
    expect(positions(first).slice(1)).toEqual([
      ['/stream', '1'],
      ['', '1'],
      ['/stream', '2'],
    ]);
  });

  test('begins with the oldest change without a cursor, and requests a page again after an interruption', async () => {
    const gateway = await ScriptedGateway.start(reset, page([1], { hasMore: true }), reset, page([2]));
    expect(await take(2, read(gateway))).toEqual([1, 2]);
    expect(positions(gateway)).toEqual([
      ['', null],
      ['', null],
      ['', '1'],
      ['', '1'],
    ]);
  });

  test('reads events that are split anywhere, even between the bytes of a character', async () => {
    const text = `${live(1)}: comment\r\n\r\n${event({ data: { changes: { ...wireChange(2), externalId: 'Ünï-₹' } } })}`;
    const bytes = Buffer.from(text.replaceAll('\n\n', '\r\n\r\n'));
    const gateway = await ScriptedGateway.start(page([]), (response, request) => {
      stream()(response, request);
      void (async () => {
        for (const byte of bytes)
          await new Promise((resolve) => response.write(Buffer.of(byte), () => setImmediate(resolve)));
      })();
    });
    const taken: Change[] = [];
    for await (const change of read(gateway)) if (taken.push(change) === 2) break;
    expect(taken).toMatchObject([{ cursor: '1' }, { cursor: '2', externalId: 'Ünï-₹' }]);
  });

  test('skips types of changes that this version does not know', async () => {
    const unknown = { __typename: 'RefundChange' };
    const gateway = await ScriptedGateway.start(
      json({ data: { changes: { changes: [unknown, wireChange(1)], endCursor: '1', hasMore: false } } }),
      stream(event({ data: { changes: unknown } }), live(2)),
    );
    expect(await take(2, read(gateway))).toEqual([1, 2]);
  });

  test('reconnects when an event stream is silent for idleTimeoutMs, but not when the consumer is slow', async () => {
    const gateway = await ScriptedGateway.start(page([1]), stream(live(2), live(3)), page([4]));
    const taken: string[] = [];
    for await (const { cursor } of read(gateway, { idleTimeoutMs: 300 })) {
      if (cursor === '2') await new Promise((resolve) => setTimeout(resolve, 400));
      if (taken.push(cursor) === 4) break;
    }
    expect(taken).toEqual(['1', '2', '3', '4']);
    expect(gateway.received).toHaveLength(3);
  });

  test('waits longer after each failure, and reports the cause of each', async () => {
    const gateway = await ScriptedGateway.start(
      reset,
      json(failure('RATE_LIMITED', { retryable: true, retryAfterMs: 20 }), 429),
      page([1]),
      reset,
      page([2]),
    );
    const failures: number[] = [];
    const causes: [unknown, number][] = [];
    await take(
      2,
      read(gateway, {
        retryWaitMs: (count) => (failures.push(count), 1),
        onRetry: (cause, waitMs) => void causes.push([gatewayError(cause)?.code, waitMs]),
      }),
    );
    expect(failures).toEqual([0, 1, 0]);
    expect(causes).toEqual([
      [undefined, 1],
      ['RATE_LIMITED', 20],
      [undefined, 1],
    ]);
  });

  test('takes headers from a function before each request', async () => {
    const gateway = await ScriptedGateway.start(page([]), stream(live(1)));
    let token = 0;
    await take(1, read(gateway, { headers: async () => ({ authorization: `Bearer ${(token += 1)}` }) }));
    expect(gateway.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });
});

describe('changes throws', () => {
  const failureOf = (gateway: ScriptedGateway): Promise<unknown> =>
    read(gateway, { after: '1' })
      .next()
      .catch((thrown: unknown) => thrown);
  test.each<[string, Reply[]]>([
    ['from the query', [json(failure('CURSOR_EXPIRED', { oldestCursor: '7' }))]],
    ['from the subscription', [page([]), stream(event(failure('CURSOR_EXPIRED', { oldestCursor: '7' })))]],
  ])('CursorExpired with the oldest cursor if the error comes %s', async (_name, replies) => {
    const gateway = await ScriptedGateway.start(...replies);
    const error = await failureOf(gateway);
    expect(error).toBeInstanceOf(CursorExpired);
    expect(error).toMatchObject({ oldestCursor: '7' });
    expect(gateway.received).toHaveLength(replies.length);
  });

  test.each<[string, string | undefined, Reply[]]>([
    ['credentials are refused', 'UNAUTHENTICATED', [json(failure('UNAUTHENTICATED'), 401)]],
    ['the gateway does not accept the cursor', 'BAD_USER_INPUT', [json(failure('BAD_USER_INPUT'))]],
    ['the caller loses its rights', 'FORBIDDEN', [page([]), stream(event(failure('FORBIDDEN')))]],
    ['another server responds', undefined, [(response) => response.end('<html>')]],
    ['there is nothing at the URL', undefined, [(response) => response.writeHead(404).end()]],
  ])('RequestRefused when %s', async (_name, code, replies) => {
    const gateway = await ScriptedGateway.start(...replies);
    const error = await failureOf(gateway);
    expect(error).toBeInstanceOf(RequestRefused);
    expect(gatewayError(error)?.code).toBe(code);
    expect(gateway.received).toHaveLength(replies.length);
  });

  test.each<[string, Reply[], number]>([
    ['a request is under way', [() => undefined], 1],
    ['the stream is silent', [page([]), stream()], 2],
    ['it waits for a retry', [reset], 1],
  ])('the reason of the signal when it is aborted while %s', async (_name, replies, requests) => {
    const gateway = await ScriptedGateway.start(...replies);
    const controller = new AbortController();
    const next = read(gateway, { signal: controller.signal, retryWaitMs: () => 1_000_000 }).next();
    await until(() => gateway.received.length === requests);
    controller.abort(new Error('stopped'));
    await expect(next).rejects.toThrow('stopped');
    await expect(read(gateway, { signal: controller.signal }).next()).rejects.toThrow('stopped');
    expect(gateway.received).toHaveLength(requests);
  });
});

describe('A loop over changes()', () => {
  test('closes its connection when it ends', async () => {
    const closed = latch();
    const gateway = await ScriptedGateway.start(page([]), (response, request) => {
      response.once('close', closed.open);
      stream(live(1))(response, request);
    });
    await take(1, read(gateway));
    await closed.opened;
  });

  test('reads a stream no faster than it takes the changes', async () => {
    const COUNT = 50_000;
    const padding = 'x'.repeat(2000);
    let written = 0;
    const gateway = await ScriptedGateway.start(page([]), (response, request) => {
      stream()(response, request);
      void (async () => {
        for (let cursor = 1; cursor <= COUNT && !response.destroyed; cursor += 1) {
          const change = { ...wireChange(cursor), externalId: padding };
          await new Promise((resolve) => response.write(event({ data: { changes: change } }), resolve));
          written = cursor;
        }
      })();
    });
    const source = read(gateway);
    await source.next();
    // The server stops writing when the buffers of the sockets are full.
    let before = -1;
    await until(async () => {
      const isStill = before === written;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return isStill && before === written;
    });
    expect(written).toBeLessThan(COUNT / 2);
    expect(Number((await source.next()).value.cursor)).toBe(2);
    await source.return(undefined as never);
  });
});
