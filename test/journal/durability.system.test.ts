import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { until } from '../support/latch';
import { describeSmallDisk } from '../support/small-disk';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import {
  describeJournals,
  describePostgresJournal,
  describeSqliteJournal,
  startChild,
} from './support/fixture';
import { ENDED, begunAs, newAttempt, newConfirm, newPayout, OUTCOMES, tally } from './support/samples';
import { EVERYTHING, reasonOf, UNAVAILABLE, WRITES } from './support/unavailable';

const fresh = (count: number, service = newAttempt().service) =>
  Array.from({ length: count }, () => newAttempt({ service }));

describeJournals('A journal', (fixture) => {
  test('keeps recorded attempts when the process is killed', async () => {
    const child = await startChild(fixture.store.url);
    const ending = child.call('beginOneByOne', fresh(6_000));
    await until(() => child.events.length >= 60);
    await child.kill();
    await expect(ending).rejects.toThrow();
    const found = await fixture.store.rows(`SELECT id FROM attempts WHERE outcome = 'in_progress'`);
    const kept = new Set(found.map(({ id }) => id));
    expect(child.events.filter((id) => !kept.has(id))).toEqual([]);
    await begunAs(fixture.journal, 'succeeded', newAttempt());
  });

  test('completes its writes when it is closed', async () => {
    const journal = await fixture.open();
    const settled = await begunAs(journal, 'in_progress', newAttempt());
    const confirm = newConfirm();
    await journal.beginConfirm(confirm);
    const attempts = fresh(1_000);
    const begins = attempts.map((attempt) => journal.insertAttempt(attempt));
    const others = [
      journal.recordOutcome(settled.id, OUTCOMES.succeeded),
      journal.endConfirm(confirm.confirmId, ENDED.known),
    ];
    await journal.close();
    expect(tally(await Promise.all(begins))).toEqual({ started: 1_000 });
    await Promise.all(others);
    const { service } = attempts[0]!;
    const kept = await fixture.store.rows(`SELECT 1 FROM attempts WHERE service = '${service}'`);
    expect(kept).toHaveLength(1_000);
    await expect(fixture.journal.find(settled)).resolves.toMatchObject({ outcome: 'succeeded' });
    const next = fixture.journal.beginConfirm({ ...confirm, confirmId: newConfirm().confirmId });
    await expect(next).resolves.toMatchObject({ isEarlierOutcomeUnknown: false });
  });

  test('refuses every call after it was closed, and can be closed again', async () => {
    const journal = await fixture.open();
    await Promise.all([journal.close(), journal.close()]);
    await journal.close();
    for (const call of EVERYTHING) await expect(call(journal)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describeSqliteJournal('Group commit', (fixture) => {
  test('writes fewer than 500 database pages for 500 concurrent attempts', async () => {
    const walBytes = (): number => statSync(`${fixture.store.url.slice('file:'.length)}-wal`).size;
    const before = walBytes();
    await Promise.all(fresh(500).map((attempt) => fixture.journal.insertAttempt(attempt)));
    // A transaction for each attempt would write a page of 4 KB of the table and of each of its indexes.
    expect(walBytes() - before).toBeLessThan(500 * 4096);
  });
});

describePostgresJournal('Group commit', (fixture) => {
  test('writes 500 concurrent attempts in at most 5 database transactions', async () => {
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

describeSmallDisk('A disk', '1m', (disk) => {
  test('that is full makes the journal refuse new attempts until there is space again', async () => {
    const url = `file:${path.join(disk.folder, 'journal.db')}`;
    const journal = await openJournal(url, JOURNAL_TIMEOUT_MS);
    const before = await begunAs(journal, 'in_progress', newAttempt({ service: 'full' }));
    disk.fill();
    const refused = Array.from({ length: 20 }, () =>
      newPayout({ service: 'full', publicDetails: 'x'.repeat(3_000) }),
    );
    const results = await Promise.allSettled(refused.map((attempt) => journal.insertAttempt(attempt)));
    expect(results).toMatchObject(refused.map(() => ({ reason: UNAVAILABLE })));
    for (const write of [WRITES['begin']!, WRITES['checkWrite']!])
      await expect(reasonOf(write(journal))).resolves.toBe('disk_full');

    // Reads still work.
    const page = { service: 'full', client: 'shop', channel: 'channel-1', limit: 100 };
    await expect(journal.list(page)).resolves.toMatchObject([{ id: before.id }]);

    rmSync(disk.filler);
    const again = await Promise.all(refused.map((attempt) => journal.insertAttempt(attempt)));
    expect(tally(again)).toEqual({ started: refused.length });
    await journal.recordOutcome(before.id, { outcome: 'rejected', settledAt: 1 });
    await journal.close();

    const reopened = await openJournal(url, JOURNAL_TIMEOUT_MS);
    await expect(reopened.list(page)).resolves.toHaveLength(1 + refused.length);
    await expect(reopened.find(before)).resolves.toMatchObject({ outcome: 'rejected' });
    await reopened.close();
  });

  test('that is read-only makes opening the journal fail with an error that names the folder and EROFS', async () => {
    disk.remount('ro');
    const opened = openJournal(`file:${path.join(disk.folder, 'journal.db')}`);
    const error = await opened.catch((fault: Error) => fault);
    disk.remount('rw');
    expect(error).toMatchObject({ name: 'JournalOpenError' });
    for (const text of [disk.folder, 'EROFS']) expect((error as Error).message).toContain(text);
  });
});
