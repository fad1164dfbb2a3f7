import {
  eventStreamClient,
  webSocketClient,
  TRANSPORTS,
  Watching,
} from '../subscriptions/support/subscriptions';
import { WireClient } from '../subscriptions/support/wire-client';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { describeSqlite, type Harness } from '../support/harness';
import { until } from '../support/latch';
import { openStream, subscriptionQuery } from './support/readers';
import { Created } from './support/transactions';

const PAYLOAD = { query: subscriptionQuery(), variables: { channel: CHANNEL } };

describeSqlite('A subscription that waits for changes', (harnesses) => {
  /** Creates payments until the subscription receives one. */
  const connected = (harness: Harness, watching: Watching): Promise<unknown> =>
    until(async () => {
      await Created.by(harness, 'payment');
      return watching.values.length > 0 || watching.errors;
    });

  test.each(TRANSPORTS)('over %s frees its quota when the client leaves', async (_name, connect) => {
    const harness = await harnesses.start({ env: { MAX_SUBSCRIPTIONS_PER_CLIENT: '1' } });
    const client = connect(harness);
    const first = new Watching(client, PAYLOAD, 'changes');
    await connected(harness, first);
    const second = new Watching(eventStreamClient(harness), PAYLOAD, 'changes');
    await second.ended();
    expect(second.codes).toEqual(['RATE_LIMITED']);
    first.leave();
    await until(async () => {
      const next = new Watching(eventStreamClient(harness), PAYLOAD, 'changes');
      await connected(harness, next);
      next.leave();
      return next.errors === undefined;
    });
  });

  test('ends at shutdown, so that clients reconnect', async () => {
    const harness = await harnesses.start();
    const watching = new Watching(webSocketClient(harness), PAYLOAD, 'changes');
    const wire = await WireClient.ready(harness.url, AUTHORIZED);
    wire.subscribe('a', PAYLOAD);
    const stream = await openStream({ url: harness.url });
    await connected(harness, watching);
    await until(() => wire.messages.some(({ type }) => type === 'next') && !stream.isQuiet);
    await harness.close();
    expect((await wire.closed).code).toBe(1001);
    expect(wire.messages.map(({ type }) => type)).not.toContain('complete');
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).not.toContain('complete');
  });
});
