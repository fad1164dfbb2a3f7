import { randomUUID } from 'node:crypto';
import { EventSource } from 'eventsource';
import { createClient } from 'graphql-sse';
import { until } from '../exactly-once/support/gate';
import { listening, startProgram } from '../gateway/fixtures/program';
import { AUTHORIZED } from '../support/credentials';
import { API_KEY, SECRET_KEY, testGateway, testSettings } from '../support/gateway';
import { EventStream, parametersOf, type SeenResult } from './support/event-stream';
import { graphqlWsClient } from './support/graphql-ws-client';
import { liveRig, standing, watching } from './support/live-rig';
import { obligingService } from './support/obliging-service';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const LOOK_UP = 'query ($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

async function opened(url: string, asked: object = watching()): Promise<EventStream> {
  const stream = await EventStream.open(`${url}/stream`, asked);
  expect(await stream.nextData()).toMatchObject({ status: 'PENDING' });
  return stream;
}

describe('A gateway that closes', () => {
  test('ends its streams without their completion, and looks at nothing any more', async () => {
    const rig = await liveRig();
    const streams = await Promise.all(Array.from({ length: 200 }, () => opened(rig.client.url)));
    await rig.client.gateway.close();
    for (const stream of streams) expect(await stream.rest()).toEqual([]);
    const seen = rig.service.seen.length;
    rig.clock.advance(60_000);
    expect(rig.service.seen).toHaveLength(seen);
  });

  test('is not held up by a stream that begins meanwhile', async () => {
    const rig = await liveRig();
    const stream = await opened(rig.client.url);
    // Its connection stays open for the second in which it is to agree to the closing.
    const socket = graphqlWsClient(rig.client.url, { retryAttempts: 0 });
    const values = socket.iterate(watching());
    expect((await values.next()).value).toEqual(standing('PENDING'));
    const closing = rig.client.gateway.close();
    const late = await Promise.allSettled(
      Array.from({ length: 20 }, () => EventStream.open(`${rig.client.url}/stream`, watching())),
    );
    for (const attempt of late)
      if (attempt.status === 'fulfilled') {
        expect([200, 503]).toContain(attempt.value.status);
        if (attempt.value.status === 200)
          expect(await attempt.value.rest()).not.toContainEqual({ event: 'complete' });
      }
    await closing;
    expect(await stream.rest()).toEqual([]);
    await values.return?.();
  });

  test('is not held up by a client that does not take what was sent', async () => {
    const rig = await liveRig();
    const id = randomUUID();
    const urls = Array.from({ length: 100 }, (_, count) => `u${count}: redirectUrl`).join(' ');
    const query = watching().query.replace('status', `status ${urls}`);
    const stream = await opened(rig.client.url, { ...watching(id), query });
    stream.pause();
    for (let count = 0; count < 40; count += 1) {
      rig.service.set(id, { redirect_url: `https://pay.example/${count}-${'x'.repeat(8000)}` });
      await rig.client.ask(LOOK_UP, watching(id).variables);
    }
    await rig.client.gateway.close();
    stream.resume();
    expect((await stream.rest()).at(-1)?.event).not.toBe('complete');
  });
});

test('SIGTERM: a program with streams ends them and itself', async () => {
  const service = await obligingService();
  const program = startProgram({
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    ...testSettings(),
    SHUTDOWN_GRACE_MS: '600000',
  });
  const url = `${await listening(program)}/graphql`;
  const streams = await Promise.all(Array.from({ length: 50 }, () => opened(url)));
  program.signal('SIGTERM');
  for (const stream of streams) expect(await stream.rest()).toEqual([]);
  expect(await program.exited).toBe(0);
  expect(program.output()).not.toMatch(/"level":50/);
});

describe('When a gateway is replaced by another at the same address', () => {
  /** A gateway, and how another takes its place after the payment was paid. */
  async function replaceable(id: string) {
    const service = await obligingService();
    const { gateway, url } = await testGateway(service.url);
    const replace = async (): Promise<void> => {
      await gateway.close();
      service.set(id, { status: 'completed' });
      await testGateway(service.url, { env: { PORT: new URL(url).port } });
    };
    return { streamUrl: `${url}/stream`, replace };
  }

  test('the graphql-sse client comes back by itself and gets the final state', async () => {
    const id = randomUUID();
    const { streamUrl, replace } = await replaceable(id);
    const client = createClient({ url: streamUrl, headers: AUTHORIZED });
    const results = client.iterate<SeenResult['data']>(watching(id));
    expect((await results.next()).value).toEqual(standing('PENDING'));
    await replace();
    expect((await results.next()).value).toEqual(standing('COMPLETED'));
    expect((await results.next()).done).toBe(true);
    client.dispose();
  });

  test('EventSource comes back by itself and gets the final state', async () => {
    const id = randomUUID();
    const { streamUrl, replace } = await replaceable(id);
    const source = new EventSource(`${streamUrl}?${parametersOf(watching(id))}`, {
      fetch: (target, init) => fetch(target, { ...init, headers: { ...init.headers, ...AUTHORIZED } }),
    });
    const seen: unknown[] = [];
    source.addEventListener('next', ({ data }) => seen.push(JSON.parse(String(data))));
    source.addEventListener('complete', () => source.close());
    await until(
      () => seen.length,
      (count) => count === 1,
    );
    await replace();
    await until(
      () => source.readyState,
      (state) => state === source.CLOSED,
    );
    expect(seen).toEqual([standing('PENDING'), standing('COMPLETED')]);
  });
});
