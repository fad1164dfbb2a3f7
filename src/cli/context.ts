import type { Environment } from '../config/env-reader';
import type { Terminal } from './terminal';

/** Environment variables and output streams of a command. */
export interface CommandContext {
  terminal: Terminal;
  /** The environment variables. Undefined: those of this process. */
  env: Environment | undefined;
}

/** Exit codes of all commands except the servers `start` and `sandbox`; documented in docs/command-line.md. */
export const EXIT_CODE = {
  done: 0,
  /** The command failed, or it found errors in what it checked. */
  failed: 1,
  /** An argument, a setting or an input file is wrong. */
  misused: 2,
  /** The user pressed Ctrl+C. */
  interrupted: 130,
} as const;

/**
 * Thrown if an argument or option is wrong, or a required setting is missing. The command line prints the message and a
 * hint to --help. Exit code: EXIT_CODE.misused.
 */
export class UsageError extends Error {}

/**
 * Thrown instead of a UsageError if --help would not help the user. For example, a file cannot be read, or the value of
 * an option does not fit the data. The command line prints only the message. Exit code: EXIT_CODE.misused.
 */
export class InputError extends Error {}

/** Time limit in ms of a command's journal request. The gateway's limit (DEFAULT_TIME_LIMIT_MS) is much shorter. */
export const JOURNAL_TIMEOUT_MS = 15_000;
