import 'reflect-metadata';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { ConfigError, readToolConfig } from '../config';
import type { Attempt, Journal } from '../datasources/journal/journal';
import { openJournal } from '../datasources/journal/open';
import { isUuid } from '../schema/scalars';

const USAGE = `The operator's hand on creates whose outcome is unknown.

  npm run attempts -- list                        unknown outcomes, oldest first
  npm run attempts -- show <attempt>              one attempt, by its id or its idempotency key
  npm run attempts -- settle <attempt> not_sent   nothing reached the service: the key is free again
  npm run attempts -- settle <attempt> succeeded --transaction-id <uuid> [--status <word>]

<attempt> is the id that list prints. Ask the payment service before you settle: what is settled stays so.
The settings are those of the gateway (DATABASE_URL, SERVICE_BASE_URL).
`;

/** What was typed cannot be done; the message is for the person who typed it. */
class UsageError extends Error {}

const time = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function describe(attempt: Attempt): string {
  const facts: Record<string, string | number | null> = {
    attempt: attempt.id,
    'idempotency key': attempt.key,
    client: attempt.client,
    operation: attempt.kind === 'payment' ? 'createPayment' : 'createPayout',
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

async function found({ journal, service }: Operator, name: string | undefined): Promise<Attempt> {
  if (!name) throw new UsageError('Which attempt?');
  const attempt = await journal.findAny(service, name);
  if (!attempt)
    throw new UsageError('There is no such attempt, or several clients used this key: give the id.');
  return attempt;
}

async function list({ journal, service }: Operator): Promise<void> {
  const unknown = await journal.unknown(service, 1000);
  print(unknown.length === 0 ? 'No outcome is unknown.' : unknown.map(summary).join('\n'));
}

interface Settling {
  outcome: string | undefined;
  transactionId: string | undefined;
  status: string;
}

async function settle(operator: Operator, name: string | undefined, settling: Settling): Promise<void> {
  const { outcome, transactionId, status } = settling;
  const attempt = await found(operator, name);
  if (attempt.outcome !== 'unknown') {
    throw new UsageError(`Its outcome is ${attempt.outcome}: only an unknown one can be settled.`);
  }
  const settledAt = Date.now();
  if (outcome === 'not_sent') {
    await operator.journal.settle(attempt.id, { outcome, settledAt });
  } else if (outcome === 'succeeded') {
    if (!transactionId || !isUuid(transactionId)) throw new UsageError('Give --transaction-id <uuid>.');
    const id = transactionId.toLowerCase();
    const settlement = { outcome, transactionId: id, status, settledAt } as const;
    if (!(await operator.journal.settle(attempt.id, settlement)))
      throw new UsageError('Another attempt has created that transaction.');
  } else {
    throw new UsageError('Settle as not_sent or as succeeded.');
  }
  print(describe(await found(operator, attempt.id)));
}

async function run(operator: Operator): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'transaction-id': { type: 'string' }, status: { type: 'string', default: 'processing' } },
  });
  const [command, name, outcome] = positionals;
  switch (command) {
    case 'list':
      return list(operator);
    case 'show':
      return print(describe(await found(operator, name)));
    case 'settle':
      return settle(operator, name, {
        outcome,
        transactionId: values['transaction-id'],
        status: values.status,
      });
    case undefined:
    default:
      throw new UsageError('What shall be done?');
  }
}

/** `npm run attempts`: exit code 0 when it was done, 2 when it could not be. */
export async function main(): Promise<void> {
  try {
    const { journalUrl, serviceBaseUrl } = readToolConfig();
    if (serviceBaseUrl === null)
      throw new UsageError("SERVICE_BASE_URL is not set: a sandbox's attempts are gone with it.");
    const journal = await openJournal(journalUrl.reveal());
    try {
      await run({ journal, service: serviceBaseUrl });
    } finally {
      await journal.close();
    }
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    const says = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${says}\n${isUsage && !(error instanceof ConfigError) ? `\n${USAGE}` : ''}`);
    process.exitCode = 2;
  }
}
