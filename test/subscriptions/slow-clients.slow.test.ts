import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { EventStream } from './support/event-stream';
import { NO_POLLING, startHarness, subscription, type SubscriptionHarness } from './support/harness';
import {
  eventStreamClient,
  watchByBoth,
  watchPayment,
  watchStatus,
  webSocketClient,
} from './support/subscriptions';
import { WireClient } from './support/wire-client';

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = { SUBSCRIPTION_PING_SECONDS: '15' };

describe('The heartbeat of a WebSocket', () => {
  let harness: SubscriptionHarness;

  beforeAll(async () => {
    harness = await startHarness({ env: HEARTBEAT });
  });

  /** Subscribes with a client that sends no pongs. Returns it, and the number of pings that it received. */
  async function withoutPongs(id: string) {
    const client = await WireClient.ready(harness.url, AUTHORIZED, { autoPong: false });
    const pings = jest.fn();
    client.socket.on('ping', pings);
    client.subscribe('a', subscription(id));
    await client.next();
    return { client, pings: () => pings.mock.calls.length };
  }

  test('closes a connection that has not responded to a ping when the next ping is due', async () => {
    const id = harness.addPayment();
    const { client, pings } = await withoutPongs(id);
    const uninitialised = await WireClient.open(harness.url, { autoPong: false });
    harness.clock.advance(HEARTBEAT_MS - 1);
    await harness.roundTrip();
    expect(pings()).toBe(0);
    harness.clock.advance(1);
    await until(() => pings() === 1);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
    harness.clock.advance(HEARTBEAT_MS);
    await Promise.all([client.closed, uninitialised.closed]);
    await harness.subscriptionsEnded(1);
    await harness.expectNotPolled(id);
  });

  test('keeps a connection open that sends pongs or messages', async () => {
    const id = harness.addPayment();
    const library = await watchStatus(webSocketClient(harness), id);
    const wire = await WireClient.ready(harness.url, AUTHORIZED);
    let responded = 0;
    wire.socket.on('ping', () => (responded += 1));
    const { client, pings } = await withoutPongs(id);
    for (let beat = 1; beat <= 4; beat += 1) {
      harness.clock.advance(HEARTBEAT_MS);
      await until(() => responded === beat && pings() === beat);
      await client.settled();
      // After this, the gateway has received the last pong.
      await wire.settled();
      await harness.roundTrip();
    }
    await harness.change(id, { status: 'completed' });
    await library.ended();
    expect(library.statuses).toEqual(['PENDING', 'COMPLETED']);
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
  });
});

test('An event stream gets a comment, not an event, every SUBSCRIPTION_PING_SECONDS', async () => {
  const harness = await startHarness({ env: { SUBSCRIPTION_PING_SECONDS: '3' } });
  const payload = subscription(harness.addPayment());
  const stream = await EventStream.open(`${harness.url}/stream`, payload);
  await stream.nextData();
  for (let beat = 1; beat <= 3; beat += 1) {
    harness.clock.advance(2999);
    await harness.roundTrip();
    expect(stream.comments).toBe(beat);
    harness.clock.advance(1);
    await until(() => stream.comments === beat + 1);
  }
  expect([stream.isQuiet, stream.isOver]).toEqual([true, false]);
  stream.disconnect();
});

/** Returns a very long URL, which makes results large. */
const address = (place: number): string => `https://pay.example/${place}/${'x'.repeat(8000)}`;
const withAddress = (place: number) => ({ payment_method: { type: 'card' }, redirect_url: address(place) });
/** The maximum number of selections in a document. */
const TIMES = 40;
const LARGE = subscription('').query.replace(
  'status',
  `status ${Array.from({ length: TIMES }, (_, place) => `u${place}: redirectUrl`).join(' ')}`,
);
/** Number of changes: their results exceed the buffers of a loopback connection on Linux (36 MB). */
const CHANGES = 250;

/** A client that can stop reading. `rest` reads again, and resolves with all results when the subscription ended. */
interface SlowClient {
  pause(): void;
  rest(): Promise<unknown[]>;
  leave(): void;
}

/** On a slow machine, the changes of a test take longer than the default timeout for unread data. */
const PATIENT = { ...NO_POLLING, CLIENT_TIMEOUT_MS: '600000' };

