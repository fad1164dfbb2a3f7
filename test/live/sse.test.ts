import { EventSource } from 'eventsource';
import { createClient } from 'graphql-sse';
import { AUTHORIZED, CLIENT_KEY } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { EventStream, parametersOf } from './support/event-stream';
import { liveRig, watching as watchingAny } from './support/live-rig';
import { PAYOUT_UPDATED, liveGateway, watching, type LiveGateway } from './support/live-gateway';

let live: LiveGateway;

beforeAll(async () => {
  live = await liveGateway({ env: { CORS_ORIGINS: 'https://shop.example' } });
});

const METHODS = ['GET', 'POST'] as const;

const LOOK_UP = 'query ($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';
/** Words of the service, and what they are called here. */
const CHANGES = [
  ['processing', 'PROCESSING'],
  ['pending', 'PENDING'],
  ['mispaid', 'MISPAID'],
  ['completed', 'COMPLETED'],
] as const;

describe.each(METHODS)('%s /graphql/stream', (method) => {
  const open = (asked: object, headers?: Record<string, string>): Promise<EventStream> =>
    EventStream.open(live.streamUrl, asked, { method, headers });

  test('tells the current state of a payment at once, then every change, and completes with the last', async () => {
    const rig = await liveRig();
    const asked = watchingAny();
    const stream = await EventStream.open(`${rig.client.url}/stream`, asked, { method });
    expect(await stream.nextData()).toEqual({ status: 'PENDING' });
    for (const [word, status] of CHANGES) {
      rig.service.set(asked.variables.t, { status: word });
      await rig.client.ask(LOOK_UP, asked.variables);
      expect(await stream.nextData()).toEqual({ status });
    }
    expect(await stream.rest()).toEqual([{ event: 'complete' }]);
  });

  test('finds a change by itself as time passes', async () => {
    const transactionId = await live.sell();
    const stream = await open(watching(transactionId));
    expect(await stream.nextData()).toMatchObject({ status: 'PENDING' });
    live.sandbox.control.decline(transactionId);
    live.clock.advance(3000);
    expect(await stream.nextData()).toMatchObject({ status: 'FAILED' });
    expect(await stream.rest()).toEqual([{ event: 'complete' }]);
  });

  test('tells of payouts too', async () => {
    const transactionId = await live.payOut();
    const stream = await open(watching(transactionId, PAYOUT_UPDATED));
    expect(await stream.nextData()).toEqual({ transactionId, status: 'PROCESSING' });
    live.sandbox.control.settle(transactionId);
    live.clock.advance(2000);
    expect(await stream.nextData()).toEqual({ transactionId, status: 'COMPLETED' });
    expect(await stream.rest()).toEqual([{ event: 'complete' }]);
  });

  test('of a payment that is finished it tells that, and completes', async () => {
    const transactionId = await live.sell();
    live.sandbox.control.settle(transactionId);
    const stream = await open(watching(transactionId));
    expect(await stream.rest()).toMatchObject([
      { event: 'next', data: { data: { paymentUpdated: { status: 'COMPLETED' } } } },
      { event: 'complete' },
    ]);
  });

  test('answers as an event stream that nobody keeps or collects, with the headers of every answer', async () => {
    const stream = await open(watching(await live.sell()));
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    expect(stream.headers).toMatchObject(await safeHeadersOfQueries());
    expect(stream.headers['content-encoding']).toBeUndefined();
    expect(stream.headers['access-control-allow-origin']).toBeUndefined();
    stream.leave();
  });

  test('begins with a comment, so that every browser takes it as open', async () => {
    const stream = await open(watching(await live.sell()));
    await stream.nextData();
    expect(stream.text).toMatch(/^:\n\nevent: next\ndata: \{/);
    stream.leave();
  });

  test('may be read by pages of the origins that are allowed, and of no others', async () => {
    const asked = watching(await live.sell());
    const own = await open(asked, { origin: 'https://shop.example' });
    expect(own.headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-expose-headers': 'x-request-id, retry-after',
      vary: expect.stringMatching(/\bOrigin\b/) as unknown,
    });
    const foreign = await open(asked, { origin: 'https://evil.example' });
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
    own.leave();
    foreign.leave();
  });
});

