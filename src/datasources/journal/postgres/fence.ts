import { fenceStateFromRow, type FenceState } from '../fence';
import { JournalUnavailable } from '../journal';
import { notDurableError, otherReasonError } from '../journal-error';
import type { Row } from '../rows';

/**
 * Reads the state of the journal. Rejects with JournalUnavailable if a crash could lose commits, or if the journal
 * moves to another database meanwhile.
 * @param runStatement runs RAISE_FENCE_IF_MOVED_RETURNING_STATE
 */
export async function readFenceState(runStatement: () => Promise<Row[]>): Promise<FenceState> {
  let [row = {}] = await runStatement();
  // Another instance was raising the fence, so the row is from before.
  if (row['is_current'] !== true) [row = {}] = await runStatement();
  if (row['is_current'] !== true)
    throw new JournalUnavailable(
      otherReasonError(
        'the journal moved to another database while its fence was read; the gateway tries again',
      ),
    );
  if (row['is_durable'] !== true) throw new JournalUnavailable(notDurableError());
  return fenceStateFromRow(row);
}
