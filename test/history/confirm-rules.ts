import type { ConfirmInput, LedgerLine } from './format';
import { endOf, isOk, mayHaveExecuted, type Call, type Run } from './run';

const confirmationOf = ({ invocation }: Call): string => (invocation.input as ConfirmInput).confirmation;

/**
 * Whether a confirm may have been executed only after a call for it had ended with an unknown outcome. In that
 * case the gateway saw a payment that still waited, and could send the confirm again.
 */
function isLate(confirms: LedgerLine['confirms'], calls: readonly Call[]): boolean {
  const [first] = confirms.toSorted((a, b) => a.carriedOutAt - b.carriedOutAt);
  return calls.some(
    ({ invocation, completion }) =>
      first !== undefined &&
      completion?.event === 'unknown' &&
      invocation.time <= first.requestedAt &&
      completion.time < first.carriedOutAt,
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
  const wasUnknown = calls.some(
    (other) =>
      other.invocation.time < endOf(call) &&
      other.completion?.event !== 'ok' &&
      mayHaveExecuted(other) &&
      confirmationOf(other) === confirmationOf(call),
  );
  if (before.length > 0 && wasUnknown) run.except('confirmAttributed');
  else run.report('notConfirmed', transactionId, confirmationOf(call), [call]);
}

export function checkConfirms(run: Run): void {
  for (const entry of run.entryById.values())
    if (entry.confirms.length > 0) checkCarriedOut(run, entry, run.confirms.of(entry.transactionId));
  for (const calls of run.confirms.values())
    for (const call of calls.filter(isOk)) checkSuccess(run, call, calls);
}
