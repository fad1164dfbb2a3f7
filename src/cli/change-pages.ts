import type { ChangeJournal, ChangeRange, ChangeBatch } from '../datasources/journal/changes';
import { sleep } from '../shared/timeout';

/**
 * Maximum time in ms to wait for the end of open database transactions. While one is open, the journal hides the
 * changes that were recorded after it began.
 */
const HIDDEN_CHANGES_TIMEOUT_MS = 2000;
const HIDDEN_CHANGES_POLL_INTERVAL_MS = 100;

/**
 * Yields the changes after `range.after` in pages, oldest first. At the end, waits up to HIDDEN_CHANGES_TIMEOUT_MS for
 * changes that an open database transaction hides. If some stay hidden, the last page has `hasUnreadableChanges: true`.
 * @param getNextPageLimit returns the maximum number of changes in the next page
 * @throws PositionExpired if changes after `range.after` were deleted
 */
export async function* readChangePages(
  journal: Pick<ChangeJournal, 'readChanges'>,
  range: Omit<ChangeRange, 'limit'>,
  getNextPageLimit: () => number,
): AsyncGenerator<ChangeBatch, void> {
  let { after } = range;
  let deadline: number | undefined;
  for (;;) {
    const page = await journal.readChanges({ ...range, after, limit: getNextPageLimit() });
    after = page.endPosition;
    yield page;
    if (page.hasMore) continue;
    deadline ??= performance.now() + HIDDEN_CHANGES_TIMEOUT_MS;
    if (!page.hasUnreadableChanges || performance.now() > deadline) return;
    await sleep(HIDDEN_CHANGES_POLL_INTERVAL_MS);
  }
}
