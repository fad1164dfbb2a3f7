import { followSucceededStatement, NOW_SQL_BY_DIALECT } from './change-tables';
import type { RunMigrationStep, MigrationDatabase } from './convert-attempts';

/** Maximum age in ms of the transactions that the migration starts to follow. */
const MAX_AGE_TO_FOLLOW_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * Length in ms of the period before the start of the migration whose outcomes the last step reads again. Some of them
 * may have been committed only after an earlier step had read this period.
 */
const LAST_STEP_REREAD_PERIOD_MS = 10 * 60 * 1000;
/** Maximum number of transactions in a step. The last step has no limit. */
const MAX_TRANSACTIONS_PER_STEP = 10_000;

/** Planner settings for a step. Without them, PostgreSQL might sort a whole table on which it has no statistics yet. */
const SET_PLANNER_STATEMENTS_BY_DIALECT = {
  sqlite: [],
  postgres: ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'].map(
    (plannerMethod) => `SET LOCAL enable_${plannerMethod} = off`,
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
  const followSettledSince = async (settledFrom: number, maxTransactions: number): Promise<number[]> => {
    for (const statement of SET_PLANNER_STATEMENTS_BY_DIALECT[dialect]) await execute(statement);
    const rows = await execute(followSucceededStatement(dialect), [settledFrom, maxTransactions]);
    return rows.map((row) => Number(row['created_at']));
  };
  const [row] = await execute(`SELECT ${NOW_SQL_BY_DIALECT[dialect]} AS now`);
  const now = Number(row?.['now']);
  let settledFrom = now - MAX_AGE_TO_FOLLOW_MS;
  for (let stepFollowedCount = MAX_TRANSACTIONS_PER_STEP; stepFollowedCount === MAX_TRANSACTIONS_PER_STEP;) {
    const stepSettledFrom = settledFrom;
    const settledTimes = await runStep(() => followSettledSince(stepSettledFrom, MAX_TRANSACTIONS_PER_STEP));
    if (!settledTimes) return;
    settledFrom = Math.max(settledFrom, ...settledTimes);
    stepFollowedCount = settledTimes.length;
  }
  await runStep(async () => {
    await followSettledSince(now - LAST_STEP_REREAD_PERIOD_MS, Number.MAX_SAFE_INTEGER);
    await completeMigration();
  });
}
