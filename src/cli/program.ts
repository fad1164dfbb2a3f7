import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config';
import { JournalUnavailable } from '../datasources/journal/journal';
import { faultOf, faultText } from '../datasources/journal/journal-error';
import { JournalOpenError } from '../datasources/journal/journal-open-error';
import { EXIT, InputError, UsageError, type Context } from './context';
import { declareAttempts } from './declare-attempts';
import { declareClientKey } from './declare-client-key';
import { declareDevToken } from './declare-dev-token';
import {
  declareAudit,
  declareDoctor,
  declareJournal,
  declarePersist,
  declareServers,
  type Declaring,
} from './command-definitions';
import type { Terminal } from './terminal';

const HELP_WIDTH = 100;

const HELP_HINT = '\npaygraph --help, or paygraph <command> --help, says what can be typed.';

const EXIT_CODES = `
Exit codes:
  0    what was asked for is done
  1    it could not be done, or what was checked is not right
  2    the command was used wrongly: its arguments, the settings, or a file that is named there
  130  it was interrupted (Ctrl+C)

Results go to standard output, everything else to standard error. In a checkout \`npm run <command> -- …\` is the same.`;

/** The version in package.json. */
function version(): string {
  const text = readFileSync(path.resolve(__dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Says a mistake as all messages are said: "Unknown option '--x'." in the place of "error: unknown option '--x'". */
function inOurWords(text: string): string {
  const [, first = '', rest = ''] = /^(?:error: )?(.)([^]*)$/.exec(text) ?? [];
  return first.toUpperCase() + rest;
}

/** Every command, what it takes and what its help says; docs/command-line.md is made from it. */
export function commandLine(terminal: Pick<Terminal, 'print' | 'say'>, declaring: Declaring): Command {
  const withoutEnd = (text: string): string => text.replace(/\n+$/, '');
  const program = new Command('paygraph')
    .description('A GraphQL gateway in front of a REST payments and payouts service.')
    .option('-V, --version', 'print the version')
    .on('option:version', () => {
      terminal.print(version());
      throw new CommanderError(EXIT.done, 'version', '');
    })
    .configureOutput({
      writeOut: (text) => terminal.print(withoutEnd(text)),
      writeErr: (text) => terminal.say(withoutEnd(text)),
      outputError: (text, write) => write(inOurWords(text)),
      // The same for everybody: in the documentation, too.
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .helpCommand('help [command]', 'print the help of a command')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError(HELP_HINT)
    .exitOverride();
  declareServers(program, declaring);
  declareDoctor(program, declaring);
  declareJournal(program, declaring);
  declareAttempts(program, declaring);
  declareClientKey(program, declaring);
  declareDevToken(program, declaring);
  declareAudit(program, declaring);
  declarePersist(program, declaring);
  return program;
}

/** The exit code of what went wrong, after it was said. */
function failed(error: unknown, terminal: Terminal): number {
  // Its message has been said already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misused;
  if (error instanceof JournalUnavailable) {
    terminal.say(`The journal fails: ${faultText(faultOf(error))}.`);
    return EXIT.failed;
  }
  // Its code alone: the message of a driver may hold a part of an address that was misread.
  const hasCode = error instanceof InputError || error instanceof JournalOpenError;
  const code = error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const cause = code ? ` (${code})` : '';
  terminal.say(error instanceof Error ? error.message + (hasCode ? '' : cause) : String(error));
  if (error instanceof UsageError) terminal.say(HELP_HINT);
  const isMisused = [UsageError, InputError, ConfigError].some((kind) => error instanceof kind);
  return isMisused ? EXIT.misused : EXIT.failed;
}

/**
 * Runs what was typed. Resolves with the exit code, or with null where a server was started, which ends the process itself.
 * @param beforeServing is called before a server starts: from then on signals and streams are its own
 */
export async function runCommand(
  args: readonly string[],
  context: Context,
  beforeServing: () => void = () => undefined,
): Promise<number | null> {
  let code: number | null = EXIT.done;
  const program = commandLine(context.terminal, {
    ends: async (run) => {
      code = await run(context);
    },
    serves: async (run) => {
      beforeServing();
      code = null;
      await run();
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return failed(error, context.terminal);
  } finally {
    context.terminal.endProgress();
  }
}
