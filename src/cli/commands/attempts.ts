import 'reflect-metadata';
import { readToolConfig } from '../../config';
import type { Attempt, Journal, Settlement } from '../../datasources/journal/journal';
import { openJournal } from '../../datasources/journal/open';
import { isUuid } from '../../schema/scalars';
import { EXIT, JOURNAL_PATIENCE_MS, UsageError, type Context } from '../context';

/** More of them are not listed at once. */
const MAX_LISTED = 1000;

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
const time = (ms: number | null): string => timeOrNull(ms) ?? '-';
const operationOf = ({ kind }: Attempt): string => (kind === 'payment' ? 'createPayment' : 'createPayout');

/** An attempt for scripts. */
const factsOf = (attempt: Attempt) => ({
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
  checks: attempt.checks,
  nextCheckAt: timeOrNull(attempt.nextCheckAt),
});

/** An attempt for a person. */
function describe(attempt: Attempt): string {
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
    'looked for': `${attempt.checks} times, next at ${time(attempt.nextCheckAt)}`,
  };
  const lines = Object.entries(facts).map(([name, value]) => `${`${name}:`.padEnd(18)}${value ?? '-'}`);
  return lines.join('\n');
}

const summary = ({ id, kind, startedAt, value, currency, method, externalId }: Attempt): string =>
  [
    id,
    time(startedAt),
    kind.padEnd(7),
    `${value} ${currency}`.padEnd(16),
    method.padEnd(15),
    externalId,
  ].join('  ');

interface Operator {
  journal: Journal;
  service: string;
}

interface Shown {
  json?: boolean;
}

interface Settling extends Shown {
  outcome: string;
  transactionId?: string;
  status: string;
}

/** Does something with the journal of the settings, and closes it. */
async function withJournal<T>(
  { env, terminal }: Context,
  use: (operator: Operator) => Promise<T>,
): Promise<T> {
  const { journalUrl, serviceBaseUrl } = readToolConfig(env);
  if (serviceBaseUrl === null)
    throw new UsageError("SERVICE_BASE_URL is not set: a sandbox's attempts are gone with it.");
  terminal.progress('Asking the journal …');
  const journal = await openJournal(journalUrl.reveal(), JOURNAL_PATIENCE_MS);
  try {
    return await use({ journal, service: serviceBaseUrl });
  } finally {
    await journal.close();
  }
}

async function found({ journal, service }: Operator, name: string): Promise<Attempt> {
  const attempt = await journal.findAny(service, name);
  if (!attempt) throw new Error('There is no such attempt, or several clients used this key: give the id.');
  return attempt;
}

function printAttempt({ terminal }: Context, attempt: Attempt, { json }: Shown): void {
  if (json) terminal.printJson(factsOf(attempt));
  else terminal.print(describe(attempt));
}

/** `paygraph attempts list`. */
export async function list(context: Context, { json }: Shown): Promise<number> {
  const unknown = await withJournal(context, ({ journal, service }) => journal.unknown(service, MAX_LISTED));
  const { terminal } = context;
  if (json) terminal.printJson(unknown.map(factsOf));
  else terminal.print(unknown.length === 0 ? 'No outcome is unknown.' : unknown.map(summary).join('\n'));
  if (unknown.length === MAX_LISTED) terminal.say(`There may be more than these ${MAX_LISTED}.`);
  return EXIT.done;
}

/** `paygraph attempts show`. Rejects where there is no such attempt. */
export async function show(context: Context, name: string, shown: Shown): Promise<number> {
  printAttempt(context, await withJournal(context, (operator) => found(operator, name)), shown);
  return EXIT.done;
}

/** `paygraph attempts settle`. Rejects where there is no such attempt, or its outcome is known. */
export async function settle(context: Context, name: string, settling: Settling): Promise<number> {
  const settlement = settlementOf(settling);
  const settled = await withJournal(context, async (operator) => {
    const attempt = await found(operator, name);
    if (attempt.outcome !== 'unknown')
      throw new Error(`Its outcome is ${attempt.outcome}: only an unknown one can be settled.`);
    if (!(await operator.journal.settle(attempt.id, settlement)))
      throw new Error('Another attempt has created that transaction.');
    return found(operator, attempt.id);
  });
  printAttempt(context, settled, settling);
  return EXIT.done;
}

function settlementOf({ outcome, transactionId, status }: Settling): Settlement {
  const settledAt = Date.now();
  if (outcome === 'not_sent') return { outcome, settledAt };
  if (outcome !== 'succeeded') throw new UsageError('Settle as not_sent or as succeeded.');
  if (!transactionId) throw new UsageError('Give --transaction-id <uuid>.');
  if (!isUuid(transactionId)) throw new UsageError('--transaction-id: expected a UUID.');
  return { outcome, transactionId: transactionId.toLowerCase(), status, settledAt };
}
