import { rmSync } from 'node:fs';
import path from 'node:path';
import type { BeginResult, Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { openJournal } from '../../src/datasources/journal/create-journal';
import { AdvancingClock } from '../../src/sandbox/clock';
import { systemClock } from '../../src/shared/clock';
import { until } from '../support/latch';
import { scrape } from '../metrics/support/scrape';
import { testGateway } from '../support/gateway';
import { JOURNAL_TIMEOUT_MS } from '../support/timeouts';
import { describeSmallDisk } from '../support/small-disk';
import { begunAs, newAttempt, newPayout } from './support/samples';
import { UNAVAILABLE } from './support/unavailable';

async function beginUntilRefused(
  journal: Journal,
): Promise<{ started: NewAttempt[]; refused: NewAttempt[] }> {
  const started: NewAttempt[] = [];
  for (;;) {
    const batch = Array.from({ length: 20 }, () =>
      newPayout({ service: 'full', publicDetails: 'x'.repeat(500) }),
    );
    const responses = await Promise.allSettled(batch.map((attempt) => journal.insertAttempt(attempt)));
    const failures = responses.filter((response) => response.status === 'rejected');
    if (failures.length > 0) {
      for (const { reason } of failures) expect(reason).toMatchObject(UNAVAILABLE);
      expect(failures).toHaveLength(batch.length);
      return { started, refused: batch };
    }
    started.push(...batch);
  }
}

describeSmallDisk('A disk', '1m', (disk) => {
  test('that is full makes the journal refuse whole attempts, and accept them again when there is space', async () => {
    const url = `file:${path.join(disk.folder, 'journal.db')}`;
    const journal = await openJournal(url, JOURNAL_TIMEOUT_MS);
    const before = await begunAs(journal, 'in_progress', newAttempt({ service: 'full' }));
    disk.fill();
    const { started, refused } = await beginUntilRefused(journal);
    await expect(
      journal.insertAttempt(newAttempt({ publicDetails: 'x'.repeat(50_000) })),
    ).rejects.toMatchObject(UNAVAILABLE);

    // Reads still work, and show exactly the accepted attempts.
    const page = { service: 'full', client: 'shop', channel: 'channel-1', limit: 10_000 };
    const kept = (await journal.list(page)).map(({ id }) => id).sort();
    expect(kept).toEqual([before, ...started].map(({ id }) => id).sort());

    rmSync(disk.filler);
    const again = await Promise.all(refused.map((attempt) => journal.insertAttempt(attempt)));
    expect(again).toEqual(refused.map((): BeginResult => ({ kind: 'started' })));
    await journal.recordOutcome(before.id, { outcome: 'rejected', settledAt: 1 });
    await journal.close();

    const reopened = await openJournal(url, JOURNAL_TIMEOUT_MS);
    await expect(reopened.list(page)).resolves.toHaveLength(kept.length + refused.length);
    await expect(reopened.find(before)).resolves.toMatchObject({ outcome: 'rejected' });
    await reopened.close();
  });

  test('that is full makes the gateway unready, with the reason in its log and metrics, until there is space', async () => {
    const clock = new AdvancingClock(systemClock);
    const logLines: string[] = [];
    const env = { DATABASE_URL: `file:${path.join(disk.folder, 'gateway.db')}` };
    const { gateway } = await testGateway('http://127.0.0.1:1/', { env, clock, logLines });
    const logged = (event: string): unknown[] =>
      logLines
        .map((line) => JSON.parse(line) as object)
        .filter((line) => 'event' in line && line.event === event);
    const readiness = async () => {
      clock.advance(5_000);
      const response = await fetch(`${gateway.url}/readyz`);
      return { code: response.status, ...((await response.json()) as { checks: object }) };
    };
    await until(readiness, ({ code }) => code === 200);

    disk.fill();
    const full = await until(readiness, ({ code }) => code === 503);
    expect(full.checks).toMatchObject({ journal: 'down', journalReason: 'disk_full' });
    const metrics = await scrape(gateway.url);
    expect(metrics.sum('paygraph_journal_up')).toBe(0);
    expect(metrics.sum('paygraph_journal_failures_total', { reason: 'disk_full' })).toBeGreaterThan(0);
    const facts = { reason: 'disk_full', code: expect.stringMatching(/^(SQLITE_FULL|ENOSPC)$/) as string };
    expect(logged('journal_unavailable')).toEqual([expect.objectContaining(facts)]);
    rmSync(disk.filler);
    await until(readiness, ({ code }) => code === 200);
    expect((await scrape(gateway.url)).sum('paygraph_journal_up')).toBe(1);
    expect(logged('journal_available')).toEqual([expect.objectContaining({ reason: 'disk_full' })]);
    await gateway.close();
  });

  test('that is read-only makes opening the journal fail with a JournalOpenError that names the folder and EROFS', async () => {
    disk.remount('ro');
    const opened = openJournal(`file:${path.join(disk.folder, 'journal.db')}`);
    const error = await opened.catch((fault: Error) => fault);
    disk.remount('rw');
    expect(error).toMatchObject({ name: 'JournalOpenError' });
    expect((error as Error).message).toContain(disk.folder);
    expect((error as Error).message).toContain('EROFS');
  });
});
