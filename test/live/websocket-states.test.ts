import { randomUUID } from 'node:crypto';
import { OURS } from '../access/support/rig';
import { AUTHORIZED } from '../support/credentials';
import { graphqlWsClient } from './support/graphql-ws-client';
import {
  liveRig,
  moveUntil,
  standing,
  subscriptionLines,
  watching,
  type Kind,
  type LiveRig,
} from './support/live-rig';
import { until } from '../exactly-once/support/gate';
import { WireClient } from './support/wire-client';

let rig: LiveRig;

beforeAll(async () => {
  rig = await liveRig();
});

const KINDS: [Kind, string[], string[]][] = [
  ['payment', ['pending', 'processing', 'completed'], ['PENDING', 'PROCESSING', 'COMPLETED']],
  ['payment', ['pending', 'failed'], ['PENDING', 'FAILED']],
  ['payout', ['pending', 'processing', 'completed'], ['PENDING', 'PROCESSING', 'COMPLETED']],
  ['payout', ['processing', 'failed'], ['PROCESSING', 'FAILED']],
];

describe('A client of graphql-ws that watches', () => {
  test.each(KINDS)(
    'a %s that goes through %j gets each state, and then the end',
    async (kind, words, told) => {
      const id = randomUUID();
      rig.service.set(id, { status: words[0] });
      const results: unknown[] = [];
      for await (const result of graphqlWsClient(rig.client.url).iterate(watching(id, kind))) {
        results.push(result);
        const lookups = rig.service.lookups(id);
        const next = words[results.length];
        if (next === undefined) continue;
        rig.service.set(id, { status: next });
        await moveUntil(rig, () => rig.service.lookups(id) > lookups);
      }
      expect(results).toEqual(told.map((status) => standing(status, kind)));
    },
  );

  test.each(['payment', 'payout'] as const)(
    'a %s that has ended already gets its state at once, and then the end',
    async (kind) => {
      const id = randomUUID();
      rig.service.set(id, { status: 'completed' });
      const results: unknown[] = [];
      for await (const result of graphqlWsClient(rig.client.url).iterate(watching(id, kind)))
        results.push(result);
      expect(results).toEqual([standing('COMPLETED', kind)]);
      expect(rig.service.lookups(id)).toBe(1);
    },
  );

  test('several over one connection is told of each by itself', async () => {
    const sockets = new Set<unknown>();
    const client = graphqlWsClient(rig.client.url, { on: { opened: (socket) => void sockets.add(socket) } });
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const streams = ids.map((id) => client.iterate(watching(id)));
    for (const stream of streams) expect((await stream.next()).value).toEqual(standing('PENDING'));
    for (const [place, id] of ids.entries()) {
      rig.service.set(id, { status: 'completed' });
      const lookups = rig.service.lookups(id);
      await moveUntil(rig, () => rig.service.lookups(id) > lookups);
      expect((await streams[place]!.next()).value).toEqual(standing('COMPLETED'));
      expect((await streams[place]!.next()).done).toBe(true);
    }
    expect(sockets.size).toBe(1);
  });

  test('a payment that is not there hears so', async () => {
    const lone = await liveRig();
    lone.service.absent = true;
    const stream = graphqlWsClient(lone.client.url).iterate(watching());
    await expect(stream.next()).rejects.toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });
});

describe('Over the wire', () => {
  test('there is nothing before the acknowledgement, which holds nothing', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    expect(client.heard).toEqual([{ type: 'connection_ack' }]);
  });

  test('each result is one message, and the end is another', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    const id = randomUUID();
    rig.service.set(id, { status: 'completed' });
    client.subscribe('a', watching(id));
    expect([await client.next(), await client.next()]).toEqual([
      { type: 'next', id: 'a', payload: standing('COMPLETED') },
      { type: 'complete', id: 'a' },
    ]);
  });

  test('an id can be used again when its subscription has ended', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    const id = randomUUID();
    rig.service.set(id, { status: 'completed' });
    for (let round = 0; round < 3; round += 1) {
      client.subscribe('a', watching(id));
      expect((await client.next()).type).toBe('next');
      expect((await client.next()).type).toBe('complete');
    }
  });

  test('who completes hears nothing more of it, and the watch ends', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    const id = randomUUID();
    client.subscribe('a', watching(id));
    await client.next();
    client.complete('a');
    await client.settled();
    const lookups = rig.service.lookups(id);
    rig.service.set(id, { status: 'completed' });
    rig.clock.advance(10 * 60_000);
    expect(await client.settled()).toEqual([]);
    expect(rig.service.lookups(id)).toBe(lookups);
  });

  test('a ping is answered, with what it held', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    client.say({ type: 'ping', payload: { round: 1 } });
    expect(await client.next()).toEqual({ type: 'pong', payload: { round: 1 } });
    client.say({ type: 'pong' });
    expect(await client.settled()).toEqual([]);
  });

  test('every error names its request', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    client.subscribe('a', { query: 'subscription { nosuch }' });
    const { type, payload } = await client.next();
    expect(type).toBe('error');
    const [error] = payload as { extensions: { requestId: string } }[];
    expect(error?.extensions.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('The log', () => {
  const linesAfter = async (lone: LiveRig, count: number): Promise<Record<string, unknown>[]> =>
    until(
      () => subscriptionLines(lone),
      (lines) => lines.length >= count,
    );

  test('has one line per subscription, when it has ended', async () => {
    const lone = await liveRig();
    const client = await WireClient.ready(lone.client.url, AUTHORIZED);
    const [id, other] = [randomUUID(), randomUUID()];
    lone.service.set(id, { status: 'completed' });
    client.subscribe('my-own-id', { ...watching(other), operationName: 'Watch' });
    expect((await client.next()).type).toBe('next');
    client.subscribe('another-id', watching(id));
    expect([(await client.next()).type, (await client.next()).type]).toEqual(['next', 'complete']);
    expect(subscriptionLines(lone)).toMatchObject([{ msg: 'operation', results: 1 }]);
    client.subscribe('a-third', { query: 'subscription { nosuch }' });
    await client.next();
    client.socket.terminate();
    const lines = await linesAfter(lone, 3);
    expect(lines).toMatchObject([
      { caller: 'service:test', results: 1, ms: expect.any(Number) as unknown },
      { caller: 'service:test', results: 0, errors: ['GRAPHQL_VALIDATION_FAILED'] },
      { caller: 'service:test', results: 1, name: 'Watch' },
    ]);
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(3);
    expect(lines[0]).not.toHaveProperty('errors');
    const logged = lone.logLines.join('');
    for (const secret of [
      id,
      other,
      OURS,
      'my-own-id',
      'another-id',
      'nosuch',
      AUTHORIZED.authorization.slice(7),
    ])
      expect(logged).not.toContain(secret);
  });
});
