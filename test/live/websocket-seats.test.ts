import { randomUUID } from 'node:crypto';
import { clientOf, keyOf } from '../access/support/rig';
import { until } from '../exactly-once/support/gate';
import { graphqlWsClient } from './support/graphql-ws-client';
import { connectAs, liveRig, standing, watching, type LiveRig } from './support/live-rig';
import { WireClient, type Heard } from './support/wire-client';

const CLIENTS = [clientOf('one', {}), clientOf('two', {}), clientOf('three', {})];

const withSeats = (perClient: number, all = 1000): Promise<LiveRig> =>
  liveRig({
    clients: CLIENTS,
    env: { MAX_WATCHERS_PER_CLIENT: String(perClient), MAX_WATCHERS: String(all) },
  });

const LIMITED = {
  type: 'error',
  payload: [
    {
      message: expect.stringMatching(/./) as unknown,
      extensions: {
        code: 'RATE_LIMITED',
        retryable: true,
        retryAfterMs: expect.any(Number) as unknown,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      },
    },
  ],
};

let ids = 0;

/** Subscribes, and says what came back for that subscription. */
async function begin(client: WireClient, payload: object = watching()): Promise<Heard & { id: string }> {
  ids += 1;
  const id = `s${ids}`;
  client.subscribe(id, payload);
  for (let heard = await client.next(); ; heard = await client.next())
    if (heard.id === id) return { ...heard, id };
}

/** All seats of that client are free: it takes as many as there are, and gives them back. */
async function expectAllFree(rig: LiveRig, name: string, count: number): Promise<void> {
  const client = await until(
    () => connectAs(rig, name).catch(() => undefined),
    (now) => now !== undefined,
  );
  const taken = new Set<string>();
  await until(
    async () => {
      const { type, id } = await begin(client!);
      if (type === 'next') taken.add(id);
      return taken.size;
    },
    (size) => size === count,
  );
  expect((await begin(client!)).type).toBe('error');
  for (const id of taken) client!.complete(id);
  await client!.settled();
  client!.socket.close();
  await client!.closed;
}

describe('Subscriptions', () => {
  test('of one client are so many and no more, over however many connections', async () => {
    const rig = await withSeats(3);
    const connections = await Promise.all([connectAs(rig, 'one'), connectAs(rig, 'one')]);
    for (const place of [0, 1, 0]) expect((await begin(connections[place]!)).type).toBe('next');
    const lookups = rig.service.seen.length;
    for (const connection of connections) expect(await begin(connection)).toMatchObject(LIMITED);
    expect(rig.service.seen).toHaveLength(lookups);
    expect((await begin(await connectAs(rig, 'two'))).type).toBe('next');
  });

  test('of all clients are so many and no more', async () => {
    const rig = await withSeats(3, 4);
    const [one, two] = [await connectAs(rig, 'one'), await connectAs(rig, 'two')];
    for (const client of [one, one, one, two]) expect((await begin(client)).type).toBe('next');
    expect(await begin(two)).toMatchObject(LIMITED);
  });

  test('leave their seats to others when they are completed', async () => {
    const rig = await withSeats(1);
    const client = await connectAs(rig, 'one');
    for (let round = 0; round < 200; round += 1) {
      const { type, id } = await begin(client);
      expect(type).toBe('next');
      client.complete(id);
    }
  });

  test('leave their seats to others when they end by themselves, or with an error', async () => {
    const rig = await withSeats(1);
    const client = await connectAs(rig, 'one');
    const done = randomUUID();
    rig.service.set(done, { status: 'completed' });
    for (let round = 0; round < 100; round += 1) {
      expect((await begin(client, watching(done))).type).toBe('next');
      expect((await client.next()).type).toBe('complete');
      rig.service.absent = true;
      expect((await begin(client, watching())).payload).toMatchObject([
        { extensions: { code: 'NOT_FOUND' } },
      ]);
      rig.service.absent = false;
    }
  });

  test('that are refused take no seat', async () => {
    const rig = await withSeats(1);
    const client = await connectAs(rig, 'one');
    for (const query of ['{', '{ __typename }', 'subscription { nosuch }', watching().query])
      for (let round = 0; round < 20; round += 1) expect((await begin(client, { query })).type).toBe('error');
    expect((await begin(client)).type).toBe('next');
  });

  test('that are completed before their first result leave nothing behind', async () => {
    const rig = await withSeats(2);
    const client = await connectAs(rig, 'one');
    for (let round = 0; round < 300; round += 1) {
      client.subscribe(`early-${round}`, watching());
      client.complete(`early-${round}`);
      if (round % 7 === 0) await client.settled();
    }
    client.socket.close();
    await client.closed;
    await expectAllFree(rig, 'one', 2);
  });

  test('of clients that close or vanish leave nothing behind, hundreds of times', async () => {
    const rig = await withSeats(10);
    for (let round = 0; round < 60; round += 1) {
      const clients = await Promise.all(
        [0, 1, 2, 3].map(() =>
          until(
            () => connectAs(rig, 'one').catch(() => undefined),
            (client) => client !== undefined,
          ),
        ),
      );
      for (const [place, client] of clients.entries()) {
        for (let count = 0; count < 3; count += 1) client!.subscribe(`x${count}`, watching());
        // Some wait for what comes, others do not.
        if (round % 2 === 0) await client!.next();
        if (place % 2 === 0) client!.socket.terminate();
        else client!.socket.close();
      }
    }
    await expectAllFree(rig, 'one', 10);
  });
});

