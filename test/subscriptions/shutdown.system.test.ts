import { systemClock } from '../../src/shared/clock';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../support/latch';
import { serviceSettings } from '../support/gateway';
import { listening, startProgram } from '../support/program';
import { EventStream } from './support/event-stream';
import { startHarness, startHarnessOn, subscription } from './support/harness';
import { WireClient } from './support/wire-client';

async function opened(url: string, payload: object): Promise<EventStream> {
  const stream = await EventStream.open(`${url}/stream`, payload);
  expect(await stream.nextData()).toMatchObject({ status: 'PENDING' });
  return stream;
}

test('SIGTERM closes WebSockets with 1001 and event streams without a completion event, and ends the process', async () => {
  const harness = await startHarnessOn(systemClock);
  const program = startProgram({
    ...serviceSettings(harness.service.url),
    SHUTDOWN_GRACE_MS: '600000',
  });
  const url = `${await listening(program)}/graphql`;
  const payments = Array.from({ length: 10 }, () => harness.addPayment());
  const clients = await Promise.all(Array.from({ length: 60 }, () => WireClient.ready(url, AUTHORIZED)));
  // Fifty subscriptions on each of the first four connections, one on each of the others.
  for (const [place, client] of clients.entries())
    for (let count = 0; count < (place < 4 ? 50 : 1); count += 1)
      client.subscribe(`s${count}`, subscription(payments[count % payments.length]!));
  const received = (): number =>
    clients.flatMap(({ messages: received }) => received.filter(({ type }) => type === 'next')).length;
  await until(() => received() === 4 * 50 + 56);
  const streams = await Promise.all(
    Array.from({ length: 30 }, () => opened(url, subscription(payments[0]!))),
  );
  const uninitialised = await WireClient.open(url);
  const silent = await WireClient.ready(url, AUTHORIZED);
  silent.socket.pause();
  program.signal('SIGTERM');
  const codes = await Promise.all([...clients, uninitialised].map(async ({ closed }) => (await closed).code));
  expect(new Set(codes)).toEqual(new Set([1001]));
  for (const { messages: received } of clients)
    expect(received.filter(({ type }) => type === 'error' || type === 'complete')).toEqual([]);
  for (const stream of streams) expect(await stream.rest()).toEqual([]);
  expect(await program.exited).toBe(0);
  expect(program.output().match(/"operation":"subscription"/g)).toHaveLength(4 * 50 + 56 + 30);
  expect(program.output()).not.toMatch(/"level":50/);
});

describe('A gateway that is closing', () => {
  test('refuses new connections and streams, and sends no lookups', async () => {
    const harness = await startHarness();
    const { gateway, url } = harness.client;
    const payload = subscription(harness.addPayment());
    const client = await WireClient.ready(url, AUTHORIZED);
    client.subscribe('a', payload);
    await client.next();
    // This client has one second to acknowledge the close.
    const silent = await WireClient.ready(url, AUTHORIZED);
    silent.socket.pause();
    const stream = await opened(url, payload);
    const closing = gateway.close();
    await expect(WireClient.open(url)).rejects.toThrow();
    const late = await Promise.allSettled(
      Array.from({ length: 10 }, () => EventStream.open(`${url}/stream`, payload)),
    );
    for (const attempt of late)
      if (attempt.status === 'fulfilled') {
        expect([200, 503]).toContain(attempt.value.status);
        if (attempt.value.status === 200)
          expect(await attempt.value.rest()).not.toContainEqual({ event: 'complete' });
      }
    await closing;
    expect((await client.closed).code).toBe(1001);
    expect(await stream.rest()).toEqual([]);
    const before = harness.service.requests.length;
    harness.clock.advance(60_000);
    expect(harness.service.requests.length).toBe(before);
  });

  test('does not wait for a client that does not read', async () => {
    const harness = await startHarness();
    const id = harness.addPayment();
    const urls = Array.from({ length: 100 }, (_, count) => `u${count}: redirectUrl`).join(' ');
    const query = subscription(id).query.replace('status', `status ${urls}`);
    const stream = await opened(harness.url, { ...subscription(id), query });
    stream.pause();
    for (let count = 0; count < 40; count += 1) {
      await harness.change(id, { redirect_url: `https://pay.example/${count}-${'x'.repeat(8000)}` });
    }
    await harness.client.gateway.close();
    stream.resume();
    expect((await stream.rest()).at(-1)?.event).not.toBe('complete');
  });
});
