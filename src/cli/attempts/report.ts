import type { Attempt } from '../../datasources/journal/journal';
import { EXIT_CODE } from '../context';
import { csvCell } from '../csv';
import { fieldLabel, isoTimeOrNull, isoTime, type Terminal } from '../terminal';
import type { PlannedSettle, SettleState } from './settle-plan';

/** Returns the GraphQL mutation that made an attempt. */
export const mutationName = ({ kind }: Attempt): string =>
  kind === 'payment' ? 'createPayment' : 'createPayout';

/** Returns an attempt as `--json` prints it. */
export const attemptJson = (attempt: Attempt) => ({
  id: attempt.id,
  idempotencyKey: attempt.key,
  client: attempt.client,
  operation: mutationName(attempt),
  outcome: attempt.outcome,
  channel: attempt.channel,
  method: attempt.method,
  externalId: attempt.externalId,
  amount: { value: attempt.value, currency: attempt.currency },
  transactionId: attempt.transactionId,
  startedAt: isoTime(attempt.startedAt),
  settledAt: isoTimeOrNull(attempt.settledAt),
  checks: attempt.recheckCount,
  nextRecheckAt: isoTimeOrNull(attempt.nextRecheckAt),
});

/** Returns an attempt as text, one field per line. */
export function describeAttempt(attempt: Attempt): string {
  const { amount, ...fields } = attemptJson(attempt);
  const lines = Object.entries({ ...fields, amount: `${amount.value} ${amount.currency}` }).map(
    ([name, value]) => `${`${fieldLabel(name)}:`.padEnd(18)}${value ?? '-'}`,
  );
  return lines.join('\n');
}

/** Returns the main fields of an attempt in one line. */
export function attemptLine({ id, kind, startedAt, value, currency, method, externalId }: Attempt): string {
  const amount = `${value} ${currency}`.padEnd(16);
  return [id, isoTime(startedAt), kind.padEnd(7), amount, method.padEnd(15), externalId].join('  ');
}

const ATTEMPT_CSV_COLUMNS = [
  ...['id', 'outcome', 'transactionId', 'operation', 'startedAt', 'value', 'currency'],
  ...['channel', 'method', 'externalId', 'client', 'idempotencyKey'],
];

/** Returns attempts as CSV for `attempts settle --file`. The operator replaces the outcome `unknown`. */
export function attemptsCsv(attempts: readonly Attempt[]): string {
  const rows = attempts.map((attempt) => {
    const { amount, ...fields } = attemptJson(attempt);
    const cellByColumn = new Map(Object.entries({ ...fields, ...amount }));
    return ATTEMPT_CSV_COLUMNS.map((column) => String(cellByColumn.get(column) ?? ''));
  });
  return [ATTEMPT_CSV_COLUMNS, ...rows].map((cells) => cells.map(csvCell).join(',')).join('\n');
}

/** Text in the report for each SettleState. The report lists the counts of the states in this order. */
const SETTLE_STATE_LABELS: Readonly<Record<SettleState, string>> = {
  ready: 'can be settled',
  settled: 'settled',
  proposed: 'proposed',
  already_settled: 'already has this outcome',
  left_unknown: 'left unknown: the file gives no outcome',
  refused: 'REFUSED',
};

/** Converts a decimal with at most two decimal places to hundredths: 5.5 becomes 550. */
function toCents(decimal: string): bigint {
  const [whole = '0', decimals = ''] = decimal.split('.');
  return BigInt(`${whole}${decimals.padEnd(2, '0')}`);
}

/**
 * Returns a total for each mutation and currency. `attempts` in the result: number of attempts in the total. `value`:
 * sum of their amounts, with two decimal places.
 */
export function amountTotalsOf(attempts: readonly Attempt[]) {
  const attemptsByGroup = Map.groupBy(attempts, (attempt) => `${mutationName(attempt)} ${attempt.currency}`);
  return [...attemptsByGroup].map(([group, members]) => {
    const [operation = '', currency = ''] = group.split(' ');
    const cents = String(members.reduce((sum, { value }) => sum + toCents(value), 0n)).padStart(3, '0');
    return { operation, currency, attempts: members.length, value: cents.replace(/(?=..$)/, '.') };
  });
}

/** Returns one indented line for each total: mutation, number of attempts, sum of the amounts. */
export const describeTotals = (amountTotals: ReturnType<typeof amountTotalsOf>): string[] =>
  amountTotals.map(
    ({ operation, currency, attempts, value }) =>
      `  ${operation}: ${attempts} attempts, total ${value} ${currency}`,
  );

function plannedSettleLine({ lineNumber, idOrKey, request, attempt, state, refusal }: PlannedSettle): string {
  const parts = [
    lineNumber === null ? '' : `line ${lineNumber}: `,
    attempt ? attemptLine(attempt) : idOrKey,
    request ? ` -> ${request.outcome} ${request.transactionId ?? ''}`.trimEnd() : '',
    `  ${SETTLE_STATE_LABELS[state]}`,
    refusal === null ? '' : `: ${refusal}`,
  ];
  return parts.join('');
}

const plannedSettleJson = ({ lineNumber, idOrKey, request, attempt, state, refusal }: PlannedSettle) => ({
  line: lineNumber,
  attempt: attempt ? attemptJson(attempt) : null,
  name: idOrKey,
  outcome: request?.outcome ?? null,
  transactionId: request?.transactionId ?? null,
  state,
  message: refusal,
});

interface SettleReportOptions {
  json?: boolean | undefined;
  /** True: the command has tried to record or propose the outcomes. False: the report is a preview. */
  isCarriedOut: boolean;
  /** Id of the stored proposal; undefined if the command stored none. */
  proposalId?: string | undefined;
}

/**
 * Prints each request to settle an attempt with its state, the number of requests in each state, and the total amounts
 * of the requests in state `settled`, `proposed` or `ready`. If there are no requests, prints a message instead. With
 * `json`, prints JSON in both cases.
 * @returns the exit code of the command: EXIT_CODE.failed if a request is refused, otherwise EXIT_CODE.done
 */
export function printSettleReport(
  terminal: Terminal,
  plannedSettles: readonly PlannedSettle[],
  options: SettleReportOptions,
): number {
  const { json, isCarriedOut, proposalId = null } = options;
  const countOf = (state: SettleState): number =>
    plannedSettles.filter((plannedSettle) => plannedSettle.state === state).length;
  const states = (Object.keys(SETTLE_STATE_LABELS) as SettleState[]).filter((state) => countOf(state) > 0);
  const totalledSettles = plannedSettles.filter(({ state }) =>
    ['ready', 'settled', 'proposed'].includes(state),
  );
  const amountTotals = amountTotalsOf(totalledSettles.flatMap(({ attempt }) => attempt ?? []));
  if (json) {
    const countByState = Object.fromEntries(states.map((state) => [state, countOf(state)]));
    terminal.printJson({
      isCarriedOut,
      proposal: proposalId,
      counts: countByState,
      totals: amountTotals,
      results: plannedSettles.map(plannedSettleJson),
    });
  } else if (plannedSettles.length > 0) {
    for (const plannedSettle of plannedSettles) terminal.print(plannedSettleLine(plannedSettle));
    terminal.print('');
    for (const state of states) terminal.print(`${countOf(state)} ${SETTLE_STATE_LABELS[state]}`);
    for (const totalLine of describeTotals(amountTotals)) terminal.print(totalLine);
  } else terminal.printMessage('No attempt with an unknown outcome is selected.');
  return countOf('refused') > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
}