/** The headers that keep a browser safe, as an answer to a query has them. */
async function safeHeadersOfQueries(): Promise<Record<string, string>> {
  const { headers } = await live.client.ask('{ __typename }');
  const safe = [...headers].filter(([name]) =>
    /^(x-|content-security|cross-origin|referrer|strict|origin-agent)/.test(name),
  );
  expect(safe.length).toBeGreaterThan(5);
  return Object.fromEntries(safe.filter(([name]) => name !== 'x-request-id'));
}

test('OPTIONS: a page of an allowed origin may ask with its token, by GET and POST', async () => {
  const preflight = async (origin: string): Promise<Response> =>
    fetch(live.streamUrl, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  const own = await preflight('https://shop.example');
  expect(own.status).toBe(204);
  expect(own.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
});

describe('The graphql-sse client', () => {
  test('watches a payment until it is finished', async () => {
    const transactionId = await live.sell();
    const client = createClient({ url: live.streamUrl, headers: AUTHORIZED });
    const statuses: unknown[] = [];
    for await (const { data } of client.iterate<{ paymentUpdated: { status: string } }>(
      watching(transactionId),
    )) {
      const status = data?.paymentUpdated.status;
      statuses.push(status);
      if (status === 'PENDING') {
        live.sandbox.control.settle(transactionId);
        await live.look(transactionId);
      }
    }
    expect(statuses).toEqual(['PENDING', 'COMPLETED']);
    client.dispose();
  });

  test('gets what is wrong as a result, and does not try again', async () => {
    const client = createClient({ url: live.streamUrl, headers: AUTHORIZED });
    const results = [];
    for await (const result of client.iterate(watching(CHANNEL))) results.push(result);
    expect(results).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND', retryable: false } }] }]);
    client.dispose();
  });

  test('in its mode of a single connection is told that there is none', async () => {
    const client = createClient({
      url: live.streamUrl,
      headers: AUTHORIZED,
      singleConnection: true,
      retryAttempts: 0,
    });
    const failing = (async () => {
      for await (const _ of client.iterate(watching(CHANNEL)));
    })();
    await expect(failing).rejects.toThrow(/responded with 4\d\d/);
    client.dispose();
  });
});

describe('EventSource', () => {
  const addressOf = (transactionId: string): string =>
    `${live.streamUrl}?${parametersOf(watching(transactionId))}`;

  /** The statuses that come until the stream is complete; changes the payment after the first. */
  const statusesFrom = (source: EventSource, transactionId: string): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      const statuses: unknown[] = [];
      source.addEventListener('next', ({ data }) => {
        const { paymentUpdated } = (
          JSON.parse(String(data)) as { data: { paymentUpdated: { status: string } } }
        ).data;
        statuses.push(paymentUpdated.status);
        if (statuses.length > 1) return;
        live.sandbox.control.settle(transactionId);
        void live.look(transactionId);
      });
      source.addEventListener('complete', () => {
        source.close();
        resolve(statuses);
      });
      source.addEventListener('error', ({ code, message }) => reject(new Error(`${code} ${message}`)));
    });

  test('with a fetch of its own that adds the token watches a payment until it is finished', async () => {
    const transactionId = await live.sell();
    const source = new EventSource(addressOf(transactionId), {
      fetch: (target, init) =>
        fetch(target, { ...init, headers: { ...init.headers, authorization: `Bearer ${CLIENT_KEY}` } }),
    });
    expect(await statusesFrom(source, transactionId)).toEqual(['PENDING', 'COMPLETED']);
  });

  test('as it comes has no token: it is refused with 401 and does not try again', async () => {
    const source = new EventSource(addressOf(await live.sell()));
    const error = await new Promise<{ code?: number }>((resolve) =>
      source.addEventListener('error', resolve),
    );
    expect(error.code).toBe(401);
    expect(source.readyState).toBe(source.CLOSED);
  });

  test('a token in the address is no token', async () => {
    const url = `${addressOf(await live.sell())}&authorization=Bearer%20${CLIENT_KEY}&access_token=${CLIENT_KEY}`;
    expect((await fetch(url, { headers: { accept: 'text/event-stream' } })).status).toBe(401);
  });
});
