import type { Attempt } from '../../datasources/journal/journal';
import { labelOf } from '../terminal';

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
export const timeOrDash = (ms: number | null): string => timeOrNull(ms) ?? '-';
export const mutationOf = ({ kind }: Pick<Attempt, 'kind'>): string =>
  kind === 'payment' ? 'createPayment' : 'createPayout';

export const attemptJson = (attempt: Attempt) => ({
  id: attempt.id,
  idempotencyKey: attempt.key,
  client: attempt.client,
  operation: mutationOf(attempt),
  outcome: attempt.outcome,
  channel: attempt.channel,
  method: attempt.method,
  externalId: attempt.externalId,
  amount: { value: attempt.value, currency: attempt.currency },
  transactionId: attempt.transactionId,
  startedAt: timeOrNull(attempt.startedAt),
  settledAt: timeOrNull(attempt.settledAt),
  checks: attempt.recheckCount,
  nextRecheckAt: timeOrNull(attempt.nextRecheckAt),
});

/** Returns an attempt as text, one field per line. */
export function describeAttempt(attempt: Attempt): string {
  const { amount, ...fields } = attemptJson(attempt);
  const lines = Object.entries({ ...fields, amount: `${amount.value} ${amount.currency}` }).map(
    ([name, value]) => `${`${labelOf(name)}:`.padEnd(18)}${value ?? '-'}`,
  );
  return lines.join('\n');
}

/** Returns the main fields of an attempt in one line. */
export const summaryOf = ({ id, kind, startedAt, value, currency, method, externalId }: Attempt): string =>
  [
    id,
    timeOrDash(startedAt),
    kind.padEnd(7),
    `${value} ${currency}`.padEnd(16),
    method.padEnd(15),
    externalId,
  ].join('  ');

const CSV_COLUMNS = [
  ...['id', 'outcome', 'transactionId', 'operation', 'startedAt', 'value', 'currency'],
  ...['channel', 'method', 'externalId', 'client', 'idempotencyKey'],
];

/** Start of a cell that a spreadsheet evaluates as a formula. A caller may choose such a key or external id. */
const FORMULA_START = /^[=+\-@\t\r]/;

/** Returns a cell of CSV (RFC 4180), with an apostrophe before text that looks like a formula. */
function csvCell(text: string): string {
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns attempts as CSV for `attempts settle --file`; an operator fills in outcome and transactionId before. */
export function attemptsCsv(attempts: readonly Attempt[]): string {
  const rows = attempts.map((attempt) => {
    const { amount, ...fields } = attemptJson(attempt);
    const cells = new Map(Object.entries({ ...fields, ...amount }));
    return CSV_COLUMNS.map((column) => String(cells.get(column) ?? ''));
  });
  return [CSV_COLUMNS, ...rows].map((cells) => cells.map(csvCell).join(',')).join('\n');
}
