import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Begun, Journal, NewAttempt } from '../../src/datasources/journal/journal';
import { openJournal } from '../../src/datasources/journal/open';
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
  },
);
