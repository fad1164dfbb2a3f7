import type { Environment } from '../config/env-reader';
import type { Terminal } from './terminal';

/** Environment and streams of a command. */
export interface Context {
  terminal: Terminal;
  /** The environment variables; those of the process where this is undefined. */
  env: Environment | undefined;
}

/** Exit codes of all commands that are not servers; documented in docs/command-line.md. */
export const EXIT = {
  done: 0,
  /** The command failed, or what it checked has errors. */
  failed: 1,
  /** An argument, a setting or an input file is wrong. */
  misused: 2,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

/** An argument or option is wrong. The message is for the user; a hint to --help follows. */
export class UsageError extends Error {}

/** An input file or the value of an option cannot be used. The message is for the user. */
export class InputError extends Error {}

/** Timeout of a command for one journal request, in ms; the gateway's own is much shorter. */
export const JOURNAL_TIMEOUT_MS = 15_000;

/** The code of an error or of its cause, such as ECONNREFUSED. Unlike a message it contains no address and no secret. */
export function causeCode(error: unknown): string {
  const { code, name, cause } = Object(error) as { code?: unknown; name?: unknown; cause?: unknown };
  if (name === 'TimeoutError') return 'ETIMEDOUT';
  if (typeof code === 'string') return code;
  return cause === undefined ? 'unknown' : causeCode(cause);
}
