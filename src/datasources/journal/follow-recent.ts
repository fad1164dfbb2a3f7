import { followSettled, NOW } from './change-tables';
import type { MigrationStore } from './convert-attempts';

/** Transactions of attempts that succeeded within this time before the upgrade are followed, in ms. */
const RECENT_MS = 7 * 24 * 60 * 60 * 1000;
/** Attempts settled within this time are read again in the last transaction, because outcomes are committed out of order. */
const OVERLAP_MS = 10 * 60 * 1000;
const FIRST_RANGE_MS = 60_000;
const MAX_RANGE_MS = 24 * 60 * 60 * 1000;
/** The range of a step grows and shrinks so that the step follows about this number of transactions. */
const STEP_ROWS = 10_000;

/** Settings of each step: a planner without statistics must find rows by indexes. */
const STEP_SETTINGS = {
  sqlite: [],
  postgres: ['seqscan', 'hashjoin', 'mergejoin'].map((method) => `SET LOCAL enable_${method} = off`),
};

/**
 * Follows the transactions that were created before the record of changes existed. Gateways of the previous version can
 * use the journal meanwhile. If it is interrupted, the next call begins again and skips those that are followed.
 * @param complete marks the migration as applied
 */
export async function followRecent(
  store: MigrationStore,
  { isPending, complete }: { isPending(): Promise<boolean>; complete(): Promise<void> },
): Promise<void> {
  const { dialect, execute, transaction } = store;
  const step = (from: number, to: number, end: () => Promise<void>): Promise<number | null> =>
    transaction(async () => {
      if (!(await isPending())) return null;
      for (const setting of STEP_SETTINGS[dialect]) await execute(setting);
      const rows = await execute(followSettled(dialect), [from, to]);
      await end();
      return rows.length;
    });
  const [row] = await execute(`SELECT ${NOW[dialect]} AS now`);
  const now = Number(row?.['now']);
  let from = now - RECENT_MS;
  let rangeMs = FIRST_RANGE_MS;
  while (from < now) {
    const count = await step(from, from + rangeMs, async () => undefined);
    if (count === null) return;
    from += rangeMs;
    if (count > STEP_ROWS) rangeMs = Math.max(1, rangeMs >> 1);
    else if (count < STEP_ROWS / 2) rangeMs = Math.min(MAX_RANGE_MS, rangeMs * 2);
  }
  await step(now - OVERLAP_MS, Number.MAX_SAFE_INTEGER, complete);
}
