import { readFileSync } from 'node:fs';
import { until } from '../support/latch';
import { describeJournals, describePostgresJournal, describeSqliteJournal } from './support/fixture';
import { ENDED, begunAs, newAttempt, newConfirm, OUTCOMES, tally } from './support/samples';

const fresh = (count: number, service = newAttempt().service) =>
  Array.from({ length: count }, () => newAttempt({ service }));

const CLOSED = { name: 'JournalUnavailable' };

describeJournals('A journal', (fixture) => {
  test.each([1, 60])('keeps recorded attempts when the process is killed after %i of them', async (count) => {
    const child = await fixture.startChild();
    const ending = child.call('beginOneByOne', fresh(2_000));
    await until(() => child.events.length >= count);
    await child.kill();
    await expect(ending).rejects.toThrow();
    const found = await fixture.store.rows(`SELECT id FROM attempts WHERE outcome = 'in_progress'`);
    const kept = new Set(found.map(({ id }) => id));
    expect(child.events.length).toBeGreaterThanOrEqual(count);
    expect(child.events.filter((id) => !kept.has(id))).toEqual([]);
    await begunAs(fixture.journal, 'succeeded', newAttempt());
  });

  test('completes its writes when it is closed', async () => {
    const journal = await fixture.open();
    const settled = await begunAs(journal, 'in_progress', newAttempt());
    const confirms = Array.from({ length: 40 }, () => newConfirm());
    await Promise.all(confirms.map((confirm) => journal.beginConfirm(confirm)));
    const attempts = fresh(1_000);
    const begins = attempts.map((attempt) => journal.insertAttempt(attempt));
    const others = [
      journal.recordOutcome(settled.id, OUTCOMES.succeeded),
      ...confirms.map(({ id }) => journal.endConfirm(id, ENDED.known)),
    ];
    await journal.close();
    expect(tally(await Promise.all(begins))).toEqual({ started: 1_000 });
    await Promise.all(others);
    const { service } = attempts[0]!;
    const kept = await fixture.store.rows(`SELECT 1 FROM attempts WHERE service = '${service}'`);
    expect(kept).toHaveLength(1_000);
    await expect(fixture.journal.find(settled)).resolves.toMatchObject({ outcome: 'succeeded' });
    const next = confirms.map((confirm) => fixture.journal.beginConfirm({ ...confirm, id: newConfirm().id }));
    for (const started of await Promise.all(next))
      expect(started).toMatchObject({ previousOutcomeUnknown: false });
  });

  test('refuses everything once it is closed, and can be closed again', async () => {
    const journal = await fixture.open();
    await Promise.all([journal.close(), journal.close()]);
    await journal.close();
    await expect(journal.insertAttempt(newAttempt())).rejects.toMatchObject(CLOSED);
    await expect(journal.recordOutcome('id', OUTCOMES.rejected)).rejects.toMatchObject(CLOSED);
    await expect(journal.find(newAttempt())).rejects.toMatchObject(CLOSED);
    await expect(journal.ping()).rejects.toMatchObject(CLOSED);
  });
});

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Counts the transactions in a SQLite write-ahead log: the last frame of each holds the file size. */
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

describeSqliteJournal('Group commit', (fixture) => {
  test('writes 500 concurrent attempts in at most 5 transactions', async () => {
    const wal = (): Buffer => readFileSync(`${fixture.store.url.slice('file:'.length)}-wal`);
    const before = transactionsIn(wal());
    await Promise.all(fresh(500).map((attempt) => fixture.journal.insertAttempt(attempt)));
    const taken = transactionsIn(wal()) - before;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThanOrEqual(5);
  });
});

describePostgresJournal('Group commit', (fixture) => {
  test('writes 500 concurrent attempts in at most 5 transactions', async () => {
    const attempts = fresh(500);
    await Promise.all(attempts.map((attempt) => fixture.journal.insertAttempt(attempt)));
    const { service } = attempts[0]!;
    const [row] = await fixture.store.rows(
      `SELECT count(*) AS attempts, count(DISTINCT stored_attempts.xmin::text) AS transactions FROM stored_attempts
       JOIN attempt_groups ON attempt_groups.id = group_id WHERE service = '${service}'`,
    );
    expect(Number(row?.['attempts'])).toBe(500);
    expect(Number(row?.['transactions'])).toBeLessThanOrEqual(5);
  });
});