describe('Connections', () => {
  const closing = async (rig: LiveRig, name: string) => {
    const client = await WireClient.open(rig.client.url);
    client.say({ type: 'connection_init', payload: { authorization: `Bearer ${keyOf(name)}` } });
    return client.closed;
  };

  test('of one client are so many and no more, and another is told to come later', async () => {
    const rig = await withSeats(2);
    const kept = [await connectAs(rig, 'one'), await connectAs(rig, 'one')];
    expect(await closing(rig, 'one')).toEqual({
      code: 1013,
      reason: expect.stringMatching(/^RATE_LIMITED: /) as unknown,
    });
    await connectAs(rig, 'two');
    kept[0]!.socket.terminate();
    await until(
      () => connectAs(rig, 'one').catch(() => undefined),
      (client) => client !== undefined,
    );
  });

  test('of all clients are so many and no more', async () => {
    const rig = await withSeats(2, 3);
    for (const name of ['one', 'one', 'two']) await connectAs(rig, name);
    for (const name of ['one', 'two', 'three']) expect((await closing(rig, name)).code).toBe(1013);
  });

  test('that are refused, or never say who they are, take no seat', async () => {
    const rig = await withSeats(1);
    for (let round = 0; round < 50; round += 1) {
      expect((await closing(rig, 'nobody')).code).toBe(4401);
      await WireClient.open(rig.client.url);
    }
    await connectAs(rig, 'one');
  });

  test('that are refused for another fault give back what they took', async () => {
    const rig = await withSeats(1);
    for (let round = 0; round < 30; round += 1) {
      const client = await until(
        () => connectAs(rig, 'one').catch(() => undefined),
        (now) => now !== undefined,
      );
      client!.say('no message');
      expect((await client!.closed).code).toBe(4400);
    }
  });

  test('a client of graphql-ws that is told to come later does, and gets what it asked', async () => {
    const rig = await withSeats(1);
    const kept = await connectAs(rig, 'one');
    const closings: number[] = [];
    const client = graphqlWsClient(rig.client.url, {
      connectionParams: { authorization: `Bearer ${keyOf('one')}` },
      on: {
        closed: (event) => {
          closings.push((event as CloseEvent).code);
          kept.socket.terminate();
        },
      },
      retryAttempts: 100,
    });
    expect((await client.iterate(watching()).next()).value).toEqual(standing('PENDING'));
    expect(closings[0]).toBe(1013);
  });
});
