import { checkConfirms } from './confirm-rules';
import { KeyRules, checkPayoutExternalIds, isSameAmount } from './create-rules';
import type { HistoryLine, LedgerLine } from './format';
import { Run, endOf, isOk, type Exception, type Violation } from './run';

export interface Verdict {
  violations: Violation[];
  /** How often the documented limits of the guarantee applied. */
  exceptions: ReadonlyMap<Exception, number>;
  /** Number of calls by operation, event and result. */
  counts: ReadonlyMap<string, number>;
  calls: number;
  keys: number;
  created: number;
}

/** Judges lookups by external id. Finding nothing is always right, because the service may show a create late. */
function checkLookups(run: Run): void {
  for (const call of run.lookups.filter(isOk)) {
    const { transactionId, amount } = call.completion!.result;
    const { key, operation } = call.invocation;
    if (!transactionId) continue;
    const entry = run.entryById.get(transactionId);
    const isRight =
      entry?.kind === operation &&
      entry.externalId === key &&
      entry.createdAt <= endOf(call) &&
      (!amount || isSameAmount(amount, entry.amount));
    if (!isRight) run.report('wrongTransaction', key, `${operation} shows ${transactionId}`, [call]);
  }
}

/**
 * Judges a history against the ledger of the payment service. Uses nothing but docs/exactly-once.md and
 * docs/results.md: no code of the gateway.
 */
export function check(history: Iterable<HistoryLine>, ledger: Iterable<LedgerLine>): Verdict {
  const run = new Run(history, ledger);
  const keys = new Set([...run.creates.keys(), ...run.entries.keys()]);
  for (const key of keys) new KeyRules(run, key).check();
  checkPayoutExternalIds(run);
  checkConfirms(run);
  checkLookups(run);
  const { violations, exceptions, counts } = run;
  const calls = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { violations, exceptions, counts, calls, keys: keys.size, created: run.entryById.size };
}
