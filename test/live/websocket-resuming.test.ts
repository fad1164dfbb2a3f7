import { randomUUID } from 'node:crypto';
import { until } from '../exactly-once/support/gate';
import { listening, startProgram, type Program } from '../gateway/fixtures/program';
import { AUTHORIZED } from '../support/credentials';
import { API_KEY, SECRET_KEY, testGateway, testSettings } from '../support/gateway';
import { graphqlWsClient } from './support/graphql-ws-client';
import { liveRig, standing, watching } from './support/live-rig';
import { obligingService, type ObligingService } from './support/obliging-service';
import { WireClient } from './support/wire-client';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const WATCHERS = 1000;

/** A gateway as `npm start` runs it, whose grace is longer than this test may take. */
async function start(service: ObligingService, env: Record<string, string> = {}): Promise<[Program, string]> {
  const program = startProgram({
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    ...testSettings(),
    SHUTDOWN_GRACE_MS: '600000',
    ...env,
  });
  return [program, `${await listening(program)}/graphql`];
}

/** That many subscriptions, over so many connections; each has its first result. */
async function watched(url: string, connections: number): Promise<WireClient[]> {
  const clients: WireClient[] = [];
  const payments = Array.from({ length: 20 }, () => randomUUID());
  for (let place = 0; place < connections; place += 1) clients.push(await WireClient.ready(url, AUTHORIZED));
  for (let place = 0; place < WATCHERS; place += 1)
    clients[place % connections]!.subscribe(`s${place}`, watching(payments[place % payments.length]));
  await until(
    () => clients.flatMap(({ heard }) => heard.filter(({ type }) => type === 'next')).length,
    (count) => count === WATCHERS,
    120_000,
  );
  return clients;
}

describe('SIGTERM', () => {
  test.each([5, WATCHERS])(
    'with 1,000 watchers over %i connections: all are told to go elsewhere, and it ends',
    async (connections) => {
      const [program, url] = await start(await obligingService());
      const clients = await watched(url, connections);
      program.signal('SIGTERM');
      const closings = await Promise.all(clients.map(({ closed }) => closed));
      expect(new Set(closings.map(({ code, reason }) => `${code} ${reason}`))).toEqual(
        new Set(['1001 The gateway is shutting down.']),
      );
      for (const { heard } of clients)
        expect(heard.filter(({ type }) => type === 'error' || type === 'complete')).toEqual([]);
      expect(await program.exited).toBe(0);
      const lines = program.output().match(/"operation":"subscription"/g) ?? [];
      expect(lines).toHaveLength(WATCHERS);
      expect(program.output()).not.toMatch(/"level":50/);
    },
  );

  test('with watchers that do not answer the closing: it ends all the same', async () => {
    const [program, url] = await start(await obligingService());
    const client = await WireClient.ready(url, AUTHORIZED);
    client.subscribe('a', watching());
    await client.next();
    client.socket.pause();
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  test('with connections that have not said who they are: it ends all the same', async () => {
    const [program, url] = await start(await obligingService());
    const client = await WireClient.open(url);
    program.signal('SIGTERM');
    expect((await client.closed).code).toBe(1001);
    expect(await program.exited).toBe(0);
  });
});

test('A gateway that is closing takes no new connection', async () => {
  const rig = await liveRig();
  const client = await WireClient.ready(rig.client.url, AUTHORIZED);
  client.subscribe('a', watching());
  await client.next();
  const closing = rig.client.gateway.close();
  await expect(WireClient.open(rig.client.url)).rejects.toThrow();
  expect((await client.closed).code).toBe(1001);
  await closing;
  const seen = rig.service.seen.length;
  rig.clock.advance(60_000);
  expect(rig.service.seen).toHaveLength(seen);
});

describe('A client of graphql-ws, when its gateway goes', () => {
  async function two() {
    const service = await obligingService();
    const [first, second] = [await testGateway(service.url), await testGateway(service.url)];
    return { service, first, second };
  }

  test('goes on at another, and gets the state that came meanwhile', async () => {
    const { service, first, second } = await two();
    let address = first.url;
    const id = randomUUID();
    const closings: number[] = [];
    const stream = graphqlWsClient(() => address, {
      on: { closed: (event) => void closings.push((event as CloseEvent).code) },
    }).iterate(watching(id));
    expect((await stream.next()).value).toEqual(standing('PENDING'));
    address = second.url;
    service.set(id, { status: 'completed' });
    await first.gateway.close();
    expect((await stream.next()).value).toEqual(standing('COMPLETED'));
    expect((await stream.next()).done).toBe(true);
    expect(closings[0]).toBe(1001);
  });

  test('goes on with everything that it watches, by its own patience', async () => {
    const { service, first, second } = await two();
    let address = first.url;
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const client = graphqlWsClient(() => address, { retryWait: undefined });
    const streams = ids.map((id) => client.iterate(watching(id)));
    for (const stream of streams) expect((await stream.next()).value).toEqual(standing('PENDING'));
    address = second.url;
    await first.gateway.close();
    for (const id of ids) service.set(id, { status: 'failed' });
    for (const stream of streams) {
      expect((await stream.next()).value).toEqual(standing('FAILED'));
      expect((await stream.next()).done).toBe(true);
    }
  });

  test('goes on where nothing has changed with the same state, and then with the changes', async () => {
    const { service, first, second } = await two();
    let address = first.url;
    const id = randomUUID();
    const stream = graphqlWsClient(() => address).iterate(watching(id));
    expect((await stream.next()).value).toEqual(standing('PENDING'));
    address = second.url;
    await first.gateway.close();
    expect((await stream.next()).value).toEqual(standing('PENDING'));
    service.set(id, { status: 'completed' });
    expect((await stream.next()).value).toEqual(standing('COMPLETED'));
  });

  test('that was killed, goes on as well', async () => {
    const service = await obligingService();
    const [program, url] = await start(service);
    const other = await testGateway(service.url);
    let address = url;
    const id = randomUUID();
    const stream = graphqlWsClient(() => address).iterate(watching(id));
    expect((await stream.next()).value).toEqual(standing('PENDING'));
    address = other.url;
    service.set(id, { status: 'completed' });
    program.signal('SIGKILL');
    expect((await stream.next()).value).toEqual(standing('COMPLETED'));
  });
});
