import type { Attempt } from '../../datasources/journal/journal';
import type { Terminal } from '../terminal';
import { attemptJson, operationOf, summaryOf } from './attempt-view';
import type { PlannedSettle, SettleState } from './settle-plan';

/** Labels, in the order of the report. */
const STATES: Readonly<Record<SettleState, string>> = {
  ready: 'can be settled',
  settled: 'settled',
  proposed: 'proposed',
  already_settled: 'already settled like this',
  left_unknown: 'left unknown: no outcome in the file',
  refused: 'REFUSED',
};

/** The sum of the amounts of one operation and currency. */
interface Total {
  operation: string;
  currency: string;
  attempts: number;
  /** A decimal with two places. */
  value: string;
}

/** A decimal with at most two places in hundredths. */
function hundredths(value: string): bigint {
  const [whole = '0', decimals = ''] = value.split('.');
  return BigInt(`${whole}${decimals.padEnd(2, '0')}`);
}

/** The sums of the amounts, by operation and currency. */
export function totalsOf(attempts: readonly Attempt[]): Total[] {
  const groups = Map.groupBy(attempts, (attempt) => `${operationOf(attempt)} ${attempt.currency}`);
  return [...groups].map(([group, members]) => {
    const [operation = '', currency = ''] = group.split(' ');
    const sum = String(members.reduce((total, { value }) => total + hundredths(value), 0n)).padStart(3, '0');
    return {
      operation,
      currency,
      attempts: members.length,
      value: `${sum.slice(0, -2)}.${sum.slice(-2)}`,
    };
  });
}

export const describeTotals = (totals: readonly Total[]): string[] =>
  totals.map(
    ({ operation, currency, attempts, value }) => `  ${operation}: ${attempts}, ${value} ${currency}`,
  );

function describeOne({ line, name, request, attempt, state, message }: PlannedSettle): string {
  const parts = [
    line === null ? '' : `line ${line}: `,
    attempt ? summaryOf(attempt) : name,
    request ? ` -> ${request.outcome}` : '',
    request?.transactionId ? ` ${request.transactionId}` : '',
    `  ${STATES[state]}`,
    message === null ? '' : `: ${message}`,
  ];
  return parts.join('');
}

const jsonOfOne = ({ line, name, request, attempt, state, message }: PlannedSettle) => ({
  line,
  attempt: attempt ? attemptJson(attempt) : null,
  name,
  outcome: request?.outcome ?? null,
  transactionId: request?.transactionId ?? null,
  state,
  message,
});

interface ReportOptions {
  json?: boolean | undefined;
  /** False for a preview. */
  isCarriedOut: boolean;
  /** The id of the proposal that was made. */
  proposal?: string | undefined;
}

/** Prints each request with its state, the number of requests by state, and the sums of the settled amounts. */
export function report(terminal: Terminal, planned: readonly PlannedSettle[], options: ReportOptions): void {
  const { json, isCarriedOut, proposal = null } = options;
  const states = (Object.keys(STATES) as SettleState[]).map(
    (name) => [name, planned.filter(({ state }) => state === name).length] as const,
  );
  const counts = Object.fromEntries(states.filter(([, count]) => count > 0));
  const done = planned.filter(({ state }) => ['ready', 'settled', 'proposed'].includes(state));
  const totals = totalsOf(done.flatMap(({ attempt }) => attempt ?? []));
  if (json)
    return terminal.printJson({ isCarriedOut, proposal, counts, totals, results: planned.map(jsonOfOne) });
  if (planned.length === 0) return;
  for (const each of planned) terminal.print(describeOne(each));
  terminal.print('');
  for (const [state, count] of Object.entries(counts))
    terminal.print(`${count} ${STATES[state as SettleState]}`);
  for (const total of describeTotals(totals)) terminal.print(total);
}
