import { KeyRules, checkPayoutExternalIds, isSameAmount } from './create-rules';
import type { ConfirmInput, HistoryLine, LedgerLine } from './format';
import { Run, endOf, isOk, mayHaveExecuted, type Call } from './run';

const confirmationOf = ({ invocation }: Call): string => (invocation.input as ConfirmInput).confirmation;

/**
 * Whether a confirm may have been executed only after a call for it had ended with an unknown outcome. In that
 * case the gateway saw a payment that still waited, and could send the confirm again.
 */
function isLate(confirms: LedgerLine['confirms'], calls: readonly Call[]): boolean {
  const [first] = confirms.toSorted((a, b) => a.carriedOutAt - b.carriedOutAt);
  const ended = calls.filter(({ completion }) => completion?.event === 'unknown');
  return ended.some(
    (call) => call.invocation.time <= first!.requestedAt && endOf(call) < first!.carriedOutAt,
  );
}

function checkCarriedOut(run: Run, entry: LedgerLine, calls: readonly Call[]): void {
  const { transactionId, confirms } = entry;
  for (const [confirmation, group] of Map.groupBy(confirms, (confirm) => confirm.confirmation)) {
    const same = calls.filter((call) => confirmationOf(call) === confirmation);
    if (group.length > 1 && isLate(group, same)) run.except('confirmLate');
    else if (group.length > 1)
      run.report('confirmedTwice', transactionId, `${confirmation}: ${group.length} times`, same);
    for (const { requestedAt } of group) {
      const requests = same.filter((call) => call.invocation.time <= requestedAt);
      if (!requests.some(mayHaveExecuted))
        run.report('confirmUnexplained', transactionId, confirmation, requests);
    }
  }
}

function checkSuccess(run: Run, call: Call, calls: readonly Call[]): void {
  const transactionId = call.invocation.key;
  const confirms = run.entryById.get(transactionId)?.confirms ?? [];
  const before = confirms.filter(({ carriedOutAt }) => carriedOutAt <= endOf(call));
  if (before.some(({ confirmation }) => confirmation === confirmationOf(call))) return;
  const wasUnknown = calls
    .filter((other) => !isOk(other) && mayHaveExecuted(other) && other.invocation.time < endOf(call))
    .some((other) => confirmationOf(other) === confirmationOf(call));
  if (before.length > 0 && wasUnknown) run.except('confirmAttributed');
  else run.report('notConfirmed', transactionId, confirmationOf(call), [call]);
}

function checkConfirms(run: Run): void {
  for (const entry of run.entryById.values())
    if (entry.confirms.length > 0) checkCarriedOut(run, entry, run.confirms.of(entry.transactionId));
  for (const calls of run.confirms.values())
    for (const call of calls.filter(isOk)) checkSuccess(run, call, calls);
}

/** Checks lookups by external id. One without result is no violation: the service may show a create late. */
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

/** Judges a history against the service's ledger by docs/exactly-once.md and docs/results.md, without gateway code. */
export function check(history: Iterable<HistoryLine>, ledger: Iterable<LedgerLine>) {
  const run = new Run(history, ledger);
  const keys = new Set([...run.creates.keys(), ...run.entries.keys()]);
  for (const key of keys) new KeyRules(run, key).check();
  checkPayoutExternalIds(run);
  checkConfirms(run);
  checkLookups(run);
  const { violations, exceptions, calls, entryById } = run;
  return { violations, exceptions, calls, keys: keys.size, created: entryById.size };
}
