import { TRANSPORTS, Watching } from '../subscriptions/support/subscriptions';
import { CHANNEL } from '../support/caller';
import { describeSqlite, type Harness } from '../support/harness';
import { until } from '../support/latch';
import { openStream, readPage, subscriptionQuery } from './support/readers';
import { Created } from './support/transactions';

const DAY_MS = 86_400_000;

describeSqlite('A cursor older than CHANGES_RETENTION_DAYS', (harnesses) => {
  let harness: Harness;
  let expired: string;
  let oldest: string;
  let kept: string;

  const newest = async (): Promise<string> => {
    const { page } = await readPage({ url: harness.url }, 500);
    return page?.changes.at(-1)?.cursor ?? '';
  };

  beforeAll(async () => {
    harness = await harnesses.start({ env: { CHANGES_RETENTION_DAYS: '2', FOLLOW_DAYS: '0' } });
    await Created.by(harness, 'payment');
    expired = await newest();
    await Created.by(harness, 'payment');
    harness.clock.advance(DAY_MS * 1.9);
    await Created.by(harness, 'payment');
    kept = await newest();
    const { errors } = await until(
      () => {
        harness.clock.advance(DAY_MS / 100);
        return readPage({ url: harness.url, after: expired });
      },
      ({ page }) => page === undefined,
    );
    oldest = String(errors?.[0]?.extensions['oldestCursor']);
  });

  const ERROR = () => ({
    extensions: {
      code: 'CURSOR_EXPIRED',
      retryable: false,
      oldestCursor: oldest,
      requestId: expect.any(String) as unknown,
    },
  });

  test('is refused by the query with the oldest cursor, from which every change is kept', async () => {
    const { page, errors } = await readPage({ url: harness.url, after: expired });
    expect([page, errors]).toMatchObject([undefined, [ERROR()]]);
    const rest = await readPage({ url: harness.url, after: oldest });
    expect(rest.page?.changes.map(({ cursor }) => cursor)).toContain(kept);
    const whole = await readPage({ url: harness.url });
    expect(rest.page?.changes).toEqual(whole.page?.changes);
  });

  test.each(TRANSPORTS)('ends a subscription over %s', async (_name, connect) => {
    const variables = { channel: CHANNEL, after: expired };
    const watching = new Watching(connect(harness), { query: subscriptionQuery(), variables }, 'changes');
    await watching.ended();
    expect(watching.errors).toMatchObject([ERROR()]);
    expect(watching.values).toEqual([]);
  });

  test.each(['GET', 'POST'] as const)('ends a stream that resumes by %s', async (method) => {
    const stream = await openStream({ url: harness.url }, { method, lastEventId: expired });
    expect(await stream.rest()).toMatchObject([
      { event: 'next', data: { errors: [ERROR()] } },
      { event: 'complete' },
    ]);
  });
});
