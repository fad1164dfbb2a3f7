import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { CommandContext } from './context';
import { parseDuration, parseUuid } from './options';

/** Runs a command with Commander's arguments and options. Resolves to the exit code; undefined means EXIT_CODE.done. */
type CommandFunction = (context: CommandContext, ...args: never[]) => Promise<number> | Promise<void>;

/** Returns a Commander action that loads a module with `loadModule` and calls its function `functionName`. */
export type CreateAction = <N extends string>(
  loadModule: () => Promise<Record<N, CommandFunction>>,
  functionName: N,
) => Parameters<Command['action']>[0];

interface CommandHelp {
  /** The text in the list of commands: lower case, without a full stop. */
  summary: string;
  /** Help text: empty lines separate paragraphs, other line breaks become spaces. Default: summary as a sentence. */
  description?: string;
  examples?: readonly string[];
}

export function addCommand(
  parentCommand: Command,
  commandName: string,
  { summary, description, examples }: CommandHelp,
): Command {
  const command = parentCommand.command(commandName).summary(summary);
  const summarySentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  command.description(description?.replace(/(?<!\n)\n(?!\n)/g, ' ') ?? summarySentence);
  if (examples)
    command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`);
  return command;
}

/** Returns an option that takes one of several words; the first word is the default. */
export const choiceOption = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices(choices).default(choices[0]);

export const JSON_OPTION_ARGS = ['--json', 'print JSON'] as const;

/** Defines `start`, `sandbox` and `doctor`. The first two have no action, because main() runs them itself. */
export function defineServerAndDoctorCommands(program: Command, createAction: CreateAction): void {
  addCommand(program, 'start', {
    summary: 'start the gateway',
    description: `Starts the gateway, with the embedded sandbox if SERVICE_BASE_URL is not set.

Settings are environment variables (docs/configuration.md). On SIGTERM and Ctrl+C the gateway finishes the requests in
flight and exits with code 0. The exit code is 1 if the gateway cannot start.`,
    examples: [
      'paygraph start',
      'PORT=8080 SANDBOX_CONTROL=on paygraph start',
      'node --max-semi-space-size=64 bin/paygraph.mjs start    like npm start; has shorter pauses under load',
    ],
  });
  addCommand(program, 'sandbox', {
    summary: 'start the sandbox without a gateway',
    description: `Starts the sandbox without a gateway. It simulates the payment service of the specification, without real money.

Its settings are SANDBOX_PORT and SANDBOX_CONTROL. To use the sandbox, set SERVICE_BASE_URL of a gateway to its URL.`,
    examples: ['paygraph sandbox', 'SANDBOX_PORT=4100 SANDBOX_CONTROL=on paygraph sandbox'],
  });
  addCommand(program, 'doctor', {
    summary: 'check the settings and all systems they refer to',
    description: `Checks the settings and all systems they refer to: service, credentials, clock, journal, keys, files, ports. Prints each
problem with a remedy and without secrets, and changes nothing (docs/doctor.md). Run it with the settings of the gateway;
the gateway may be running.

Exit code: 0 no check failed (there may be warnings), 1 a check failed, 2 the settings are invalid.`,
    examples: ['paygraph doctor', 'paygraph doctor --json'],
  })
    .option(
      '--channel <uuid>',
      'channel of the test lookup with the default credentials; a random UUID if omitted',
      parseUuid,
    )
    .option(...JSON_OPTION_ARGS)
    .action(createAction(() => import('./commands/doctor.js'), 'doctor'));
}

export function defineMigrateAndFenceCommands(program: Command, createAction: CreateAction): void {
  addCommand(program, 'migrate', {
    summary: 'migrate the tables of the journal',
    description:
      'Migrates the tables of the journal at DATABASE_URL. The gateway also does this when it starts.',
    examples: ['paygraph migrate'],
  }).action(createAction(() => import('./commands/journal.js'), 'migrate'));
  addCommand(program, 'fence', {
    summary:
      'show or switch the fence of the journal: while it is up, every create is looked up before it is sent',
    description: `Shows, raises or lowers the fence of the journal at DATABASE_URL. While it is up, every create is looked up at the payment
service before it is sent, because the journal may lack recent attempts. It goes up by itself after a failover and when a
restored database is noticed, and stays up for FENCE_SECONDS. Raise it before gateways start on a restored journal. Lower it
only if the journal certainly has every attempt (docs/exactly-once.md). Gateways notice a change within a second.`,
    examples: ['paygraph fence', 'paygraph fence on', 'paygraph fence off'],
  })
    .addArgument(new Argument('[on|off]', 'on raises the fence, off lowers it').choices(['on', 'off']))
    .action(createAction(() => import('./commands/journal.js'), 'showOrSwitchFence'));
}

/** Appends a value of the repeatable option --expect to its earlier values. @throws InvalidArgumentError if invalid */
function appendExpectedHash(hash: string, expectedHashes: readonly string[] = []): string[] {
  if (/^[0-9a-f]{64}$/i.test(hash)) return [...expectedHashes, hash.toLowerCase()];
  throw new InvalidArgumentError(
    'Expected 64 hexadecimal digits: the seal of an audit log file, or the hash of one of its lines.',
  );
}

export function defineAuditCommands(program: Command, createAction: CreateAction): void {
  const auditCommand = addCommand(program, 'audit', {
    summary: 'verify and follow the audit log',
    description: 'Verifies and follows the audit log, the record of every call that moves money.',
    examples: [
      'paygraph audit verify',
      'paygraph audit verify audit.log.1 audit.log',
      'paygraph audit verify --expect <seal>',
    ],
  });
  addCommand(auditCommand, 'verify', {
    summary: 'check that no line of the audit log is missing or changed',
    description: `Checks that no line of the audit log is missing or changed. Exit code: 0 no line is missing or changed, 1 a line is
missing or changed, 2 a file cannot be read.

Prints a seal for each file: a hash over all of its lines. Store it elsewhere and pass it with --expect later to detect
lines cut off at the end. --expect also accepts the hash of a single line.`,
  })
    .argument('[files...]', 'the files, oldest first; AUDIT_LOG_FILE if omitted')
    .option('--expect <hash>', 'fail unless this seal or hash is found; may be repeated', appendExpectedHash)
    .option(...JSON_OPTION_ARGS)
    .action(createAction(() => import('./commands/audit.js'), 'verifyAuditLog'));
  addCommand(auditCommand, 'follow', {
    summary: 'print lines of the audit log as they are written, for a log shipper',
    description: `Prints the audit log from the start of the current file, then new lines as they are written, also after a rotation.
On SIGTERM it prints the lines written so far and ends.`,
  })
    .argument('[file]', 'the file; AUDIT_LOG_FILE if omitted')
    .action(createAction(() => import('./commands/audit.js'), 'followAuditLog'));
}

export function definePersistCommand(program: Command, createAction: CreateAction): void {
  addCommand(program, 'persist', {
    summary: 'create the manifest for PERSISTED_OPERATIONS',
    description: `Creates the manifest for PERSISTED_OPERATIONS from the GraphQL documents of your frontends. Exit code: 0 the manifest
is written, 1 a document is invalid, 2 an argument is wrong.`,
    examples: [
      'paygraph persist ../shop/src',
      'paygraph persist ../shop/src --client urql --out operations.json',
    ],
  })
    .argument('<paths...>', 'GraphQL documents, or folders that contain .graphql and .gql files')
    .addOption(
      choiceOption(
        '--client <client>',
        'the client that sends the operations: apollo and urql add __typename, plain adds nothing',
        ['apollo', 'urql', 'plain'],
      ),
    )
    .addOption(
      choiceOption(
        '--format <format>',
        'format of the manifest: of Apollo, or of graphql-codegen (persisted-documents.json)',
        ['apollo', 'codegen'],
      ),
    )
    .option('--out <file>', 'the manifest to write', 'persisted-operations.json')
    .action(createAction(() => import('./commands/persist.js'), 'persist'));
}

export function defineDevTokenCommand(program: Command, createAction: CreateAction): void {
  addCommand(program, 'dev-token', {
    summary: 'create a development token (JWT) for a gateway with the embedded sandbox',
    description: `Creates a token (JWT) for a gateway with the embedded sandbox, to try scopes, ownership and expiry. The first call creates
a signing key in data/dev-token. Prints the token to standard output, and the settings of the gateway to standard error.

For development only: if SERVICE_BASE_URL is set, the gateway does not start with the AUTH_ISSUER of these tokens.`,
    examples: [
      'paygraph dev-token --sub alice',
      'paygraph dev-token --sub bob --scope "payments:read:own" --expires-in 5m',
    ],
  })
    .requiredOption(
      '--sub <subject>',
      'the caller (claim sub): 1 to 255 printable ASCII characters without spaces',
    )
    .option(
      '--scope <scopes>',
      'scopes separated by spaces (docs/security.md)',
      'payments:create payments:read:own payments:confirm:own',
    )
    .option('--channels <uuid,…>', 'merchant channels that the caller may use', '*')
    .option(
      '--expires-in <time>',
      'lifetime, for example 30s or 15m, at most 24h; 1h if omitted; a negative value creates an expired token',
      parseDuration,
    )
    .action(createAction(() => import('./commands/dev-token.js'), 'createDevToken'));
}
