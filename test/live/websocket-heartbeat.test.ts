import { randomUUID } from 'node:crypto';
import { CLIENT_KEY } from '../support/credentials';
import { until } from '../exactly-once/support/gate';
import { graphqlWsClient } from './support/graphql-ws-client';
import { liveRig, standing, subscriptionLines, watching, type LiveRig } from './support/live-rig';
import { Silent, textFrame, upgradeLines } from './support/upgrade';
import { WireClient } from './support/wire-client';

const BEAT_MS = 15_000;
const PING = 0x89;

let rig: LiveRig;

beforeEach(async () => {
  rig = await liveRig({ env: { WATCH_HEARTBEAT_SECONDS: '15' } });
});

/** A client that watches, reads everything and answers no ping. */
async function deaf(id: string): Promise<Silent> {
  const silent = await Silent.open(
    rig.client.url,
    upgradeLines(rig.client.url, { Authorization: `Bearer ${CLIENT_KEY}` }),
  );
  await until(
    () => silent.status,
    (status) => status === 101,
  );
  silent.write(textFrame('{"type":"connection_init"}'));
  await hears(silent, 'connection_ack');
  const { query, variables } = watching(id);
  const short = query.replace(/\s+/g, ' ');
  for (const part of split(
    JSON.stringify({ type: 'subscribe', id: 'a', payload: { query: short, variables } }),
  ))
    silent.write(part);
  await hears(silent, '"next"');
  return silent;
}

/** A longer message, in frames of what a short frame holds. */
function split(text: string): Buffer[] {
  const parts = text.match(/.{1,100}/gs) ?? [];
  return parts.map((part, place) => {
    const frame = textFrame(part);
    const isLast = place === parts.length - 1;
    frame[0] = (isLast ? 0x80 : 0) | (place === 0 ? 1 : 0);
    return frame;
  });
}

const hears = (silent: Silent, text: string): Promise<string> =>
  until(
    () => silent.body.toString('latin1'),
    (body) => body.includes(text),
  );

const pings = ({ body }: Silent): number => body.filter((byte) => byte === PING).length;

test('Who answers no ping is let go at the next, and what it watched is looked at no more', async () => {
  const id = randomUUID();
  const silent = await deaf(id);
  rig.clock.advance(BEAT_MS);
  await until(
    () => pings(silent),
    (count) => count === 1,
  );
  expect(silent.isGone).toBe(false);
  rig.clock.advance(BEAT_MS);
  await silent.ended;
  await until(
    () => subscriptionLines(rig).length,
    (count) => count === 1,
  );
  const lookups = rig.service.lookups(id);
  rig.clock.advance(10 * 60_000);
  // Another has asked and been answered meanwhile: a lookup would have arrived.
  await rig.client.ask('{ __typename }');
  const other = await WireClient.ready(rig.client.url, { authorization: `Bearer ${CLIENT_KEY}` });
  other.subscribe('b', watching());
  expect((await other.next()).type).toBe('next');
  expect(rig.service.lookups(id)).toBe(lookups);
});

test('Who answers stays, as long as it likes', async () => {
  const id = randomUUID();
  const live = graphqlWsClient(rig.client.url).iterate(watching(id));
  expect((await live.next()).value).toEqual(standing('PENDING'));
  const wire = await WireClient.ready(rig.client.url, { authorization: `Bearer ${CLIENT_KEY}` });
  let answered = 0;
  wire.socket.on('ping', () => {
    answered += 1;
  });
  for (let beat = 1; beat <= 10; beat += 1) {
    rig.clock.advance(BEAT_MS);
    await until(
      () => answered,
      (count) => count === beat,
    );
    // An answer to a later question: the pong before it has arrived.
    await wire.settled();
    await rig.client.ask('{ __typename }');
  }
  rig.service.set(id, { status: 'completed' });
  rig.clock.advance(60_000 / 5);
  expect((await live.next()).value).toEqual(standing('COMPLETED'));
  expect(rig.logLines.join('')).not.toContain('"level":50');
});

test('Who says something is there, whether or not it answers pings', async () => {
  const silent = await deaf(randomUUID());
  for (let beat = 1; beat <= 5; beat += 1) {
    rig.clock.advance(BEAT_MS);
    await until(
      () => pings(silent),
      (count) => count === beat,
    );
    const before = silent.body.toString('latin1').split('"pong"').length;
    silent.write(textFrame('{"type":"ping"}'));
    await until(
      () => silent.body.toString('latin1').split('"pong"').length,
      (count) => count === before + 1,
    );
  }
  expect(silent.isGone).toBe(false);
});

test('Who has not even said who it is, is let go as well', async () => {
  const silent = await Silent.open(rig.client.url, upgradeLines(rig.client.url));
  await until(
    () => silent.status,
    (status) => status === 101,
  );
  rig.clock.advance(BEAT_MS);
  rig.clock.advance(BEAT_MS);
  await silent.ended;
});

test('Beats come as often as is set', async () => {
  rig = await liveRig({ env: { WATCH_HEARTBEAT_SECONDS: '60' } });
  const silent = await deaf(randomUUID());
  rig.clock.advance(59_000);
  silent.write(textFrame('{"type":"ping"}'));
  await hears(silent, '"pong"');
  expect(pings(silent)).toBe(0);
  rig.clock.advance(1000);
  await until(
    () => pings(silent),
    (count) => count === 1,
  );
});
