import type { Command } from 'commander';
import { JSON_OPTION, addCommand, type Actions } from './command-definitions';

const BY = ['--by <name>', 'your name, if several people share an account; 1 to 64 characters'] as const;
const REASON = ['--reason <text>', 'reason for the audit log: 1 to 255 characters, no card numbers'] as const;
const ATTEMPT = 'the id or the idempotency key';
const PROPOSAL = ['<proposal>', 'the id that proposals prints'] as const;

/** The commands for creates of unknown outcome. */
export function defineAttempts(program: Command, actions: Actions): void {
  const attempts = addCommand(program, 'attempts', {
    summary: 'list and settle creates of unknown outcome',
    description: `Lists and settles creates of unknown outcome. Run it with the settings of the gateway (DATABASE_URL,
SERVICE_BASE_URL, AUDIT_LOG_FILE). Ask the provider of the payment service before you settle: it cannot be undone.`,
    examples: [
      'paygraph attempts list',
      'paygraph attempts show order-8731',
      'paygraph attempts settle order-8731 not_sent --reason "ticket 4711"',
      'paygraph attempts settle order-8731 succeeded --transaction-id <uuid> --reason "ticket 4711"',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
    ],
  });
  defineList(attempts, actions);
  defineSettle(attempts, actions);
  defineProposals(attempts, actions);
}

function defineList(attempts: Command, { run }: Actions): void {
  const commands = async () => import('./commands/attempts.js');
  addCommand(attempts, 'list', { summary: 'list attempts of unknown outcome, oldest first' })
    .option(...JSON_OPTION)
    .option('--csv', 'print CSV; fill in outcome and transactionId for settle --file')
    .option('--jsonl', 'print one JSON object per line, for the same purpose')
    .action(run(async (context, options) => (await commands()).list(context, options)));
  addCommand(attempts, 'show', { summary: 'show one attempt' })
    .argument('<attempt>', ATTEMPT)
    .option(...JSON_OPTION)
    .action(run(async (context, name: string, options) => (await commands()).show(context, name, options)));
}

function defineSettle(attempts: Command, { run }: Actions): void {
  addCommand(attempts, 'settle', {
    summary: 'record the outcome of attempts',
    description: `Records the outcome of attempts of unknown outcome: of one, of those in a file, or of those selected with --all.

--file and --all print a preview with total amounts; repeat the command with --yes to settle. Each attempt is recorded in
the audit log first, with the reason, the user of the operating system and SUDO_USER; if the audit log cannot be written,
nothing is settled. A file may be settled repeatedly. Exit code: 0 all attempts are settled or can be, 1 some were refused, 2
an argument is wrong. With SETTLE_APPROVAL=on the command makes a proposal, which another user has to approve.

A .csv file has the columns id (or idempotencyKey), outcome, transactionId (for succeeded) and optionally status; other
columns are ignored. A .jsonl file has one object with these names per line. Lines with the outcome "unknown" or without one are
skipped. --all settles as not_sent only.`,
    examples: [
      'paygraph attempts list --csv > unknown.csv',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711" --yes',
      'paygraph attempts settle --all --older-than 2h --kind payment --reason "service was off" --yes',
    ],
  })
    .argument('[attempt]', ATTEMPT)
    .argument('[outcome]', 'succeeded, or not_sent if the service has no transaction; this frees the key')
    .requiredOption(...REASON)
    .option(...BY)
    .option('--transaction-id <uuid>', 'the transaction of the service; required with succeeded')
    .option('--status <word>', 'the status word of the service', 'processing')
    .option('--file <file>', 'settle the attempts of a .csv or .jsonl file')
    .option('--all', 'settle unknown attempts as not_sent; requires --older-than')
    .option('--older-than <time>', 'with --all: minimum age, such as 90m, 2h or 3d')
    .option('--kind <kind>', 'with --all: payment or payout')
    .option('--channel <uuid>', 'with --all: only this merchant channel')
    .option('--yes', 'with --file and --all: settle instead of a preview')
    .option(...JSON_OPTION)
    .action(
      run(async (context, attempt: string | undefined, outcome: string | undefined, options) =>
        (await import('./commands/settle.js')).settle(context, [attempt, outcome], options),
      ),
    );
}

function defineProposals(attempts: Command, { run }: Actions): void {
  const commands = async () => import('./commands/proposals.js');
  addCommand(attempts, 'proposals', { summary: 'list proposals that wait for approval (SETTLE_APPROVAL=on)' })
    .option(...JSON_OPTION)
    .action(run(async (context, options) => (await commands()).listProposals(context, options)));
  addCommand(attempts, 'approve', {
    summary: 'settle the attempts of a proposal of another user',
    description: `Settles the attempts of a proposal of another user. The proposer cannot approve it, not even with another --by or
through sudo. A proposal expires after 24 hours.`,
  })
    .argument(...PROPOSAL)
    .option(...BY)
    .option(...JSON_OPTION)
    .action(run(async (context, id: string, options) => (await commands()).approve(context, id, options)));
  addCommand(attempts, 'withdraw', { summary: 'delete a proposal without settling its attempts' })
    .argument(...PROPOSAL)
    .requiredOption(...REASON)
    .option(...BY)
    .action(run(async (context, id: string, options) => (await commands()).withdraw(context, id, options)));
}
