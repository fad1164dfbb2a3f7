import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, type Json } from '../support/caller';
import { describeStores, type Harness } from '../support/harness';
import { READERS } from './support/readers';
import { readPage, type ReaderOptions, type SeenChange } from './support/requests';
import { Created } from './support/transactions';

const FINAL = ['completed', 'failed'];

const idOf = ({ transactionId, status }: SeenChange): string => `${transactionId} ${status}`;

describeStores('The record of changes', (harnesses) => {
  let harness: Harness;
  /** The gateway from which changes are read. On PostgreSQL, another gateway creates and looks up. */
  let read: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
    const { service } = harness;
    read = harnesses.kind === 'PostgreSQL' ? await harnesses.start({ service }) : harness;
  });

  /** Creates payments and payouts, and moves each through some statuses. Returns the number of changes. */
  async function traffic(count: number): Promise<number> {
    const moved = Array.from({ length: count }, async (_, place) => {
      const created = await Created.by(harness, place % 3 === 0 ? 'payout' : 'payment');
      if (created.kind === 'payment') await created.move('mispaid');
      await created.move(FINAL[place % 2] ?? '');
      return created.kind === 'payment' ? 3 : 2;
    });
    return (await Promise.all(moved)).reduce((sum, changes) => sum + changes, 0);
  }

  const options = (after?: string): ReaderOptions => ({ url: read.url, after });

  /** Returns all changes after a cursor, once there are `count`. */
  const wholeRecord = (count: number, after?: string): Promise<SeenChange[]> =>
    READERS[0]![1](options(after)).received(count);

  async function newest(): Promise<string> {
    const { page } = await readPage(options(), 500);
    expect(page?.hasMore).toBe(false);
    return page?.endCursor ?? '';
  }

  describe.each(READERS)('A reader by %s', (_name, open) => {
    test('gets every change once and in order, while payments move', async () => {
      const start = await newest();
      const reader = open(options(start));
      const count = await traffic(8);
      const seen = await reader.received(count);
      reader.stop();
      expect(seen).toEqual(await wholeRecord(count, start));
      expect(new Set(seen.map(idOf)).size).toBe(count);
      const byTransaction = Object.values(Object.groupBy(seen, ({ transactionId }) => transactionId));
      for (const changes of byTransaction as SeenChange[][])
        expect(changes.map(({ previousStatus }) => previousStatus)).toEqual([
          null,
          ...changes.slice(0, -1).map(({ status }) => status),
        ]);
    });

    test('continues after any cursor, and then gets new changes', async () => {
      const start = await newest();
      const count = await traffic(3);
      const all = await wholeRecord(count, start);
      for (const place of [0, Math.floor(count / 2), count - 1]) {
        const reader = open(options(all[place]?.cursor));
        const isLater = (change: SeenChange): boolean => all.indexOf(change) > place;
        expect(await reader.received(all.filter(isLater).length)).toEqual(all.filter(isLater));
        const { transactionId } = await Created.by(harness, 'payment');
        all.push(...(await wholeRecord(1, all.at(-1)?.cursor)));
        expect(all.at(-1)).toMatchObject({ transactionId, previousStatus: null });
        expect(await reader.received(all.filter(isLater).length)).toEqual(all.filter(isLater));
        reader.stop();
      }
    });
  });

  test('A change has the ids, amount and method of its transaction', async () => {
    const start = await newest();
    const payment = await Created.by(harness, 'payment');
    const payout = await Created.by(harness, 'payout');
    await payment.move('mispaid');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;
    const first = (created: Created, more: Json): Json => ({
      channel: CHANNEL,
      transactionId: created.transactionId,
      cursor: expect.any(String) as unknown,
      externalId: expect.stringMatching(/^order /) as unknown,
      recordedAt: time,
      previousStatus: null,
      status: 'PROCESSING',
      amount: { currency: 'INR', value: '10.00', received: null },
      ...more,
    });
    expect(await wholeRecord(3, start)).toEqual([
      first(payment, { __typename: 'PaymentChange', method: 'UPI', state: 'WAITING_FOR_UTR' }),
      first(payout, { __typename: 'PayoutChange', method: 'IMPS' }),
      expect.objectContaining({ previousStatus: 'PROCESSING', status: 'MISPAID' }),
    ]);
  });

  test('An empty page returns the given cursor, from which a reader continues', async () => {
    const start = await newest();
    const { page } = await readPage(options(start));
    expect(page).toEqual({ changes: [], endCursor: start, hasMore: false });
    await Created.by(harness, 'payment');
    expect(await wholeRecord(1, start)).toHaveLength(1);
  });

  test('Pages of any size contain the same changes', async () => {
    const start = await newest();
    const count = await traffic(4);
    const all = await wholeRecord(count, start);
    for (const first of [1, 4, 500]) {
      const seen: SeenChange[] = [];
      for (let after = start, more = true; more;) {
        const { page } = await readPage({ ...options(after), credentials: AUTHORIZED }, first);
        seen.push(...(page?.changes ?? []));
        expect(page?.endCursor).toBe(seen.at(-1)?.cursor);
        after = page?.endCursor ?? '';
        more = page?.hasMore ?? false;
      }
      expect(seen).toEqual(all);
    }
  });
});
