import type { ChangeJournal, ChangeRange, ReadChanges } from '../datasources/journal/changes';
import { sleep } from '../shared/timeout';

/** Maximum wait in ms for changes that cannot be read yet because an earlier database transaction is in progress. */
const MAX_CATCH_UP_MS = 2000;
const READ_INTERVAL_MS = 100;

/**
 * Yields the pages of a range of changes up to its end. Waits up to MAX_CATCH_UP_MS for changes that cannot be read
 * yet; the last page has `isBehind` if some changes still cannot be read.
 * @param nextPageLimit returns the maximum number of changes in the next page
 */
export async function* changePages(
  journal: Pick<ChangeJournal, 'readChanges'>,
  range: Omit<ChangeRange, 'limit'>,
  nextPageLimit: () => number,
): AsyncGenerator<ReadChanges, void> {
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
