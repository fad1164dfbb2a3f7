import os from 'node:os';
import process from 'node:process';
import { redactForAudit } from '../../redaction/audit';
import { isPrintable } from '../../shared/text';
import { UsageError } from '../context';

interface Operator {
  /** Name of the operating system user that runs the command. */
  user: string;
  /** The environment variable SUDO_USER, which the user can forge; null if it is not set. */
  sudoUser: string | null;
  /** Name in the option --by, for people who share an account. Null if the option is not given. */
  statedName: string | null;
}

/**
 * Returns the operator who runs this process. A user without a name in the user database is called `uid <number>`.
 * @param byValue value of the option --by
 * @throws UsageError if `byValue` is blank, too long or not printable, or if the audit log would redact it
 */
export function readOperator(sudoUser: string | null, byValue: string | undefined): Operator {
  const statedName = byValue === undefined ? null : parseRecordableText('--by', byValue, 64);
  try {
    return { user: os.userInfo().username, sudoUser, statedName };
  } catch {
    return { user: `uid ${process.geteuid?.() ?? 'unknown'}`, sudoUser, statedName };
  }
}

/** Returns the trimmed value of --reason. @throws UsageError like parseRecordableText() */
export const parseReason = (reason: string): string => parseRecordableText('--reason', reason, 255);

/**
 * Trims the value of an option.
 * @throws UsageError if the value is blank, too long or not printable, or if the audit log would redact it
 */
function parseRecordableText(option: string, value: string, maxLength: number): string {
  const text = value.trim();
  if (text.length === 0 || text.length > maxLength || !isPrintable(text))
    throw new UsageError(`${option}: expected 1 to ${maxLength} characters, no control characters.`);
  if (redactForAudit(text, 6 * maxLength) !== text)
    throw new UsageError(`${option}: must not contain a card number, a token or text that looks like one.`);
  return text;
}

/**
 * Whether two operators may be the same person: they have a name (user or SUDO_USER) in common. Keeps operators from
 * approving their own proposals. Ignores the option --by, because anybody can write any name there.
 */
export function mayBeSamePerson(one: Operator, other: Omit<Operator, 'statedName'>): boolean {
  const userNames = [one.user, one.sudoUser].filter((userName) => userName !== null);
  return userNames.includes(other.user) || (other.sudoUser !== null && userNames.includes(other.sudoUser));
}

/** Returns the name of an operating system user as the audit log records it, for example `operator:alice`. */
export const toAuditActor = (user: string): string => `operator:${user}`;
