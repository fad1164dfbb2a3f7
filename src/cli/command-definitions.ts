import type { Command } from 'commander';
import type { Context } from './context';
import { SERVERS } from './servers';

/**
 * What can be typed, and what it runs. A command's own module is loaded when it is run, so that none pays for the others:
 * here is only what it is called, what it takes and what its help says.
 */
export interface Declaring {
  /** Runs a command that ends with an exit code. */
  ends(run: (context: Context) => Promise<number>): Promise<void>;
  /** Runs a server, which ends the process itself. */
  serves(run: () => Promise<void>): Promise<void>;
}

/** The examples of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;

/** A text as it is wrapped for the reader, whatever its lines are here. */
export const prose = (text: string): string => text.replace(/(?<!\n)\n(?!\n)/g, ' ');

/** The option of commands whose result scripts can read. */
export const JSON_OPTION = ['--json', 'print the result as JSON, for scripts'] as const;

export function declareServers(program: Command, { serves }: Declaring): void {
  program
    .command('start')
    .summary('start the gateway')
    .description(
      prose(`Starts the gateway, with the embedded sandbox where SERVICE_BASE_URL is not set.

It is set by environment variables: docs/configuration.md names them. SIGTERM or Ctrl+C lets what is under way end, and
the exit code is 0; what keeps the gateway from starting is said, and the exit code is 1.`),
    )
    .addHelpText(
      'after',
      examples(
        'paygraph start',
        'PORT=8080 SANDBOX_CONTROL=on paygraph start',
        'node --max-semi-space-size=64 bin/paygraph.mjs start    as npm start does: fewer pauses under load',
      ),
    )
    .action(() => serves(SERVERS.start));
  program
    .command('sandbox')
    .summary('start the sandbox alone: the payment service, without a gateway')
    .description(
      prose(`Starts the sandbox alone: the payment service of the specification, with no real money and no gateway before it.

SANDBOX_PORT and SANDBOX_CONTROL set it; a gateway uses it with SERVICE_BASE_URL, as it would a real one.`),
    )
    .addHelpText(
      'after',
      examples('paygraph sandbox', 'SANDBOX_PORT=4100 SANDBOX_CONTROL=on paygraph sandbox'),
    )
    .action(() => serves(SERVERS.sandbox));
}

export function declareDoctor(program: Command, { ends }: Declaring): void {
  program
    .command('doctor')
    .summary('check the settings and everything they lead to')
    .description(
      prose(`Checks the settings and everything they lead to: service, credentials, clock, journal, keys, files, ports. It says what
is wrong and how to mend it, and prints no value of a secret.

It changes nothing, creates nothing and may run beside a running gateway, with the gateway's own settings. Exit code: 0
nothing failed (there may be warnings), 1 something failed, 2 the settings are wrong. docs/doctor.md explains each check.`),
    )
    .option('--channel <uuid>', 'a merchant channel to ask the service for; without this one of nobody')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('paygraph doctor', 'paygraph doctor --json'))
    .action((options: { channel?: string; json?: boolean }) =>
      ends(async (context) => (await import('./commands/doctor.js')).doctor(context, options)),
    );
}

export function declareJournal(program: Command, { ends }: Declaring): void {
  program
    .command('migrate')
    .summary("bring the journal's tables up to date")
    .description(
      "Brings the journal's tables up to date. The gateway does so itself when it starts; DATABASE_URL says where it is.",
    )
    .addHelpText('after', examples('paygraph migrate'))
    .action(() => ends(async (context) => (await import('./commands/migrate.js')).migrate(context)));
}

export function declareAudit(program: Command, declaring: Declaring): void {
  const { ends } = declaring;
  const audit = program
    .command('audit')
    .summary('check and follow the audit log, the record of every call that moves money')
    .description('Checks and follows the audit log, the record of every call that moves money.')
    .addHelpText(
      'after',
      examples(
        'paygraph audit verify',
        'paygraph audit verify audit.log.1 audit.log',
        'paygraph audit verify --expect <seal>',
      ),
    );
  audit
    .command('verify')
    .description(
      prose(`Checks that no line is missing or was changed.

A seal is a hash over all lines of a file up to one. Keep the one that verify prints in another place: by it shows later
whether lines were cut off at the end. The hash of a single line does for --expect, too. Exit code: 0 nothing is missing
or changed, 1 something is, 2 it could not be found out.`),
    )
    .argument(
      '[files...]',
      'in their order, oldest first, where logs are rotated; without any AUDIT_LOG_FILE',
    )
    .option(
      '--expect <seal>',
      'fails unless this seal is there; may be given several times',
      (seal: string, before: readonly string[]) => [...before, seal],
      [],
    )
    .option(...JSON_OPTION)
    .action((files: string[], options) =>
      ends(async (context) => (await import('./commands/audit.js')).verify(context, files, options)),
    );
  declareFollow(audit, declaring);
}

function declareFollow(audit: Command, { ends }: Declaring): void {
  audit
    .command('follow')
    .description(
      prose(`Prints the audit log as it grows, from the start of the current file, and goes on in the next file when it is rotated:
for a log shipper that reads standard output. Ends on SIGTERM, after the lines that are there by then.`),
    )
    .argument('[file]', 'the file; without it AUDIT_LOG_FILE')
    .action((file: string | undefined) =>
      ends(async (context) => (await import('./commands/audit-follow.js')).follow(context, file)),
    );
}

export function declarePersist(program: Command, { ends }: Declaring): void {
  program
    .command('persist')
    .summary('make the manifest for PERSISTED_OPERATIONS')
    .description(
      prose(`Makes the manifest for PERSISTED_OPERATIONS from the documents of your frontends. Exit code: 0 it was written, 1 a
document is wrong, 2 what was typed is.`),
    )
    .argument('<places...>', 'documents, or folders: everything in them that ends in .graphql or .gql')
    .option(
      '--client <client>',
      prose(`apollo, urql or plain: who sends the operations, as an id is the SHA-256 of the text that is sent. Apollo Client and
urql add __typename to what you wrote, plain adds nothing`),
      'apollo',
    )
    .option('--format <format>', "apollo, or codegen: graphql-codegen's persisted-documents.json", 'apollo')
    .option('--out <file>', 'where the manifest goes', 'persisted-operations.json')
    .addHelpText(
      'after',
      examples(
        'paygraph persist ../shop/src',
        'paygraph persist ../shop/src --client urql --out operations.json',
      ),
    )
    .action((places: string[], options) =>
      ends(async (context) => (await import('./commands/persist.js')).persist(context, places, options)),
    );
}
