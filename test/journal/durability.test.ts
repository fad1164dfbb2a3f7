import { readFileSync } from 'node:fs';
import { ENDED, begunAs, newAttempt, newConfirm, SETTLED, tally } from './support/samples';
import { inBothStores, inPostgres, inSqlite } from './support/stores';

const fresh = (count: number, service = newAttempt().service) =>
  Array.from({ length: count }, () => newAttempt({ service }));

const CLOSED = { name: 'JournalUnavailable' };

inBothStores((room) => {
  test.each([1, 7, 60])(
    'attempts that were begun survive the death of the process after %i of them',
    async (count) => {
      const other = await room.process();
      await other.beginUntil(count, fresh(5_000));
      await other.kill();
      const found = await room.place.rows(`SELECT id FROM attempts WHERE outcome = 'in_progress'`);
      const kept = new Set(found.map(({ id }) => id));
      expect(other.begun.length).toBeGreaterThanOrEqual(count);
      expect(other.begun.filter((id) => !kept.has(id))).toEqual([]);
      // Those who are left go on.
      await begunAs(room.journal, 'succeeded', newAttempt());
    },
  );

  test('what was asked of a journal before it was closed is done', async () => {
    const journal = await room.another();
    const settled = await begunAs(journal, 'in_progress', newAttempt());
    const confirms = Array.from({ length: 40 }, () => newConfirm());
    await Promise.all(confirms.map((confirm) => journal.beginConfirm(confirm)));
    const attempts = fresh(1_000);
    const begins = attempts.map((attempt) => journal.begin(attempt));
    const others = [
      journal.settle(settled.id, SETTLED.succeeded),
      ...confirms.map(({ id }) => journal.endConfirm(id, ENDED.known)),
    ];
    await journal.close();
    expect(tally(await Promise.all(begins))).toEqual({ started: 1_000 });
    await Promise.all(others);
    const service = attempts[0]!.service;
    const [{ count } = {}] = await room.place.rows(
      `SELECT count(*) AS count FROM attempts WHERE service = '${service}'`,
    );
    expect(Number(count)).toBe(1_000);
    await expect(room.journal.find(settled)).resolves.toMatchObject({ outcome: 'succeeded' });
    const next = confirms.map((confirm) => room.journal.beginConfirm({ ...confirm, id: newConfirm().id }));
    await expect(Promise.all(next)).resolves.toEqual(
      confirms.map(() => ({ suspect: false, suspectHashes: [] })),
    );
  });

  test('more questions than there are connections are answered before a journal closes', async () => {
    const journal = await room.another();
    await journal.ping();
    const asked = Array.from({ length: 60 }, () => journal.beginConfirm(newConfirm()));
    await journal.close();
    await expect(Promise.all(asked)).resolves.toEqual(
      asked.map(() => ({ suspect: false, suspectHashes: [] })),
    );
  });

  test('a process that closes its journal and has nothing else to do ends when all is written', async () => {
    const other = await room.process();
    const attempts = fresh(300);
    await other.beginAndClose(attempts);
    const { service, client, channel } = attempts[0]!;
    const page = { service, client, channel, limit: 1_000 };
    await expect(room.journal.list(page)).resolves.toHaveLength(300);
  });

  test('a closed journal refuses everything, and can be closed again', async () => {
    const journal = await room.another();
    await Promise.all([journal.close(), journal.close()]);
    await journal.close();
    await expect(journal.begin(newAttempt())).rejects.toMatchObject(CLOSED);
    await expect(journal.settle('id', SETTLED.rejected)).rejects.toMatchObject(CLOSED);
    await expect(journal.find(newAttempt())).rejects.toMatchObject(CLOSED);
    await expect(journal.ping()).rejects.toMatchObject(CLOSED);
  });
});

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** How many transactions the write-ahead log of a SQLite file holds: the last frame of each says the size of the file. */
function transactionsIn(wal: Buffer): number {
  const frame = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let count = 0;
  for (let at = HEADER_BYTES; at + frame <= wal.length; at += frame) {
    const current = wal.subarray(at + 8, at + 16).equals(salt);
    if (current && wal.readUInt32BE(at + 4) > 0) count += 1;
  }
  return count;
}

describe('500 attempts at once share the work of syncing', () => {
  inSqlite((room) => {
    test('in at most 5 transactions', async () => {
      const wal = (): Buffer => readFileSync(`${room.place.url.slice('file:'.length)}-wal`);
      const before = transactionsIn(wal());
      await Promise.all(fresh(500).map((attempt) => room.journal.begin(attempt)));
      const taken = transactionsIn(wal()) - before;
      expect(taken).toBeGreaterThan(0);
      expect(taken).toBeLessThanOrEqual(5);
    });
  });

  inPostgres((room) => {
    test('in at most 5 transactions', async () => {
      const attempts = fresh(500);
      await Promise.all(attempts.map((attempt) => room.journal.begin(attempt)));
      const { service } = attempts[0]!;
      const [row] = await room.place.rows(
        `SELECT count(*) AS attempts, count(DISTINCT xmin::text) AS transactions FROM attempts WHERE service = '${service}'`,
      );
      expect(Number(row?.['attempts'])).toBe(500);
      expect(Number(row?.['transactions'])).toBeLessThanOrEqual(5);
    });
  });
});
