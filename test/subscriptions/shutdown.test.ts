import { AUTHORIZED } from '../support/credentials';
import { EventStream } from './support/event-stream';
import { startHarness, subscription } from './support/harness';
import { WireClient } from './support/wire-client';

async function opened(url: string, payload: object): Promise<EventStream> {
  const stream = await EventStream.open(`${url}/stream`, payload);
  expect(await stream.nextData()).toMatchObject({ status: 'PENDING' });
  return stream;
}

describe('A gateway that shuts down', () => {
  test('closes WebSockets with code 1001, ends event streams without the event `complete`, and stops polling', async () => {
    const harness = await startHarness();
    const { gateway, url } = harness.client;
    const payload = subscription(harness.addPayment());
    const client = await WireClient.ready(url, AUTHORIZED);
    client.subscribe('a', payload);
    await client.next();
    const uninitialised = await WireClient.open(url);
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
    for (const { closed } of [client, uninitialised]) expect((await closed).code).toBe(1001);
    expect(client.messages.map(({ type }) => type)).toEqual(['connection_ack', 'next']);
    expect(await stream.rest()).toEqual([]);
    expect(harness.subscriptionLines().length).toBeGreaterThanOrEqual(2);
    expect(harness.logLines.join('')).not.toContain('"level":50');
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
    for (let count = 0; count < 40; count += 1)
      await harness.change(id, { redirect_url: `https://pay.example/${count}-${'x'.repeat(8000)}` });
    await harness.client.gateway.close();
    stream.resume();
    expect((await stream.rest()).at(-1)?.event).not.toBe('complete');
  });
});
