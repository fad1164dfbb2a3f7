import type { Command } from 'commander';
import type { Context } from './context';

/** Commands that run until a signal. */
export type ServerName = 'start' | 'sandbox';

type Handler = Parameters<Command['action']>[0];

/** Implementations of the commands. A module is loaded when its command runs; the definitions contain only the help. */
export interface Actions {
  /** Makes the handler of a command that resolves with an exit code. */
  run(command: (context: Context, ...args: Parameters<Handler>) => number | Promise<number>): Handler;
  startServer(name: ServerName): Promise<void>;
}

interface CommandHelp {
  /** The text in the list of commands. */
  summary: string;
  /** Paragraphs; single line breaks are ignored. The summary where it is left out. */
  description?: string;
  examples?: readonly string[];
}

/** Adds a command with its help. */
export function addCommand(
  parent: Command,
  name: string,
  { summary, description, examples }: CommandHelp,
): Command {
  const command = parent.command(name).summary(summary);
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  command.description(description?.replace(/(?<!\n)\n(?!\n)/g, ' ') ?? sentence);
  if (examples)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  return command;
}

export const JSON_OPTION = ['--json', 'print JSON'] as const;

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

export function defineServers(program: Command, { run, startServer }: Actions): void {
  addCommand(program, 'start', {
    summary: 'start the gateway',
    description: `Starts the gateway, with the embedded sandbox if SERVICE_BASE_URL is not set.

Settings are environment variables (docs/configuration.md). SIGTERM and Ctrl+C finish the requests in flight and end with
exit code 0. The exit code is 1 if the gateway cannot start.`,
    examples: [
      'paygraph start',
      'PORT=8080 SANDBOX_CONTROL=on paygraph start',
      'node --max-semi-space-size=64 bin/paygraph.mjs start    as npm start: shorter pauses under load',
    ],
  }).action(() => startServer('start'));
  addCommand(program, 'sandbox', {
    summary: 'start the sandbox without a gateway',
    description: `Starts the sandbox without a gateway: the payment service of the specification, without real money.

SANDBOX_PORT and SANDBOX_CONTROL are its settings. Point SERVICE_BASE_URL of a gateway to it.`,
    examples: ['paygraph sandbox', 'SANDBOX_PORT=4100 SANDBOX_CONTROL=on paygraph sandbox'],
  }).action(() => startServer('sandbox'));
  addCommand(program, 'doctor', {
    summary: 'check the settings and all systems they refer to',
    description: `Checks the settings and all systems they refer to: service, credentials, clock, journal, keys, files, ports. Prints
problems with remedies and no secrets, and changes nothing (docs/doctor.md). Run it with the settings of the gateway,
also while the gateway runs.

Exit code: 0 no check failed (there may be warnings), 1 a check failed, 2 the settings are invalid.`,
    examples: ['paygraph doctor', 'paygraph doctor --json'],
  })
    .option('--channel <uuid>', 'the channel for lookups with the default credentials; random if omitted')
    .option(...JSON_OPTION)
    .action(run(async (context, options) => (await import('./commands/doctor.js')).doctor(context, options)));
}

export function defineJournal(program: Command, { run }: Actions): void {
  addCommand(program, 'migrate', {
    summary: 'migrate the tables of the journal',
    description:
      'Migrates the tables of the journal at DATABASE_URL. The gateway also does this when it starts.',
    examples: ['paygraph migrate'],
  }).action(run(async (context) => (await import('./commands/migrate.js')).migrate(context)));
}

export function defineAudit(program: Command, { run }: Actions): void {
  const audit = addCommand(program, 'audit', {
    summary: 'verify and follow the audit log',
    description: 'Verifies and follows the audit log, the record of every call that moves money.',
    examples: [
      'paygraph audit verify',
      'paygraph audit verify audit.log.1 audit.log',
      'paygraph audit verify --expect <seal>',
    ],
  });
  addCommand(audit, 'verify', {
    summary: 'check that no line is missing or changed',
    description: `Checks that no line is missing or changed. Exit code: 0 no errors, 1 lines are missing or changed, 2 a file cannot be
read.

Prints a seal for each file: a hash over all of its lines. Store it elsewhere and pass it with --expect later to detect
lines cut off at the end. --expect also accepts the hash of a single line.`,
  })
    .argument('[files...]', 'the files, oldest first; AUDIT_LOG_FILE if omitted')
    .option('--expect <hash>', 'fail unless this seal or hash is found; may be repeated', collect)
    .option(...JSON_OPTION)
    .action(
      run(async (context, files: string[], { expect = [], json }: { expect?: string[]; json?: boolean }) =>
        (await import('./commands/audit.js')).verify(context, files, { expect, json }),
      ),
    );
  addCommand(audit, 'follow', {
    summary: 'print new lines, for a log shipper',
    description: `Prints the audit log from the start of the current file, then new lines as they are written, also after a rotation.
Ends on SIGTERM, after the lines written until then.`,
  })
    .argument('[file]', 'the file; AUDIT_LOG_FILE if omitted')
    .action(
      run(async (context, file: string | undefined) =>
        (await import('./commands/audit-follow.js')).follow(context, file),
      ),
    );
}

export function definePersist(program: Command, { run }: Actions): void {
  addCommand(program, 'persist', {
    summary: 'create the manifest for PERSISTED_OPERATIONS',
    description: `Creates the manifest for PERSISTED_OPERATIONS from the GraphQL documents of your frontends. Exit code: 0 written, 1 a
document is invalid, 2 an argument is wrong.`,
    examples: [
      'paygraph persist ../shop/src',
      'paygraph persist ../shop/src --client urql --out operations.json',
    ],
  })
    .argument('<paths...>', 'documents, or folders with .graphql and .gql files')
    .option(
      '--client <client>',
      'the client that sends the operations: apollo and urql add __typename, plain adds nothing',
      'apollo',
    )
    .option(
      '--format <format>',
      'apollo, or codegen for the persisted-documents.json of graphql-codegen',
      'apollo',
    )
    .option('--out <file>', 'the manifest', 'persisted-operations.json')
    .action(
      run(async (context, paths: string[], options) =>
        (await import('./commands/persist.js')).persist(context, paths, options),
      ),
    );
}

export function defineDevToken(program: Command, { run }: Actions): void {
  addCommand(program, 'dev-token', {
    summary: 'create a token for the embedded sandbox',
    description: `Creates a JWT for the embedded sandbox, to try scopes, ownership and expiry. The first call creates a signing key in
data/dev-token. Prints the token to standard output, and the settings for the gateway to standard error.

For development only: a gateway with SERVICE_BASE_URL does not start with this issuer.`,
    examples: [
      'paygraph dev-token --sub alice',
      'paygraph dev-token --sub bob --scope "payments:read:own" --expires-in 5m',
    ],
  })
    .requiredOption('--sub <subject>', 'the caller: 1 to 255 printable ASCII characters')
    .option(
      '--scope <scopes>',
      'scopes separated by spaces (docs/security.md)',
      'payments:create payments:read:own payments:confirm:own',
    )
    .option('--channels <uuid,…>', 'merchant channels that the caller may use', '*')
    .option(
      '--expires-in <time>',
      'lifetime such as 30s, 15m or 24h (maximum); negative for an expired token',
      '1h',
    )
    .action(
      run(async (context, options) => (await import('./commands/dev-token.js')).devToken(context, options)),
    );
}
