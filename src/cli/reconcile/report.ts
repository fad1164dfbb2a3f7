import { valueOrNull } from '../../schema/lazy-field';
import { mutationName } from '../attempts/report';
import { csvRecord } from '../csv';
import { timeText, type Terminal } from '../terminal';
import type { CheckedAttempt } from './check-attempt';
import { RESULTS, toGraphqlStatus, type ResultCounts } from './compare';

type Column = readonly [name: string, read: (checked: CheckedAttempt) => string | null];

/** Returns the status of `change`. If it is null, returns the status that was recorded with the outcome, or null. */
const recordedStatusOf = ({ attempt, change }: CheckedAttempt): string | null =>
  change?.status ?? (attempt.status === null ? null : toGraphqlStatus(attempt.kind, attempt.status));

const COLUMNS: readonly Column[] = [
  ['result', ({ result }) => result],
  ['detail', ({ detail }) => detail],
  ['operation', ({ attempt }) => mutationName(attempt)],
  ['channel', ({ attempt }) => attempt.channel],
  ['externalId', ({ attempt }) => attempt.externalId],
  ['transactionId', ({ attempt }) => attempt.transactionId],
  ['outcome', ({ attempt }) => attempt.outcome],
  ['status', recordedStatusOf],
  ['currency', ({ attempt }) => attempt.currency],
  ['value', ({ attempt }) => attempt.value],
  ['received', ({ change }) => change?.received ?? null],
  ['serviceTransactionId', ({ transaction }) => transaction?.transactionId ?? null],
  [
    'serviceStatus',
    ({ transaction }) =>
      transaction?.status === 'UNKNOWN' ? transaction.rawStatus : (transaction?.status ?? null),
  ],
  ['serviceCurrency', ({ transaction }) => valueOrNull(transaction?.amount)?.currency ?? null],
  ['serviceValue', ({ transaction }) => valueOrNull(transaction?.amount)?.value ?? null],
  ['serviceReceived', ({ transaction }) => valueOrNull(transaction?.amount)?.received ?? null],
  ['startedAt', ({ attempt }) => timeText(attempt.startedAt)],
  ['checkedAt', ({ checkedAt }) => timeText(checkedAt)],
  ['client', ({ attempt }) => attempt.client],
  ['idempotencyKey', ({ attempt }) => attempt.key],
  ['attemptId', ({ attempt }) => attempt.id],
];

export const REPORT_HEADER = csvRecord(COLUMNS.map(([name]) => name));

/** Returns the CSV record of an attempt in the report. */
export const reportRecord = (checked: CheckedAttempt): string =>
  csvRecord(COLUMNS.map(([, read]) => read(checked)));

const countChecked = (counts: Readonly<ResultCounts>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

export const countDifferences = (counts: Readonly<ResultCounts>): number =>
  countChecked(counts) - counts.agrees;

/** Returns a line about a run's progress. @param startedAt start of the last checked attempt, in ms since 1970 */
export const describeProgress = (counts: Readonly<ResultCounts>, startedAt: number): string =>
  `${countChecked(counts)} attempts checked (latest start: ${timeText(startedAt)}); ${countDifferences(counts)} do not agree …`;

/** Prints the number of attempts with each result. `lookups`: requests of this run, without those before --resume. */
export function printSummary(
  terminal: Terminal,
  counts: Readonly<ResultCounts>,
  { file, lookups, json = false }: { file: string; lookups: number; json?: boolean },
): void {
  const checked = countChecked(counts);
  if (json) return terminal.printJson({ checked, counts, lookups, file });
  terminal.print(`${checked} attempts checked; ${lookups} lookups in this run; report: ${file}`);
  for (const result of RESULTS)
    terminal.print(`${String(counts[result]).padStart(8)}  ${result.replaceAll('_', ' ')}`);
}
