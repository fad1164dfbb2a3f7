import { randomUUID } from 'node:crypto';
import type { Creator, NewAttempt, TransactionRef } from '../../src/datasources/journal/journal';
import { begunAs, newAttempt } from './support/samples';
import { inBothStores, inPostgres, inSqlite, type Room } from './support/stores';

inBothStores((room) => {
  /** A creator and a channel that no other test uses. */
  const someone = (): Creator & { channel: string } => ({
    service: randomUUID(),
    client: 'user-1',
    kind: 'payment',
    channel: 'channel-1',
  });

  /** A payment that this client has created. */
  async function created(by: Partial<NewAttempt>): Promise<NewAttempt & { transactionId: string }> {
    const transactionId = randomUUID();
    const attempt = await begunAs(room.journal, 'succeeded', newAttempt(by), { transactionId });
    return { ...attempt, transactionId };
  }

  const idsFound = async (creator: Creator, refs: TransactionRef[]): Promise<(string | null)[]> =>
    (await room.journal.findCreated(creator, refs)).map((attempt) => attempt?.id ?? null);

  describe('findCreated', () => {
    test('finds what the client created, by transaction id, by external id and by both', async () => {
      const own = someone();
      const { id, channel, transactionId, externalId } = await created(own);
      const refs = [
        { channel, transactionId },
        { channel, externalId },
        { channel, transactionId, externalId },
      ];
      await expect(idsFound(own, refs)).resolves.toEqual([id, id, id]);
    });

    test('answers in the order asked, the same attempt at two places, and null where there is none', async () => {
      const own = someone();
      const { channel } = own;
      const [a, b] = [await created(own), await created(own)];
      const refs = [
        { channel, transactionId: b.transactionId },
        { channel, transactionId: randomUUID() },
        { channel, externalId: a.externalId },
        { channel, externalId: randomUUID() },
        { channel, transactionId: b.transactionId },
      ];
      await expect(idsFound(own, refs)).resolves.toEqual([b.id, null, a.id, null, b.id]);
      await expect(idsFound(own, [])).resolves.toEqual([]);
    });

    test.each(['service', 'client', 'kind', 'channel'] as const)(
      'does not find what differs in its %s',
      async (name) => {
        const own = someone();
        const { channel, transactionId, externalId } = await created(own);
        const refs = [{ transactionId }, { externalId }, { transactionId, externalId }];
        const other = { ...own, [name]: name === 'kind' ? 'payout' : 'another' } as typeof own;
        const where = name === 'channel' ? other.channel : channel;
        await expect(
          idsFound(
            other,
            refs.map((ref) => ({ ...ref, channel: where })),
          ),
        ).resolves.toEqual([null, null, null]);
      },
    );

    test('does not find a transaction id together with the external id of another payment', async () => {
      const own = someone();
      const [a, b] = [await created(own), await created(own)];
      const mixed = { channel: own.channel, transactionId: a.transactionId, externalId: b.externalId };
      await expect(idsFound(own, [mixed])).resolves.toEqual([null]);
    });

    test('finds of one external id the newest attempt that succeeded or is unknown, of this client alone', async () => {
      const own = someone();
      const externalId = randomUUID();
      const byOrder = [{ channel: own.channel, externalId }];
      const older = await created({ ...own, externalId });
      const newer = await created({ ...own, externalId });
      expect(newer.id).not.toBe(older.id);
      await created({ ...own, externalId, client: 'user-2' });
      for (const outcome of ['rejected', 'not_sent', 'in_progress'] as const)
        await begunAs(room.journal, outcome, newAttempt({ ...own, externalId }));
      await expect(idsFound(own, byOrder)).resolves.toEqual([newer.id]);
      const unknown = await begunAs(room.journal, 'unknown', newAttempt({ ...own, externalId }));
      await expect(room.journal.findCreated(own, byOrder)).resolves.toMatchObject([
        { id: unknown.id, transactionId: null },
      ]);
    });

    test('takes external ids as they are: case, accents in either form, quotes and emoji', async () => {
      const own = someone();
      const { channel } = own;
      const written = ['Order-1', 'order-1', 'caf\u00e9', 'cafe\u0301', `'";--\\`, '💳', '%', '_'];
      const ids = [];
      for (const externalId of written) ids.push((await created({ ...own, externalId })).id);
      const refs = [...written, 'ORDER-1', 'cafe', '*'].map((externalId) => ({ channel, externalId }));
      await expect(idsFound(own, refs)).resolves.toEqual([...ids, null, null, null]);
    });
  });
});

/** The definitions of the indexes that findCreated reads by. */
async function expectClientInIndexes(room: Room, definitions: string): Promise<void> {
  const rows = await room.place.rows(
    `${definitions} IN ('attempts_by_transaction', 'attempts_by_external_id')`,
  );
  expect(rows).toHaveLength(2);
  for (const { definition } of rows) expect(definition).toMatch(/\(.*\bclient\b.*\)/);
}

const TITLE = 'the indexes of findCreated hold the client, so that no row of another client is read';

inSqlite((room) => {
  test(TITLE, () => expectClientInIndexes(room, 'SELECT sql AS definition FROM sqlite_master WHERE name'));
});

inPostgres((room) => {
  test(TITLE, () =>
    expectClientInIndexes(room, 'SELECT indexdef AS definition FROM pg_indexes WHERE indexname'),
  );
});
