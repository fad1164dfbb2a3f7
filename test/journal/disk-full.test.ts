import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Begun, Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { openJournal } from '../../src/datasources/journal/open';
import { AdvancingClock } from '../../src/sandbox/clock';
import { systemClock } from '../../src/clock';
import { until } from '../exactly-once/support/gate';
import { scrape } from '../metrics/support/scrape';
import { testGateway } from '../support/gateway';
import { PATIENT_MS } from '../support/patience';
import { begunAs, newAttempt, newPayout } from './support/samples';
import { UNAVAILABLE } from './support/unavailable';

const folder = mkdtempSync(path.join(tmpdir(), 'small-disk-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
const noDisk = mounted.status !== 0;

afterAll(() => {
  if (!noDisk) spawnSync('umount', ['--lazy', folder]);
  rmdirSync(folder);
});

const filler = path.join(folder, 'filler');

/** Takes all the room that is left. */
function fillDisk(): void {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** Begins attempts until one is refused. */
async function beginUntilRefused(journal: Journal): Promise<{ begun: NewAttempt[]; refused: NewAttempt[] }> {
  const begun: NewAttempt[] = [];
  for (;;) {
    const batch = Array.from({ length: 20 }, () => newPayout({ service: 'full', shown: 'x'.repeat(500) }));
    const answers = await Promise.allSettled(batch.map((attempt) => journal.begin(attempt)));
    const failures = answers.filter((answer) => answer.status === 'rejected');
    if (failures.length > 0) {
      for (const { reason } of failures) expect(reason).toMatchObject(UNAVAILABLE);
      expect(failures).toHaveLength(batch.length);
      return { begun, refused: batch };
    }
    begun.push(...batch);
  }
}

(noDisk ? describe.skip : describe)(
  noDisk ? 'a full disk (SKIPPED: no small disk can be mounted here; it needs root)' : 'a full disk',
  () => {
    test('refuses attempts, keeps none of them by half, and takes them when there is room again', async () => {
      const url = `file:${path.join(folder, 'journal.db')}`;
      const journal = await openJournal(url, PATIENT_MS);
      const before = await begunAs(journal, 'in_progress', newAttempt({ service: 'full' }));
      fillDisk();
      const { begun, refused } = await beginUntilRefused(journal);
      await expect(journal.begin(newAttempt({ shown: 'x'.repeat(50_000) }))).rejects.toMatchObject(
        UNAVAILABLE,
      );

      // Reading goes on, and shows all of what was begun and nothing of what was refused.
      const page = { service: 'full', client: 'shop', channel: 'channel-1', limit: 10_000 };
      const kept = (await journal.list(page)).map(({ id }) => id).sort();
      expect(kept).toEqual([before, ...begun].map(({ id }) => id).sort());

      rmSync(filler);
      const again = await Promise.all(refused.map((attempt) => journal.begin(attempt)));
      expect(again).toEqual(refused.map((): Begun => ({ kind: 'started' })));
      await journal.settle(before.id, { outcome: 'rejected', settledAt: 1 });
      await journal.close();

      const reopened = await openJournal(url, PATIENT_MS);
      await expect(reopened.list(page)).resolves.toHaveLength(kept.length + refused.length);
      await expect(reopened.find(before)).resolves.toMatchObject({ outcome: 'rejected' });
      await reopened.close();
    });

    test('makes a gateway unready and its log say why, until there is room again', async () => {
      const clock = new AdvancingClock(systemClock);
      const logLines: string[] = [];
      const env = { DATABASE_URL: `file:${path.join(folder, 'gateway.db')}` };
      const { gateway } = await testGateway('http://127.0.0.1:1/', { env, clock, logLines });
      const said = (event: string): Record<string, unknown>[] =>
        logLines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .filter((line) => line['event'] === event);
      const readiness = async () => {
        clock.advance(5_000);
        const response = await fetch(`${gateway.url}/readyz`);
        return { code: response.status, ...((await response.json()) as { checks: object }) };
      };
      await until(readiness, ({ code }) => code === 200);

      fillDisk();
      const full = await until(readiness, ({ code }) => code === 503);
      expect(full.checks).toMatchObject({ journal: 'down', journalReason: 'disk_full' });
      expect((await scrape(gateway.url)).sum('paygraph_journal_up')).toBe(0);
      expect(
        (await scrape(gateway.url)).sum('paygraph_journal_failures_total', { reason: 'disk_full' }),
      ).toBeGreaterThan(0);
      const facts = { reason: 'disk_full', code: expect.stringMatching(/^(SQLITE_FULL|ENOSPC)$/) as string };
      expect(said('journal_unavailable')).toEqual([expect.objectContaining(facts)]);
      // Five seconds each time: it is said again after a minute.
      for (let time = 0; time < 11; time += 1) await until(readiness, ({ code }) => code === 503);
      await until(readiness, () => said('journal_unavailable').length === 2);

      rmSync(filler);
      await until(readiness, ({ code }) => code === 200);
      expect((await scrape(gateway.url)).sum('paygraph_journal_up')).toBe(1);
      expect(said('journal_available')).toEqual([expect.objectContaining({ reason: 'disk_full' })]);
      await gateway.close();
    });

    test('and one that is mounted read-only is named when the gateway starts', async () => {
      expect(spawnSync('mount', ['-o', 'remount,ro', folder]).status).toBe(0);
      const opened = openJournal(`file:${path.join(folder, 'journal.db')}`);
      const error = await opened.catch((fault: Error) => fault);
      spawnSync('mount', ['-o', 'remount,rw', folder]);
      expect(error).toMatchObject({ name: 'JournalOpenError' });
      expect((error as Error).message).toContain(folder);
      expect((error as Error).message).toContain('EROFS');
    });
  },
);
