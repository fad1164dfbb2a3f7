import type { Attempt } from '../../datasources/journal/journal';
import { EXIT } from '../context';
import type { Terminal } from '../terminal';
import { attemptJson, mutationOf, summaryOf } from './attempt-view';
import type { PlannedSettle, SettleState } from './settle-plan';

/** Labels of the states, in the order of the report. */
const STATE_LABELS: Readonly<Record<SettleState, string>> = {
  ready: 'can be settled',
  settled: 'settled',
  proposed: 'proposed',
  already_settled: 'already has this outcome',
  left_unknown: 'left unknown: the file gives no outcome',
  refused: 'REFUSED',
};

/** Converts a decimal with at most two places to hundredths. */
function centsOf(value: string): bigint {
  const [whole = '0', decimals = ''] = value.split('.');
  return BigInt(`${whole}${decimals.padEnd(2, '0')}`);
}

/** Returns the sums of the amounts of attempts, by mutation and currency. `value`: a decimal with two places. */
export function totalsOf(attempts: readonly Attempt[]) {
  const groups = Map.groupBy(attempts, (attempt) => `${mutationOf(attempt)} ${attempt.currency}`);
  return [...groups].map(([group, members]) => {
    const [operation = '', currency = ''] = group.split(' ');
    const sum = String(members.reduce((total, { value }) => total + centsOf(value), 0n)).padStart(3, '0');
    return { operation, currency, attempts: members.length, value: `${sum.slice(0, -2)}.${sum.slice(-2)}` };
  });
}

export const describeTotals = (totals: ReturnType<typeof totalsOf>): string[] =>
  totals.map(
    ({ operation, currency, attempts, value }) => `  ${operation}: ${attempts} (total ${value} ${currency})`,
  );

function describePlanned({ line, name, request, attempt, state, message }: PlannedSettle): string {
  const parts = [
    line === null ? '' : `line ${line}: `,
    attempt ? summaryOf(attempt) : name,
    request ? ` -> ${request.outcome} ${request.transactionId ?? ''}`.trimEnd() : '',
    `  ${STATE_LABELS[state]}`,
    message === null ? '' : `: ${message}`,
  ];
  return parts.join('');
}

const plannedJson = ({ line, name, request, attempt, state, message }: PlannedSettle) => ({
  line,
  attempt: attempt ? attemptJson(attempt) : null,
  name,
  outcome: request?.outcome ?? null,
  transactionId: request?.transactionId ?? null,
  state,
  message,
});

interface Options {
  json?: boolean | undefined;
  /** False for a preview. True if requests were settled or proposed. */
  isCarriedOut: boolean;
  /** The id of the proposal that was stored; undefined if none was. */
  proposal?: string | undefined;
}

/**
 * Prints each request with its state, their number by state, and the amounts that are settled, proposed or ready.
 * @returns the exit code of the command
 */
export function printReport(terminal: Terminal, planned: readonly PlannedSettle[], options: Options): number {
  const { json, isCarriedOut, proposal = null } = options;
  const numberOf = (state: SettleState): number => planned.filter((each) => each.state === state).length;
  const states = (Object.keys(STATE_LABELS) as SettleState[]).filter((state) => numberOf(state) > 0);
  const counted = planned.filter(({ state }) => ['ready', 'settled', 'proposed'].includes(state));
  const totals = totalsOf(counted.flatMap(({ attempt }) => attempt ?? []));
  if (json) {
    const counts = Object.fromEntries(states.map((state) => [state, numberOf(state)]));
    terminal.printJson({ isCarriedOut, proposal, counts, totals, results: planned.map(plannedJson) });
  } else if (planned.length > 0) {
    for (const each of planned) terminal.print(describePlanned(each));
    terminal.print('');
    for (const state of states) terminal.print(`${numberOf(state)} ${STATE_LABELS[state]}`);
    for (const total of describeTotals(totals)) terminal.print(total);
  }
  return numberOf('refused') > 0 ? EXIT.failed : EXIT.done;
}
