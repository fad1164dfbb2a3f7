import type { Command } from 'commander';
import { JSON_OPTION, examples, prose, type Declaring } from './command-definitions';

const BY = ['--by <name>', 'your name, where several people share an account; 1 to 64 characters'] as const;

const commands = async () => import('./commands/attempts.js');
const proposals = async () => import('./commands/proposals.js');

/** The operator's commands for creates whose outcome is unknown. */
export function declareAttempts(program: Command, declaring: Declaring): void {
  const attempts = program
    .command('attempts')
    .summary('list and settle creates whose outcome is unknown')
    .description(
      prose(`Lists and settles creates whose outcome is unknown.

The settings are those of the gateway (DATABASE_URL, SERVICE_BASE_URL, AUDIT_LOG_FILE). <attempt> is the id that list
prints, or the idempotency key. Ask the payment service before you settle: what is settled stays so.`),
    )
    .addHelpText(
      'after',
      examples(
        'paygraph attempts list',
        'paygraph attempts show order-8731',
        'paygraph attempts settle order-8731 not_sent --reason "ticket 4711"',
        'paygraph attempts settle order-8731 succeeded --transaction-id <uuid> --reason "ticket 4711"',
        'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
      ),
    );
  declareList(attempts, declaring);
  declareSettle(attempts, declaring);
  declareProposals(attempts, declaring);
}

function declareList(attempts: Command, { ends }: Declaring): void {
  attempts
    .command('list')
    .description('unknown outcomes, oldest first')
    .option(...JSON_OPTION)
    .option('--csv', 'print comma-separated values: fill in outcome and transactionId for settle --file')
    .option('--jsonl', 'print a JSON object in each line, for the same')
    .action((options) => ends(async (context) => (await commands()).list(context, options)));
  attempts
    .command('show')
    .description('one attempt')
    .argument('<attempt>', 'its id or its idempotency key')
    .option(...JSON_OPTION)
    .action((name: string, options) =>
      ends(async (context) => (await commands()).show(context, name, options)),
    );
}

function declareSettle(attempts: Command, { ends }: Declaring): void {
  attempts
    .command('settle')
    .summary('record what became of attempts whose outcome is unknown')
    .description(
      prose(`Records what became of attempts whose outcome is unknown: of one, of those in a file, or of those that --all selects.

Each is in the audit log before it is settled, with the reason, the user of the operating system and SUDO_USER; where that
cannot be written, nothing is settled. --file and --all print what would be done, with total amounts; with --yes it is
done. A file may be given again: what was settled as asked before counts as done. Exit code: 0 all was done, or can be; 1
some were refused; 2 the command was used wrongly. With SETTLE_APPROVAL=on nothing is settled but proposed, and
another user has to approve.

A .csv file has the columns id (or idempotencyKey), outcome, and transactionId where the outcome is succeeded; status
is optional and other columns are ignored. A .jsonl file has an object with these names in each line. A line whose outcome is
empty or "unknown" is left alone. --all settles as not_sent only, whatever else the service may have.`),
    )
    .argument('[attempt]', 'its id or its idempotency key')
    .argument('[outcome]', 'not_sent: nothing reached the service, and the key is free again; or succeeded')
    .requiredOption('--reason <text>', 'why, for the audit log: 1 to 255 characters, without card numbers')
    .option(...BY)
    .option('--transaction-id <uuid>', 'what the service created; required with succeeded')
    .option('--status <word>', "the service's word for its status", 'processing')
    .option('--file <file>', 'settle what a .csv or .jsonl file says')
    .option('--all', 'settle unknown attempts as not_sent; needs --older-than')
    .option('--older-than <time>', 'with --all: only those begun before 90m, 2h, 3d')
    .option('--kind <kind>', 'with --all: payment or payout')
    .option('--channel <uuid>', 'with --all: only those of this merchant channel')
    .option('--yes', 'with --file and --all: do it')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'paygraph attempts list --csv > unknown.csv',
        'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
        'paygraph attempts settle --file unknown.csv --reason "ticket 4711" --yes',
        'paygraph attempts settle --all --older-than 2h --kind payment --reason "service was off" --yes',
      ),
    )
    .action((attempt: string | undefined, outcome: string | undefined, options) =>
      ends(async (context) =>
        (await import('./commands/settle.js')).settle(context, [attempt, outcome], options),
      ),
    );
}

function declareProposals(attempts: Command, { ends }: Declaring): void {
  attempts
    .command('proposals')
    .description('what was proposed with SETTLE_APPROVAL=on and waits for approval')
    .option(...JSON_OPTION)
    .action((options) => ends(async (context) => (await proposals()).listProposals(context, options)));
  attempts
    .command('approve')
    .description(
      prose(`settle what another user has proposed. The proposer is refused, also under another --by or by sudo. A
proposal expires after 24 hours`),
    )
    .argument('<proposal>', 'the id that proposals prints')
    .option(...BY)
    .option(...JSON_OPTION)
    .action((id: string, options) =>
      ends(async (context) => (await proposals()).approve(context, id, options)),
    );
  attempts
    .command('withdraw')
    .description('delete a proposal, with nothing settled')
    .argument('<proposal>', 'the id that proposals prints')
    .requiredOption('--reason <text>', 'why, for the audit log: 1 to 255 characters')
    .option(...BY)
    .action((id: string, options) =>
      ends(async (context) => (await proposals()).withdraw(context, id, options)),
    );
}
