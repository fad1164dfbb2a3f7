import { WireClient } from '../subscriptions/support/wire-client';
import { EventStream } from '../subscriptions/support/event-stream';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { until } from '../support/latch';
import { readPage, subscriptionQuery } from './support/readers';
import { Created } from './support/transactions';

/** Makes the result of each change large. */
const ALIASES = Array.from({ length: 99 }, (_, place) => `x${place}: externalId`).join(' ');
const LARGE = subscriptionQuery(`... on PaymentChange { cursor ${ALIASES} }`);

const PAYMENTS = 20;
const MOVES = 40;
/** Number of changes: their results exceed the buffers of a connection that the client does not read. */
const CHANGES = PAYMENTS * MOVES;

/** A client that does not read at first. */
interface SlowClient {
  /** Cursors that were received. */
  seen: string[];
  resume(): void;
  leave(): void;
}

const cursorIn = (text: string): string => /"cursor":"([\w-]+)"/.exec(text)?.[1] ?? '';

async function slowWebSocket(url: string, after: string): Promise<SlowClient> {
  const { socket } = await WireClient.ready(url, AUTHORIZED);
  const seen: string[] = [];
  socket.on('message', (data: Buffer) => seen.push(cursorIn(data.toString())));
  const payload = { query: LARGE, variables: { channel: CHANNEL, after } };
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
  socket.pause();
  return { seen, resume: () => socket.resume(), leave: () => socket.terminate() };
}

async function slowStream(url: string, after: string): Promise<SlowClient> {
  const stream = await EventStream.open(`${url}/stream`, {
    query: LARGE,
    variables: { channel: CHANNEL, after },
  });
  stream.pause();
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for (let event = await stream.next(); event.event === 'next'; event = await stream.next())
      seen.push(event.id ?? '');
  };
  return {
    seen,
    resume: () => {
      stream.resume();
      void read();
    },
    leave: () => stream.disconnect(),
  };
}

describeSqlite('A client that does not read its changes', (harnesses) => {
  let harness: Harness;
  let start: string;

  beforeAll(async () => {
    harness = await harnesses.start({ env: { FOLLOW_DAYS: '0', RATE_LIMIT_PER_MINUTE: '0' } });
  });

  const cursors = async (after?: string): Promise<string[]> => {
    const all: string[] = [];
    for (let more = true, from = after; more;) {
      const { page } = await readPage({ url: harness.url, after: from }, 500);
      all.push(...(page?.changes ?? []).map(({ cursor }) => cursor));
      from = page?.endCursor ?? '';
      more = page?.hasMore ?? false;
    }
    return all;
  };

  /** Returns the number of changes that the gateway has read for subscribers. */
  async function delivered(): Promise<number> {
    const text = await (await fetch(harness.url.replace('/graphql', '/metrics'))).text();
    return Number(/^paygraph_change_delivery_seconds_count (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  test.each([
    ['WebSocket', slowWebSocket],
    ['server-sent events', slowStream],
  ])('over %s holds back the journal, not memory, and later gets every change', async (_name, open) => {
    await Created.by(harness, 'payment');
    start = (await cursors()).at(-1) ?? '';
    const slow = await open(harness.url, start);
    const before = await delivered();
    const payments = await Promise.all(
      Array.from({ length: PAYMENTS }, () =>
        Created.by(harness, 'payment', AUTHORIZED, { externalId: newKey().padEnd(255, 'x') }),
      ),
    );
    for (let move = 1; move < MOVES; move += 1)
      await Promise.all(payments.map((payment) => payment.move(move % 2 === 0 ? 'processing' : 'mispaid')));
    const all = await until(
      () => cursors(start),
      ({ length }) => length === CHANGES,
    );
    expect((await delivered()) - before).toBeLessThan(CHANGES / 2);
    slow.resume();
    await until(() => slow.seen.length >= CHANGES);
    expect(slow.seen).toEqual(all);
    slow.leave();
  });
});