describe('A client that does not read', () => {
  let harness: SubscriptionHarness;

  beforeAll(async () => {
    harness = await startHarness({ env: PATIENT });
  });

  async function slowWebSocket(id: string): Promise<SlowClient> {
    const client = await WireClient.ready(harness.url, AUTHORIZED);
    client.subscribe('1', { ...subscription(id), query: LARGE });
    await client.next();
    const { socket, messages } = client;
    const rest = async () => {
      socket.resume();
      await until(() => messages.at(-1)?.type === 'complete');
      return messages.filter(({ type }) => type === 'next');
    };
    return { pause: () => socket.pause(), rest, leave: () => socket.terminate() };
  }

  async function slowStream(id: string): Promise<SlowClient> {
    const stream = await EventStream.open(`${harness.url}/stream`, { ...subscription(id), query: LARGE });
    await stream.next();
    const rest = async () => {
      stream.resume();
      return (await stream.rest()).filter(({ event }) => event === 'next');
    };
    return { pause: () => stream.pause(), rest, leave: () => stream.disconnect() };
  }

  test.each([
    ['a WebSocket', slowWebSocket],
    ['server-sent events', slowStream],
  ])(
    'over %s delays no other client, and gets the newest state when it reads again',
    async (_name, slowClient) => {
      const id = harness.addPayment(withAddress(0));
      const slow = await slowClient(id);
      const others = await watchByBoth(harness, id, '... on PaymentResource { redirectUrl }');
      slow.pause();
      for (let place = 1; place < CHANGES; place += 1) {
        harness.service.update(id, withAddress(place));
        await harness.lookUp(id);
        await Promise.all(others.map((watching) => watching.received(place + 1)));
      }
      await harness.change(id, { status: 'completed', redirect_url: address(CHANGES) });
      await Promise.all(others.map((watching) => watching.ended()));
      // It reads the results that the operating system had buffered, then the newest.
      const results = await slow.rest();
      const seen = results.map((result) => Number(/example\/(\d+)/.exec(JSON.stringify(result))?.[1]));
      expect(seen.length).toBeLessThan(CHANGES * 0.75);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(seen.at(-1)).toBe(CHANGES);
      slow.leave();
    },
  );

  test('is disconnected from an event stream at the second heartbeat, which releases its quota', async () => {
    const limited = await startHarness({
      env: { ...PATIENT, ...HEARTBEAT, MAX_SUBSCRIPTIONS_PER_CLIENT: '1' },
    });
    const id = limited.addPayment(withAddress(0));
    const url = `${limited.url}/stream`;
    const stream = await EventStream.open(url, { ...subscription(id), query: LARGE });
    stream.pause();
    for (let place = 1; place < CHANGES; place += 1) {
      limited.service.update(id, withAddress(place));
      await limited.lookUp(id);
    }
    limited.clock.advance(HEARTBEAT_MS);
    await limited.lookUp(id);
    const client = eventStreamClient(limited);
    expect((await watchStatus(client, id)).codes).toEqual(['RATE_LIMITED']);
    limited.clock.advance(HEARTBEAT_MS);
    await until(async () => (await watchStatus(client, id)).statuses.length > 0);
  });

  /** Exceeds what the buffers of a connection hold in both directions. */
  const FLOOD_BYTES = 256 * 1024 * 1024;

  async function flood({ socket }: WireClient, message: () => string): Promise<'closed' | 'open'> {
    socket.pause();
    for (let sent = 0; sent < FLOOD_BYTES;) {
      if (socket.readyState !== WebSocket.OPEN) return 'closed';
      const text = message();
      sent += text.length;
      socket.send(text, () => undefined);
      await setImmediate();
      const isSent = (): boolean => socket.bufferedAmount === 0 || socket.readyState !== WebSocket.OPEN;
      await until(isSent, Boolean, 5000).catch(() => socket.terminate());
    }
    return 'open';
  }

  const ping = JSON.stringify({ type: 'ping', payload: { filler: 'x'.repeat(90 * 1024) } });
  let floods = 0;
  const invalid = (): string =>
    JSON.stringify({
      type: 'subscribe',
      id: `${'i'.repeat(80_000)}${(floods += 1)}`,
      payload: { query: `subscription { ${'nosuch '.repeat(40)} }` },
    });

  test.each([
    ['pings before the initialisation', () => WireClient.open(harness.url), () => ping],
    ['invalid subscriptions', () => WireClient.ready(harness.url, AUTHORIZED), invalid],
  ])('is disconnected when it endlessly sends %s', async (_what, open, message) => {
    expect(await flood(await open(), message)).toBe('closed');
    await watchPayment(webSocketClient(harness), harness.addPayment()).received(1);
  });
});
