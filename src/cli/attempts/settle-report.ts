import type { Attempt } from '../../datasources/journal/journal';
import type { Terminal } from '../terminal';
import { factsOf, operationOf, summaryOf } from './attempt-view';
import type { PlannedSettle, SettleState } from './settle-plan';

/** In the order of the report. */
const STATES: Readonly<Record<SettleState, string>> = {
  ready: 'can be settled',
  settled: 'settled',
  proposed: 'proposed',
  already_settled: 'settled as asked before',
  left_unknown: 'left unknown, as the file says nothing of them',
  refused: 'REFUSED',
};

/** The amounts of attempts of one operation in one currency. */
export interface Total {
  operation: string;
  currency: string;
  attempts: number;
  /** A decimal with two places. */
  value: string;
}

/** A journalled amount in hundredths; its decimals are at most two. */
function hundredths(value: string): bigint {
  const [whole = '0', decimals = ''] = value.split('.');
  return BigInt(`${whole}${decimals.padEnd(2, '0')}`);
}

/** The total amounts of attempts, by operation and currency. */
export function totalsOf(attempts: readonly Attempt[]): Total[] {
  const groups = Object.groupBy(attempts, (attempt) => `${operationOf(attempt)} ${attempt.currency}`);
  return Object.values(groups).map((group = []) => {
    const sum = String(group.reduce((all, { value }) => all + hundredths(value), 0n)).padStart(3, '0');
    const [first] = group;
    return {
      operation: first ? operationOf(first) : '',
      currency: first?.currency ?? '',
      attempts: group.length,
      value: `${sum.slice(0, -2)}.${sum.slice(-2)}`,
    };
  });
}

/** The totals for a person, one in a line. */
export const describeTotals = (totals: readonly Total[]): string[] =>
  totals.map(
    ({ operation, currency, attempts, value }) => `  ${operation}: ${attempts}, ${value} ${currency}`,
  );

/** Requests that are settled by this run, without refused, skipped and already settled ones. */
const isDone = ({ state }: PlannedSettle): boolean => ['ready', 'settled', 'proposed'].includes(state);

const doneAttempts = (planned: readonly PlannedSettle[]): Attempt[] =>
  planned.flatMap((each) => (isDone(each) && each.attempt ? [each.attempt] : []));

function describeOne({ line, name, request, attempt, state, message }: PlannedSettle): string {
  const place = line === null ? '' : `line ${line}: `;
  const about = attempt ? summaryOf(attempt) : name;
  const to = request
    ? ` -> ${request.outcome}${request.transactionId ? ` ${request.transactionId}` : ''}`
    : '';
  return `${place}${about}${to}  ${STATES[state]}${message === null ? '' : `: ${message}`}`;
}

const factsOfOne = ({ line, name, request, attempt, state, message }: PlannedSettle) => ({
  line,
  attempt: attempt ? factsOf(attempt) : null,
  name,
  outcome: request?.outcome ?? null,
  transactionId: request?.transactionId ?? null,
  state,
  message,
});

const countsOf = (planned: readonly PlannedSettle[]) =>
  Object.fromEntries(
    (Object.keys(STATES) as SettleState[])
      .map((state) => [state, planned.filter((each) => each.state === state).length] as const)
      .filter(([, count]) => count > 0),
  );

interface ReportOptions {
  json?: boolean | undefined;
  /** False for a preview. */
  isCarriedOut: boolean;
  /** Of what was proposed. */
  proposal?: string | undefined;
}

/** Prints each request with what becomes of it, how many of each there are, and the total amounts. */
export function report(terminal: Terminal, planned: readonly PlannedSettle[], options: ReportOptions): void {
  const { json, isCarriedOut, proposal } = options;
  const counts = countsOf(planned);
  const totals = totalsOf(doneAttempts(planned));
  if (json) {
    const results = planned.map(factsOfOne);
    terminal.printJson({ isCarriedOut, proposal: proposal ?? null, counts, totals, results });
    return;
  }
  const lines = [
    ...planned.map(describeOne),
    ...(planned.length > 0 ? [''] : []),
    ...Object.entries(counts).map(([state, count]) => `${count} ${STATES[state as SettleState]}`),
    ...describeTotals(totals),
  ];
  if (lines.length > 0) terminal.print(lines.join('\n'));
}
