import { EventStream, type SeenResult } from '../subscriptions/support/event-stream';
import {
  eventStreamClient,
  webSocketClient,
  TRANSPORTS,
  Watching,
} from '../subscriptions/support/subscriptions';
import { WireClient } from '../subscriptions/support/wire-client';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { until } from '../support/latch';
import { newestCursor, openStream, readAllPages, readPage, subscriptionQuery } from './support/requests';
import { Created } from './support/transactions';

const PAYLOAD = { query: subscriptionQuery(), variables: { channel: CHANNEL } };

describeSqlite('A subscription to changes', (harnesses) => {
  /** Creates payments until the subscription receives one. */
  const connected = (harness: Harness, watching: Watching): Promise<unknown> =>
    until(async () => {
      await Created.by(harness, 'payment');
      return watching.values.length > 0 || watching.errors;
    });

  test.each(TRANSPORTS)('over %s releases its quota when the client disconnects', async (_name, connect) => {
    const harness = await harnesses.start({ env: { MAX_SUBSCRIPTIONS_PER_CLIENT: '1' } });
    const client = connect(harness);
    const first = new Watching(client, PAYLOAD, 'changes');
    await connected(harness, first);
    const second = new Watching(eventStreamClient(harness), PAYLOAD, 'changes');
    await second.ended();
    expect(second.codes).toEqual(['RATE_LIMITED']);
    first.leave();
    await until(async () => {
      const next = new Watching(eventStreamClient(harness), PAYLOAD, 'changes');
      await connected(harness, next);
      next.leave();
      return next.errors === undefined;
    });
  });

  test('gets a change with payment null and RATE_LIMITED if the rate limit does not allow the lookup', async () => {
    // The query, four creates of 5 points and the subscription leave 2 points.
    const harness = await harnesses.start({ env: { RATE_LIMIT_PER_MINUTE: '24' } });
    const after = await newestCursor({ url: harness.url });
    for (let count = 0; count < 4; count += 1) await Created.by(harness, 'payment');
    const query = subscriptionQuery('... on PaymentChange { cursor payment { __typename } }');
    const stream = await openStream({ url: harness.url, after }, { method: 'POST', query });
    const shown = { data: { changes: { payment: { __typename: 'UpiPayment' } } } };
    const errors = [{ extensions: { code: 'RATE_LIMITED' } }];
    const limited = { data: { changes: { payment: null } }, errors };
    for (const data of [shown, shown, limited, limited]) expect(await stream.next()).toMatchObject({ data });
  });

  test('ends without a completion message when the gateway shuts down, so that clients reconnect', async () => {
    const harness = await harnesses.start();
    const watching = new Watching(webSocketClient(harness), PAYLOAD, 'changes');
    const wire = await WireClient.ready(harness.url, AUTHORIZED);
    wire.subscribe('a', PAYLOAD);
    const stream = await openStream({ url: harness.url });
    await connected(harness, watching);
    await until(() => wire.messages.some(({ type }) => type === 'next') && !stream.isQuiet);
    await harness.close();
    expect((await wire.closed).code).toBe(1001);
    expect(wire.messages.map(({ type }) => type)).not.toContain('complete');
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).not.toContain('complete');
  });
});

const DAY_MS = 86_400_000;

