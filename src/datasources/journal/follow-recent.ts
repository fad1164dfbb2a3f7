import { followSettledStatement, NOW_SQL } from './change-tables';
import type { RunMigrationStep, MigrationDatabase } from './convert-attempts';

/** Maximum age in ms of the transactions that the migration starts to follow. */
const MAX_TRANSACTION_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * The last step reads again the outcomes that were recorded within this time, in ms, before the start of the migration.
 * Some of them may have been committed only after an earlier step had already read this period.
 */
const LAST_STEP_REREAD_MS = 10 * 60 * 1000;
/** Maximum number of transactions in a step. The last step has no limit. */
const MAX_STEP_ROWS = 10_000;

/** Planner settings for a step. Without them, PostgreSQL might sort a whole table on which it has no statistics yet. */
const PLANNER_SETTINGS = {
  sqlite: [],
  postgres: ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map(
    (method) => `SET LOCAL enable_${method} = off`,
  ),
};

/**
 * Starts to follow the transactions that were created in the 7 days before this migration: the gateway then looks them
 * up until their status is final (docs/changes.md). Earlier gateways did not follow transactions. Gateways of the
 * previous version can use the journal during the migration. After an interruption, the next call begins again, and
 * skips transactions that are already followed.
 * @param completeMigration runs in the last step; marks the migration as applied
 */
export async function followRecentTransactions(
  { dialect, execute }: MigrationDatabase,
  runStep: RunMigrationStep,
  completeMigration: () => Promise<void>,
): Promise<void> {
  const follow = async (from: number, limit: number): Promise<number[]> => {
    for (const statement of PLANNER_SETTINGS[dialect]) await execute(statement);
    const rows = await execute(followSettledStatement(dialect), [from, limit]);
    return rows.map((row) => Number(row['created_at']));
  };
  const [row] = await execute(`SELECT ${NOW_SQL[dialect]} AS now`);
  const now = Number(row?.['now']);
  let from = now - MAX_TRANSACTION_AGE_MS;
  for (let followedCount = MAX_STEP_ROWS; followedCount === MAX_STEP_ROWS;) {
    const start = from;
    const settledAt = await runStep(() => follow(start, MAX_STEP_ROWS));
    if (!settledAt) return;
    from = Math.max(from, ...settledAt);
    followedCount = settledAt.length;
  }
  await runStep(async () => {
    await follow(now - LAST_STEP_REREAD_MS, Number.MAX_SAFE_INTEGER);
    await completeMigration();
  });
}
