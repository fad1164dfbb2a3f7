import { mutationOf } from '../attempts/report';
import { csvRecord } from '../csv';
import { timeText, type Terminal } from '../terminal';
import type { CheckedAttempt } from './check-attempt';
import { RESULTS, toGraphqlStatus } from './compare';
import type { Counts } from './report-file';

type Column = readonly [name: string, read: (checked: CheckedAttempt) => string | null];

/** Returns the recorded status: that of the latest change; if there is no change, that of the create. */
const recordedStatusOf = ({ attempt, change }: CheckedAttempt): string | null =>
  change?.status ?? (attempt.status === null ? null : toGraphqlStatus(attempt.kind, attempt.status));

const COLUMNS: readonly Column[] = [
  ['result', ({ result }) => result],
  ['detail', ({ detail }) => detail],
  ['operation', ({ attempt }) => mutationOf(attempt)],
  ['channel', ({ attempt }) => attempt.channel],
  ['externalId', ({ attempt }) => attempt.externalId],
  ['transactionId', ({ attempt }) => attempt.transactionId],
  ['outcome', ({ attempt }) => attempt.outcome],
  ['status', recordedStatusOf],
  ['currency', ({ attempt }) => attempt.currency],
  ['value', ({ attempt }) => attempt.value],
  ['received', ({ change }) => change?.received ?? null],
  ['serviceTransactionId', ({ shown }) => shown?.transactionId ?? null],
  ['serviceStatus', ({ shown }) => (shown?.status === 'UNKNOWN' ? shown.rawStatus : (shown?.status ?? null))],
  ['serviceCurrency', ({ shown }) => shown?.currency ?? null],
  ['serviceValue', ({ shown }) => shown?.value ?? null],
  ['serviceReceived', ({ shown }) => shown?.received ?? null],
  ['startedAt', ({ attempt }) => timeText(attempt.startedAt)],
  ['checkedAt', ({ checkedAt }) => timeText(checkedAt)],
  ['client', ({ attempt }) => attempt.client],
  ['idempotencyKey', ({ attempt }) => attempt.key],
  ['attemptId', ({ attempt }) => attempt.id],
];

export const REPORT_HEADER = csvRecord(COLUMNS.map(([name]) => name));

/** Returns the line of an attempt in the report. */
export const reportRecord = (checked: CheckedAttempt): string =>
  csvRecord(COLUMNS.map(([, read]) => read(checked)));

const checkedCountOf = (counts: Readonly<Counts>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

export const differencesOf = (counts: Readonly<Counts>): number => checkedCountOf(counts) - counts.agrees;

/** Returns the progress of a run in one line. */
export const describeProgress = (counts: Readonly<Counts>, startedAt: number): string =>
  `${checkedCountOf(counts)} checked up to ${timeText(startedAt)}, ${differencesOf(counts)} differ …`;

/** Prints the number of attempts by result. `lookups`: number of lookups since the run was started or resumed. */
export function printSummary(
  terminal: Terminal,
  counts: Readonly<Counts>,
  { file, lookups, json = false }: { file: string; lookups: number; json?: boolean },
): void {
  const checked = checkedCountOf(counts);
  if (json) return terminal.printJson({ checked, counts, lookups, file });
  terminal.print(`${checked} attempts checked with ${lookups} lookups; the differences are in ${file}`);
  for (const result of RESULTS)
    terminal.print(`${String(counts[result]).padStart(8)}  ${result.replaceAll('_', ' ')}`);
}
