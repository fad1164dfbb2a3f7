import { followSettled, NOW } from './change-tables';
import type { MigrationStep, MigrationStore } from './convert-attempts';

/** Time in ms before the migration. Transactions of attempts that succeeded since then are followed. */
const RECENT_MS = 7 * 24 * 60 * 60 * 1000;
/** Time in ms before the migration that the last step reads again: outcomes can be committed out of order. */
const OVERLAP_MS = 10 * 60 * 1000;
/** Maximum number of transactions that a step follows. */
const STEP_ROWS = 10_000;

/** Settings of each step: a planner without statistics must find rows by indexes, in their order. */
const STEP_SETTINGS = {
  sqlite: [],
  postgres: ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map(
    (method) => `SET LOCAL enable_${method} = off`,
  ),
};

/**
 * Follows the transactions that were created before the record of changes existed. Gateways of the previous version can
 * use the journal meanwhile. After an interruption, the next call begins again and skips what is already followed.
 * @param complete marks the migration as applied
 */
export async function followRecent(
  { dialect, execute }: MigrationStore,
  step: MigrationStep,
  complete: () => Promise<void>,
): Promise<void> {
  const follow = async (from: number, limit: number): Promise<number[]> => {
    for (const statement of STEP_SETTINGS[dialect]) await execute(statement);
    const rows = await execute(followSettled(dialect), [from, limit]);
    return rows.map((row) => Number(row['created_at']));
  };
  const [row] = await execute(`SELECT ${NOW[dialect]} AS now`);
  const now = Number(row?.['now']);
  let from = now - RECENT_MS;
  for (let followedCount = STEP_ROWS; followedCount === STEP_ROWS;) {
    const start = from;
    const settledAt = await step(() => follow(start, STEP_ROWS));
    if (!settledAt) return;
    from = Math.max(from, ...settledAt);
    followedCount = settledAt.length;
  }
  await step(async () => {
    await follow(now - OVERLAP_MS, Number.MAX_SAFE_INTEGER);
    await complete();
  });
}
