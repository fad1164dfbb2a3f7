import type { ChangeJournal, ChangeRange, ChangeBatch } from '../datasources/journal/changes';
import { sleep } from '../shared/timeout';

/** Maximum time in ms to wait for an open database transaction that keeps later changes from being read. */
const MAX_CATCH_UP_MS = 2000;
const READ_INTERVAL_MS = 100;

/**
 * Reads the changes after `range.after`, oldest first, and yields them in pages until no change is left. Waits at most
 * MAX_CATCH_UP_MS for committed changes that are not readable yet. If some are still not readable then, `isBehind` of
 * the last page is true. Throws PositionExpired if changes after `range.after` were deleted.
 * @param nextPageLimit returns the maximum number of changes in the next page
 */
export async function* changePages(
  journal: Pick<ChangeJournal, 'readChanges'>,
  range: Omit<ChangeRange, 'limit'>,
  nextPageLimit: () => number,
): AsyncGenerator<ChangeBatch, void> {
  let { after } = range;
  let deadline: number | undefined;
  for (;;) {
    const page = await journal.readChanges({ ...range, after, limit: nextPageLimit() });
    after = page.readUntil;
    yield page;
    if (page.hasMore) continue;
    deadline ??= performance.now() + MAX_CATCH_UP_MS;
    if (!page.isBehind || performance.now() > deadline) return;
    await sleep(READ_INTERVAL_MS);
  }
}
