import { Option, type Command } from 'commander';
import { JSON_OPTION_ARGS, addCommand, type CreateAction } from './command-definitions';
import { parsePositiveDuration, parseUuid } from './options';

const BY_OPTION_ARGS = [
  '--by <name>',
  'your name, if several people share this operating system user; 1 to 64 characters',
] as const;
const REASON_OPTION_ARGS = [
  '--reason <text>',
  'for the audit log: 1 to 255 characters, no card numbers',
] as const;
const ATTEMPT_ARGUMENT_HELP = 'the id or the idempotency key of the attempt';
const PROPOSAL_ARGUMENT = [
  '<proposal>',
  'the id of the proposal, as printed by "paygraph attempts proposals"',
] as const;

/**
 * Defines the `attempts` commands. An attempt is the journal's record of a call that creates a payment or payout. If
 * its outcome is unknown, the payment service may or may not have executed the call.
 */
export function defineAttemptCommands(program: Command, createAction: CreateAction): void {
  const attemptsCommand = addCommand(program, 'attempts', {
    summary: 'list and settle attempts (to create a payment or payout) of unknown outcome',
    description: `Lists and settles attempts of unknown outcome. An attempt is the journal's record of a call that creates a payment or payout.
Its outcome is unknown if the payment service may or may not have executed the call. To settle an attempt is to record its
outcome. Ask the provider of the payment service before you settle: settling cannot be undone.

Run these commands with the settings of the gateway (DATABASE_URL, SERVICE_BASE_URL, AUDIT_LOG_FILE, AUDIT_LOG_KEY,
SETTLE_APPROVAL).`,
    examples: [
      'paygraph attempts list',
      'paygraph attempts show order-8731',
      'paygraph attempts settle order-8731 not_sent --reason "ticket 4711"',
      'paygraph attempts settle order-8731 succeeded --transaction-id <uuid> --reason "ticket 4711"',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
    ],
  });
  defineListAndShowCommands(attemptsCommand, createAction);
  defineSettleCommand(attemptsCommand, createAction);
  defineProposalCommands(attemptsCommand, createAction);
}

function defineListAndShowCommands(attemptsCommand: Command, createAction: CreateAction): void {
  const loadCommands = () => import('./commands/attempts.js');
  addCommand(attemptsCommand, 'list', { summary: 'list attempts of unknown outcome, oldest first' })
    .option(...JSON_OPTION_ARGS)
    .option(
      '--csv',
      'print CSV; fill in the columns outcome and transactionId, then pass the file to settle --file',
    )
    .option('--jsonl', 'print one JSON object per line for settle --file')
    .action(createAction(loadCommands, 'listUnknownAttempts'));
  addCommand(attemptsCommand, 'show', { summary: 'show one attempt' })
    .argument('<attempt>', ATTEMPT_ARGUMENT_HELP)
    .option(...JSON_OPTION_ARGS)
    .action(createAction(loadCommands, 'showAttempt'));
}

function defineSettleCommand(attemptsCommand: Command, createAction: CreateAction): void {
  addCommand(attemptsCommand, 'settle', {
    summary: 'settle attempts of unknown outcome: record their outcomes',
    description: `Records the outcome of one attempt, of the attempts in a file, or of those that --all selects.

--file and --all print a preview with total amounts; repeat the command with --yes to settle. Each attempt is recorded in
the audit log first, with the reason, the user of the operating system and SUDO_USER; if this fails, the attempt is
not settled. The command can be repeated with the same file: it does not change settled attempts. Exit code: 0 no attempt
was refused, 1 some were refused or the command failed, 2 an argument or the file is wrong. With SETTLE_APPROVAL=on the
command makes a proposal, which another user has to approve.

A .csv file has the columns id (or idempotencyKey), outcome, transactionId (for succeeded) and optionally status; other
columns are ignored. A .jsonl file has one object with these names per line. Lines with the outcome "unknown" or without one are
skipped. --all can only record the outcome not_sent.`,
    examples: [
      'paygraph attempts list --csv > unknown.csv',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711"',
      'paygraph attempts settle --file unknown.csv --reason "ticket 4711" --yes',
      'paygraph attempts settle --all --older-than 2h --kind payment --reason "service was off" --yes',
    ],
  })
    .argument('[attempt]', ATTEMPT_ARGUMENT_HELP)
    .argument(
      '[outcome]',
      'succeeded; or not_sent if the service has no transaction: the idempotency key can then be used again',
    )
    .requiredOption(...REASON_OPTION_ARGS)
    .option(...BY_OPTION_ARGS)
    .option('--transaction-id <uuid>', 'the id of the transaction at the service; required with succeeded')
    .option('--status <word>', "the transaction's status in the words of the service", 'processing')
    .option('--file <file>', 'settle the attempts of a .csv or .jsonl file')
    .option('--all', 'settle all attempts of unknown outcome as not_sent; requires --older-than')
    .option(
      '--older-than <time>',
      'with --all: only attempts of this minimum age, such as 90m, 2h or 3d',
      parsePositiveDuration,
    )
    .addOption(
      new Option('--kind <kind>', 'with --all: only payments or only payouts').choices(['payment', 'payout']),
    )
    .option('--channel <uuid>', 'with --all: only attempts of this merchant channel', parseUuid)
    .option('--yes', 'with --file or --all: settle the attempts; without --yes only a preview is printed')
    .option(...JSON_OPTION_ARGS)
    .action(createAction(() => import('./commands/settle.js'), 'settle'));
}

function defineProposalCommands(attemptsCommand: Command, createAction: CreateAction): void {
  const loadCommands = () => import('./commands/proposals.js');
  addCommand(attemptsCommand, 'proposals', {
    summary: 'list proposals that wait for approval (SETTLE_APPROVAL=on)',
  })
    .option(...JSON_OPTION_ARGS)
    .action(createAction(loadCommands, 'listProposals'));
  addCommand(attemptsCommand, 'approve', {
    summary: 'approve the proposal of another user and settle its attempts',
    description: `Approves the proposal of another user and settles its attempts. The proposer cannot approve it, not even with another --by or
through sudo. A proposal expires after 24 hours.`,
  })
    .argument(...PROPOSAL_ARGUMENT)
    .option(...BY_OPTION_ARGS)
    .option(...JSON_OPTION_ARGS)
    .action(createAction(loadCommands, 'approveProposal'));
  addCommand(attemptsCommand, 'withdraw', { summary: 'delete a proposal without settling its attempts' })
    .argument(...PROPOSAL_ARGUMENT)
    .requiredOption(...REASON_OPTION_ARGS)
    .option(...BY_OPTION_ARGS)
    .action(createAction(loadCommands, 'withdrawProposal'));
}
