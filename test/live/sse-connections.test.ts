import { randomUUID } from 'node:crypto';
import { Issuer, goodClaims, newKey, tokenBy } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { Wire, requestText } from '../attack/wire';
import { until } from '../exactly-once/support/gate';
import { AUTHORIZED } from '../support/credentials';
import { parametersOf, type StreamEvent } from './support/event-stream';
import { liveRig, moveUntil, subscriptionLines, watching, type LiveRig } from './support/live-rig';
import { LOOK_UP, ended, expectNobodyLooks, open, opened, refusedWith } from './support/streams';

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = { WATCH_HEARTBEAT_SECONDS: '15' };
const PENDING = { status: 'PENDING' };

describe('Heartbeats', () => {
  test('a stream on which nothing happens gets a comment every 15 seconds, and no event', async () => {
    const rig = await liveRig({ env: HEARTBEAT });
    const stream = await opened(rig);
    for (let beats = 1; beats <= 4; beats += 1) {
      rig.clock.advance(HEARTBEAT_MS);
      await until(
        () => stream.comments,
        (comments) => comments === beats + 1,
      );
    }
    expect(stream.isQuiet).toBe(true);
    expect(stream.isOver).toBe(false);
    stream.leave();
  });

  test('WATCH_HEARTBEAT_SECONDS says how often', async () => {
    const rig = await liveRig({ env: { WATCH_HEARTBEAT_SECONDS: '3' } });
    const stream = await opened(rig);
    rig.clock.advance(3000);
    await until(
      () => stream.comments,
      (comments) => comments === 2,
    );
    stream.leave();
  });
});

describe('A client that goes away', () => {
  test('without a word ends its watch, and nobody looks any more', async () => {
    const rig = await liveRig();
    const asked = watching();
    const stream = await opened(rig, asked);
    stream.leave();
    await ended(rig, 1);
    await expectNobodyLooks(rig, asked.variables.t);
  });

  test('is one of two: the other goes on', async () => {
    const rig = await liveRig();
    const asked = watching();
    const [gone, stays] = [await opened(rig, asked), await opened(rig, asked)];
    gone.leave();
    await ended(rig, 1);
    rig.service.set(asked.variables.t, { status: 'completed' });
    await moveUntil(rig, () => !stays.isQuiet);
    expect(await stays.nextData()).toEqual({ status: 'COMPLETED' });
  });

  test('while it is found out who asks has never watched', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    let answer: (() => void) | undefined;
    issuer.answering = (response) => {
      answer = () => response.end(JSON.stringify({ keys: [key.jwk] }));
    };
    const rig = await liveRig({ env: issuer.settings });
    const token = bearer(await tokenBy(key, { claims: goodClaims(rig.clock.now()) }));
    const asked = watching();
    const wire = await Wire.open(rig.client.url);
    wire.write(
      requestText(`GET /graphql/stream?${parametersOf(asked)} HTTP/1.1`, [
        ...HOST(rig),
        `Authorization: ${token.authorization}`,
        'Accept: text/event-stream',
      ]),
    );
    const other = open(rig, watching(), token);
    await until(
      () => answer,
      (held) => held !== undefined,
    );
    wire.close();
    await wire.closed;
    // The gateway has heard of it before it answers this.
    await fetch(new URL('/healthz', rig.client.url));
    answer?.();
    const stream = await other;
    expect(await stream.nextData()).toEqual(PENDING);
    await expectNobodyLooks(rig, asked.variables.t);
    expect(rig.service.lookups(asked.variables.t)).toBe(0);
    stream.leave();
  });

  test('with streams behind one another on its connection leaves nothing behind', async () => {
    const rig = await liveRig();
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const wire = await Wire.open(rig.client.url);
    const requests = ids.map((id) =>
      requestText(`GET /graphql/stream?${parametersOf(watching(id))} HTTP/1.1`, [
        ...HOST(rig),
        `Authorization: ${AUTHORIZED.authorization}`,
        'Accept: text/event-stream',
      ]),
    );
    wire.write(requests.join(''));
    await until(
      () => rig.service.lookups(ids[0]!),
      (lookups) => lookups === 1,
    );
    wire.close();
    await until(
      () => subscriptionLines(rig).length,
      (lines) => lines >= 1,
    );
    for (const id of ids) await expectNobodyLooks(rig, id);
  });
});

const HOST = ({ client }: LiveRig): string[] => [`Host: ${new URL(client.url).host}`];

/** A selection whose result is 800 KB: no buffer of an operating system holds many of them. */
const LARGE = `subscription Watch($c: UUID!, $t: UUID!) { paymentUpdated(channel: $c, transactionId: $t) {
  ... on PaymentResource { status ${Array.from({ length: 100 }, (_, count) => `u${count}: redirectUrl`).join(' ')} } } }`;
const RESULT_BYTES = 800_000;
/** So many of them are more than a kernel lets both ends of a connection grow to (4 MB and 32 MB on Linux). */
const MANY = 150;

/** The payment changes so often, and somebody looks at it each time. */
async function change(rig: LiveRig, id: string, count: number, status = 'pending'): Promise<void> {
  for (let place = 0; place < count; place += 1) {
    rig.service.set(id, { status, redirect_url: `https://pay.example/${place}-${'x'.repeat(8000)}` });
    await rig.client.ask(LOOK_UP, { ...watching(id).variables });
  }
}

describe('A client that takes nothing', () => {
  test('gets the newest state when it goes on, and what it missed was kept for it nowhere', async () => {
    const rig = await liveRig();
    const id = randomUUID();
    const stream = await opened(rig, { ...watching(id), query: LARGE });
    stream.pause();
    await change(rig, id, MANY);
    await change(rig, id, 1, 'completed');
    stream.resume();
    const events = await stream.rest();
    expect(events.at(-1)).toEqual({ event: 'complete' });
    expect(statusOf(events.at(-2))).toBe('COMPLETED');
    // What had been handed to the operating system came, and one that waited.
    expect(events.length).toBeLessThan(MANY / 3);
    expect(stream.text.length).toBeLessThan((MANY / 3) * RESULT_BYTES);
  });

  test('is let go at the second beat, and its watch ends', async () => {
    const rig = await liveRig({ env: { ...HEARTBEAT, MAX_WATCHERS_PER_CLIENT: '1' } });
    const id = randomUUID();
    const stream = await opened(rig, { ...watching(id), query: LARGE });
    stream.pause();
    await change(rig, id, MANY);
    rig.clock.advance(HEARTBEAT_MS);
    await rig.client.ask(LOOK_UP, watching(id).variables);
    expect(subscriptionLines(rig)).toEqual([]);
    expect(await (await open(rig)).rest()).toMatchObject(refusedWith('RATE_LIMITED'));
    rig.clock.advance(HEARTBEAT_MS);
    await ended(rig, 2);
    await expectNobodyLooks(rig, id);
    (await opened(rig)).leave();
  });
});

const statusOf = (event: StreamEvent | undefined): unknown =>
  event?.event === 'next' ? event.data.data?.['paymentUpdated']?.['status'] : undefined;
