import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config';
import { JournalUnavailable } from '../datasources/journal/journal';
import { classifyJournalError, journalErrorText } from '../datasources/journal/journal-error';
import { JournalOpenError } from '../datasources/journal/journal-open-error';
import { defineAttemptCommands } from './attempts-definitions';
import { defineClientKeyCommands } from './client-key-definitions';
import {
  defineAuditCommands,
  defineDevTokenCommand,
  defineMigrateAndFenceCommands,
  definePersistCommand,
  defineServerAndDoctorCommands,
  type CreateAction,
} from './command-definitions';
import { defineChangesAndReconcileCommands } from './finance-definitions';
import { EXIT_CODE, InputError, UsageError, type CommandContext } from './context';
import type { Terminal } from './terminal';

const HELP_WIDTH = 100;

const HELP_HINT = '\nSee paygraph --help or paygraph <command> --help.';

const EXIT_CODES_HELP = `
Exit codes:
  0    success
  1    the command failed, or it found errors in what it checked
  2    an argument, a setting or an input file is wrong
  130  interrupted (Ctrl+C)

Results are printed to standard output, messages to standard error.`;

function packageVersion(): string {
  const packageJsonText = readFileSync(path.resolve(__dirname, '../../package.json'), 'utf8');
  return (JSON.parse(packageJsonText) as { version: string }).version;
}

/** Returns the command line parser with the help of all commands. docs/command-line.md is generated from the help. */
export function createCommandLineParser(
  terminal: Pick<Terminal, 'print' | 'printMessage'>,
  createAction: CreateAction,
): Command {
  const program = new Command('paygraph')
    .description('A GraphQL gateway in front of a REST payments and payouts service.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printMessage(text.trimEnd()),
      // Make the help independent of the terminal's width and colours.
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .helpCommand('help [command]', 'print the help of a command')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', EXIT_CODES_HELP)
    .showHelpAfterError(HELP_HINT)
    .exitOverride();
  defineServerAndDoctorCommands(program, createAction);
  defineMigrateAndFenceCommands(program, createAction);
  defineAttemptCommands(program, createAction);
  defineChangesAndReconcileCommands(program, createAction);
  defineClientKeyCommands(program, createAction);
  defineDevTokenCommand(program, createAction);
  defineAuditCommands(program, createAction);
  definePersistCommand(program, createAction);
  return program;
}

/** Prints an error and returns the exit code of the command. */
function reportError(error: unknown, terminal: Terminal): number {
  // Commander has already printed the message of a CommanderError.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE.done : EXIT_CODE.misused;
  terminal.printMessage(errorText(error));
  if (error instanceof UsageError) terminal.printMessage(HELP_HINT);
  const isUserError = [UsageError, InputError, ConfigError].some((errorClass) => error instanceof errorClass);
  return isUserError ? EXIT_CODE.misused : EXIT_CODE.failed;
}

function errorText(error: unknown): string {
  if (error instanceof JournalUnavailable)
    return `The journal is unavailable: ${journalErrorText(classifyJournalError(error))}.`;
  if (!(error instanceof Error)) return String(error);
  // Do not add the cause's message: it may quote a connection string. A JournalOpenError already contains the reason.
  const causeCode = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return causeCode === undefined || error instanceof JournalOpenError
    ? error.message
    : `${error.message} (${causeCode})`;
}

/** Runs a command other than `start` and `sandbox`, and resolves with its exit code. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  let exitCode: number = EXIT_CODE.done;
  const createAction: CreateAction =
    (loadModule, functionName) =>
    async (...actionArgs) => {
      const commandFunction = (await loadModule())[functionName];
      exitCode = (await commandFunction(context, ...(actionArgs as never[]))) ?? EXIT_CODE.done;
    };
  try {
    await createCommandLineParser(context.terminal, createAction).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportError(error, context.terminal);
  } finally {
    context.terminal.endProgress();
  }
}
