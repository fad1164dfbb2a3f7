import type { Environment } from '../config/env-reader';
import type { Terminal } from './terminal';

/** What every command is run with. */
export interface Context {
  terminal: Terminal;
  /** The settings; those of the process where this is undefined. */
  env: Environment | undefined;
}

/** How every command ends; docs/command-line.md says it to those who write scripts. */
export const EXIT = {
  /** What was asked for is done. */
  done: 0,
  /** It could not be done, or what was checked is not right. */
  failed: 1,
  /** The command was used wrongly: its arguments, the settings, or a file that is named there. */
  misused: 2,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

/** What was typed cannot be done; the message is for the person who typed it. */
export class UsageError extends Error {}

/** A file that was named cannot be used; the message is for the person who named it. */
export class InputError extends Error {}

/** A command gives up on a journal after this many milliseconds; a gateway, whose callers wait, does so much sooner. */
export const JOURNAL_TIMEOUT_MS = 15_000;
