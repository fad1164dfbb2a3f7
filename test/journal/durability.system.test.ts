import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openJournal } from '../../src/datasources/journal/create-journal';
import type { Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { until } from '../support/latch';
import { describeSmallDisk } from '../support/small-disk';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeJournals, describePostgresJournal, describeSqliteJournal } from './support/fixture';
import { ENDED, begunAs, newAttempt, newConfirm, newPayout, OUTCOMES, tally } from './support/samples';
import { EVERYTHING, reasonOf, UNAVAILABLE, WRITES } from './support/unavailable';

const fresh = (count: number, service = newAttempt().service) =>
  Array.from({ length: count }, () => newAttempt({ service }));

describeJournals('A journal', (fixture) => {
  test('keeps recorded attempts when the process is killed', async () => {
    const child = await fixture.startChild();
    const ending = child.call('beginOneByOne', fresh(2_000));
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
      journal.endConfirm(confirm.id, ENDED.known),
    ];
    await journal.close();
    expect(tally(await Promise.all(begins))).toEqual({ started: 1_000 });
    await Promise.all(others);
    const { service } = attempts[0]!;
    const kept = await fixture.store.rows(`SELECT 1 FROM attempts WHERE service = '${service}'`);
    expect(kept).toHaveLength(1_000);
    await expect(fixture.journal.find(settled)).resolves.toMatchObject({ outcome: 'succeeded' });
    const next = fixture.journal.beginConfirm({ ...confirm, id: newConfirm().id });
    await expect(next).resolves.toMatchObject({ previousOutcomeUnknown: false });
  });

  test('refuses everything once it is closed, and can be closed again', async () => {
    const journal = await fixture.open();
    await Promise.all([journal.close(), journal.close()]);
    await journal.close();
    for (const call of EVERYTHING) await expect(call(journal)).rejects.toMatchObject(UNAVAILABLE);
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

async function beginUntilRefused(
  journal: Journal,
): Promise<{ started: NewAttempt[]; refused: NewAttempt[] }> {
  const started: NewAttempt[] = [];
  for (;;) {
    const given = { service: 'full', publicDetails: 'x'.repeat(500) };
    const batch = Array.from({ length: 20 }, () => newPayout(given));
    const responses = await Promise.allSettled(batch.map((attempt) => journal.insertAttempt(attempt)));
    if (responses.some(({ status }) => status === 'rejected')) {
      expect(responses).toMatchObject(batch.map(() => ({ reason: UNAVAILABLE })));
      return { started, refused: batch };
    }
    started.push(...batch);
  }
}

describeSmallDisk('A disk', '1m', (disk) => {
  test('that is full makes the journal refuse new attempts and store nothing of them, until there is space again', async () => {
    const url = `file:${path.join(disk.folder, 'journal.db')}`;
    const journal = await openJournal(url, JOURNAL_TIMEOUT_MS);
    const before = await begunAs(journal, 'in_progress', newAttempt({ service: 'full' }));
    disk.fill();
    const { started, refused } = await beginUntilRefused(journal);
    for (const write of [WRITES['begin']!, WRITES['checkWrite']!])
      await expect(reasonOf(write(journal))).resolves.toBe('disk_full');

    // Reads still work, and show exactly the accepted attempts.
    const page = { service: 'full', client: 'shop', channel: 'channel-1', limit: 10_000 };
    const kept = (await journal.list(page)).map(({ id }) => id).sort();
    expect(kept).toEqual([before, ...started].map(({ id }) => id).sort());

    rmSync(disk.filler);
    const again = await Promise.all(refused.map((attempt) => journal.insertAttempt(attempt)));
    expect(tally(again)).toEqual({ started: refused.length });
    await journal.recordOutcome(before.id, { outcome: 'rejected', settledAt: 1 });
    await journal.close();

    const reopened = await openJournal(url, JOURNAL_TIMEOUT_MS);
    await expect(reopened.list(page)).resolves.toHaveLength(kept.length + refused.length);
    await expect(reopened.find(before)).resolves.toMatchObject({ outcome: 'rejected' });
    await reopened.close();
  });

  test('that is read-only makes opening the journal fail with a JournalOpenError that names the folder and EROFS', async () => {
    disk.remount('ro');
    const opened = openJournal(`file:${path.join(disk.folder, 'journal.db')}`);
    const error = await opened.catch((fault: Error) => fault);
    disk.remount('rw');
    expect(error).toMatchObject({ name: 'JournalOpenError' });
    for (const text of [disk.folder, 'EROFS']) expect((error as Error).message).toContain(text);
  });
});
