import type { Attempt } from '../../datasources/journal/journal';
import { csvLine } from './csv';

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
export const time = (ms: number | null): string => timeOrNull(ms) ?? '-';
export const operationOf = ({ kind }: Pick<Attempt, 'kind'>): string =>
  kind === 'payment' ? 'createPayment' : 'createPayout';

/** An attempt for scripts. */
export const factsOf = (attempt: Attempt) => ({
  id: attempt.id,
  idempotencyKey: attempt.key,
  client: attempt.client,
  operation: operationOf(attempt),
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

/** An attempt for a person. */
export function describeAttempt(attempt: Attempt): string {
  const facts: Record<string, string | number | null> = {
    attempt: attempt.id,
    'idempotency key': attempt.key,
    client: attempt.client,
    operation: operationOf(attempt),
    outcome: attempt.outcome,
    channel: attempt.channel,
    method: attempt.method,
    'external id': attempt.externalId,
    amount: `${attempt.value} ${attempt.currency}`,
    'transaction id': attempt.transactionId,
    'started at': time(attempt.startedAt),
    'settled at': time(attempt.settledAt),
    'looked for': `${attempt.recheckCount} times, next at ${time(attempt.nextRecheckAt)}`,
  };
  const lines = Object.entries(facts).map(([name, value]) => `${`${name}:`.padEnd(18)}${value ?? '-'}`);
  return lines.join('\n');
}

/** An attempt in a line of a list. */
export const summaryOf = ({ id, kind, startedAt, value, currency, method, externalId }: Attempt): string =>
  [
    id,
    time(startedAt),
    kind.padEnd(7),
    `${value} ${currency}`.padEnd(16),
    method.padEnd(15),
    externalId,
  ].join('  ');

const CSV_COLUMNS: Readonly<Record<string, (attempt: Attempt) => string | null>> = {
  id: ({ id }) => id,
  outcome: ({ outcome }) => outcome,
  transactionId: ({ transactionId }) => transactionId,
  operation: operationOf,
  startedAt: ({ startedAt }) => timeOrNull(startedAt),
  value: ({ value }) => value,
  currency: ({ currency }) => currency,
  channel: ({ channel }) => channel,
  method: ({ method }) => method,
  externalId: ({ externalId }) => externalId,
  client: ({ client }) => client,
  idempotencyKey: ({ key }) => key,
};

/** Attempts as comma-separated values, which `attempts settle --file` reads when outcome and transactionId are filled in. */
export const asCsv = (attempts: readonly Attempt[]): string =>
  [
    csvLine(Object.keys(CSV_COLUMNS)),
    ...attempts.map((attempt) => csvLine(Object.values(CSV_COLUMNS).map((read) => read(attempt)))),
  ].join('\n');
