import { setImmediate } from 'node:timers/promises';
import { AUTHORIZED } from '../support/credentials';
import { until } from '../exactly-once/support/gate';
import { liveRig, watching, type LiveRig } from './support/live-rig';
import { WireClient } from './support/wire-client';

/** More than kernels hold for two ends of a connection, in both directions. */
const FLOOD = 512 * 1024 * 1024;

let rig: LiveRig;

beforeAll(async () => {
  rig = await liveRig();
});

/** Goes on saying something until that many bytes have left, or the connection is closed. */
async function flood(client: WireClient, say: () => number): Promise<'closed' | 'kept'> {
  const { socket } = client;
  for (let sent = 0; sent < FLOOD;) {
    if (socket.readyState !== socket.OPEN) return 'closed';
    sent += say();
    // What was sent may all be the kernel's as yet: the gateway wants its turn to read it.
    await setImmediate();
    await until(() => socket.bufferedAmount === 0 || socket.readyState !== socket.OPEN, Boolean, 5000).catch(
      () => socket.terminate(),
    );
  }
  return 'kept';
}

const PING = JSON.stringify({ type: 'ping', payload: { filler: 'x'.repeat(90 * 1024) } });

describe('What a client asks for and does not read is not kept for it without end', () => {
  test.each([
    ['that has said who it is', async () => WireClient.ready(rig.client.url, AUTHORIZED)],
    ['of whom nothing is known', async () => WireClient.open(rig.client.url)],
  ])('by a client %s, with pings that are to be answered', async (_who, connect) => {
    const client = await connect();
    client.socket.pause();
    const ended = await flood(client, () => {
      client.socket.send(PING, () => undefined);
      return PING.length;
    });
    expect(ended).toBe('closed');
  });

  test('by a client that goes on subscribing to nothing', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    client.socket.pause();
    const fields = Array.from({ length: 40 }, (_, place) => `no${place}`).join(' ');
    const query = watching().query.replace('status', fields);
    let ids = 0;
    const ended = await flood(client, () => {
      const text = JSON.stringify({
        type: 'subscribe',
        id: `${'i'.repeat(80_000)}${(ids += 1)}`,
        payload: { query },
      });
      client.socket.send(text, () => undefined);
      return text.length;
    });
    expect(ended).toBe('closed');
  });

  test('others are served meanwhile', async () => {
    const client = await WireClient.ready(rig.client.url, AUTHORIZED);
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
  });
});
