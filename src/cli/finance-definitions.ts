import { InvalidArgumentError, type Command } from 'commander';
import { JSON_OPTION_ARGS, addCommand, choiceOption, type CreateAction } from './command-definitions';
import { parseTime, parseUuid } from './options';

/** Maximum of --rate, in lookups per second. */
const MAX_LOOKUPS_PER_SECOND = 1000;

function parseLookupRate(text: string): number {
  const lookupsPerSecond = Number(text);
  const isInRange = lookupsPerSecond > 0 && lookupsPerSecond <= MAX_LOOKUPS_PER_SECOND;
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && isInRange) return lookupsPerSecond;
  throw new InvalidArgumentError(
    `Expected a number of lookups per second above 0 and up to ${MAX_LOOKUPS_PER_SECOND}, such as 50 or 0.5.`,
  );
}

function parseChangesLimit(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a positive whole number.');
}

/** Defines the commands for finance: `changes` and `reconcile`. */
export function defineChangesAndReconcileCommands(program: Command, createAction: CreateAction): void {
  addCommand(program, 'changes', {
    summary: 'print the recorded status changes of payments and payouts, oldest first',
    description: `Prints the record of changes at DATABASE_URL, oldest first: every status of every payment and payout created through the
gateway. Each line contains its cursor. The last line of standard error is "next cursor: <cursor>": the next call with
--after <cursor> continues without a gap, also if nothing was printed. Gateways may be running.

Exit code: 0 if all readable changes, or --limit of them, were printed; 2 if an argument is wrong. A message says
if the newest changes cannot be read yet. If changes after the cursor have been deleted (CHANGES_RETENTION_DAYS), the error
message contains the oldest cursor.`,
    examples: [
      'paygraph changes > changes.csv',
      'paygraph changes --after <cursor> --format jsonl | head -n 100',
    ],
  })
    .option('--after <cursor>', 'begin after this cursor; if omitted, begin with the oldest stored change')
    .option('--channel <uuid>', 'only changes of this merchant channel; all if omitted', parseUuid)
    .addOption(
      choiceOption(
        '--format <format>',
        'format of the output; jsonl uses the field names of the GraphQL schema',
        ['csv', 'jsonl'],
      ),
    )
    .option('--limit <number>', 'maximum number of changes; all if omitted', parseChangesLimit)
    .action(createAction(() => import('./commands/changes.js'), 'printChanges'));
  addCommand(program, 'reconcile', {
    summary: 'compare the attempts of a time range with the payment service',
    description: `Compares every attempt that any client started in a time range with the present state of its transaction at the payment
service, by one lookup for each attempt (docs/reconcile.md). Run it with the settings of the gateway (DATABASE_URL,
SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_SECRET_KEY, SERVICE_CREDENTIALS_FILE, FOLLOW_DAYS); it changes nothing, and
gateways may be running.

Writes the differences to a CSV file, and the progress to a file beside it: after Ctrl+C, a crash or an outage of the service
repeat the command with --resume. Exit code: 0 all attempts agree, 1 some differ or could not be compared, or the command
failed, 2 an argument is wrong.`,
    examples: [
      'paygraph reconcile --from 2026-11-01 --to 2026-12-01 --out november.csv',
      'paygraph reconcile --from 2026-11-01 --to 2026-12-01 --out november.csv --resume',
      'paygraph reconcile --from 2026-11-30T18:00:00+05:30 --to 2026-11-30T19:00:00+05:30 --rate 50',
    ],
  })
    .requiredOption(
      '--from <time>',
      'earliest start of an attempt, inclusive: RFC 3339, or a date in UTC',
      parseTime,
    )
    .requiredOption('--to <time>', 'end of the time range, exclusive; must be in the past', parseTime)
    .option('--channel <uuid>', 'only attempts of this merchant channel; all if omitted', parseUuid)
    .option('--rate <number>', `lookups per second, at most ${MAX_LOOKUPS_PER_SECOND}`, parseLookupRate, 10)
    .option(
      '--out <file.csv>',
      'the CSV file to write; it must not exist, except with --resume',
      'reconcile.csv',
    )
    .option('--all', 'also write the attempts without differences')
    .option('--resume', 'continue an interrupted run; requires the same options')
    .option(...JSON_OPTION_ARGS)
    .action(createAction(() => import('./commands/reconcile.js'), 'reconcile'));
}