describeSqlite('A cursor older than CHANGES_RETENTION_DAYS', (harnesses) => {
  let harness: Harness;
  let expired: string;
  let oldest: string;
  let kept: string;

  const from = (after?: string) => ({ url: harness.url, after });

  beforeAll(async () => {
    harness = await harnesses.start({ env: { CHANGES_RETENTION_DAYS: '2' } });
    await Created.by(harness, 'payment');
    expired = await newestCursor(from());
    await Created.by(harness, 'payment');
    harness.clock.advance(DAY_MS * 1.9);
    await Created.by(harness, 'payment');
    kept = await newestCursor(from());
    const { errors } = await until(
      () => {
        harness.clock.advance(DAY_MS / 100);
        return readPage(from(expired));
      },
      ({ page }) => page === undefined,
    );
    oldest = String(errors?.[0]?.extensions['oldestCursor']);
  });

  const ERROR = () => ({
    extensions: {
      code: 'CURSOR_EXPIRED',
      retryable: false,
      oldestCursor: oldest,
      requestId: expect.any(String) as unknown,
    },
  });

  test('is refused by the query `changes` with an error that contains the oldest valid cursor', async () => {
    expect(await readPage(from(expired))).toMatchObject({ page: undefined, errors: [ERROR()] });
    const rest = await readAllPages(from(oldest));
    expect(rest.map(({ cursor }) => cursor)).toContain(kept);
    expect(rest).toEqual(await readAllPages(from()));
  });

  test.each(TRANSPORTS)('ends a subscription over %s with CURSOR_EXPIRED', async (_name, connect) => {
    const variables = { channel: CHANNEL, after: expired };
    const watching = new Watching(connect(harness), { query: subscriptionQuery(), variables }, 'changes');
    await watching.ended();
    expect(watching.errors).toMatchObject([ERROR()]);
    expect(watching.values).toEqual([]);
  });

  test.each(['GET', 'POST'] as const)('as Last-Event-ID of a %s ends its event stream', async (method) => {
    const stream = await openStream(from(), { method, lastEventId: expired });
    expect(await stream.rest()).toMatchObject([
      { event: 'next', data: { errors: [ERROR()] } },
      { event: 'complete' },
    ]);
  });
});

/** Makes the result of each change large. */
const ALIASES = Array.from({ length: 99 }, (_, place) => `x${place}: externalId`).join(' ');
const LARGE = subscriptionQuery(`... on PaymentChange { cursor ${ALIASES} }`);

const PAYMENTS = 20;
const MOVES = 14;
/** Number of changes: their results exceed the buffers of a connection that the client does not read. */
const CHANGES = PAYMENTS * MOVES;

/** Clients that do not read at first. `seen` returns the cursors that they have received. */
const SLOW_CLIENTS = {
  WebSocket: async (url: string, request: object) => {
    const wire = await WireClient.ready(url, AUTHORIZED);
    wire.subscribe('1', request);
    wire.socket.pause();
    const results = () => wire.messages.filter(({ type }) => type === 'next');
    return {
      resume: () => wire.socket.resume(),
      seen: () => results().map(({ payload }) => (payload as SeenResult).data?.['changes']?.['cursor']),
    };
  },
  'server-sent events': async (url: string, request: object) => {
    const stream = await EventStream.open(`${url}/stream`, request);
    stream.pause();
    return {
      resume: () => stream.resume(),
      seen: () => Array.from(stream.text.matchAll(/^id: (.+)$/gm), ([, id]) => id),
    };
  },
};

describeSqlite('A client that does not read its changes', (harnesses) => {
  /** Returns the number of changes that the gateway has read for subscribers. */
  async function delivered(url: string): Promise<number> {
    const text = await (await fetch(url.replace('/graphql', '/metrics'))).text();
    return Number(/^paygraph_change_delivery_seconds_count (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  test.each(Object.entries(SLOW_CLIENTS))(
    'over %s does not fill the memory of the gateway, and gets all changes later',
    async (_name, open) => {
      const harness = await harnesses.start({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
      const { url } = harness;
      await Created.by(harness, 'payment');
      const after = await newestCursor({ url });
      const slow = await open(url, { query: LARGE, variables: { channel: CHANNEL, after } });
      const payments = await Promise.all(
        Array.from({ length: PAYMENTS }, () =>
          Created.by(harness, 'payment', AUTHORIZED, { externalId: newKey().padEnd(255, '€') }),
        ),
      );
      for (let move = 1; move < MOVES; move += 1)
        await Promise.all(payments.map((payment) => payment.move(move % 2 === 0 ? 'processing' : 'mispaid')));
      const all = await until(
        () => readAllPages({ url, after }),
        ({ length }) => length === CHANGES,
      );
      expect(await delivered(url)).toBeLessThan(CHANGES / 2);
      slow.resume();
      await until(() => slow.seen().length >= CHANGES);
      expect(slow.seen()).toEqual(all.map(({ cursor }) => cursor));
    },
  );
});
