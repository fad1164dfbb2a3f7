import os from 'node:os';
import process from 'node:process';
import { redactForAudit } from '../../redaction/audit';
import { isPrintable } from '../../shared/text';
import { UsageError } from '../context';

interface Operator {
  /** Name of the operating system user that runs the command. */
  userName: string;
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
    return { userName: os.userInfo().username, sudoUser, statedName };
  } catch {
    return { userName: `uid ${process.geteuid?.() ?? 'unknown'}`, sudoUser, statedName };
  }
}

/** Returns the trimmed value of --reason. @throws UsageError like parseRecordableText() */
export const parseReason = (reason: string): string => parseRecordableText('--reason', reason, 255);

/**
 * Trims the value of an option.
 * @throws UsageError if the value is blank, too long or not printable, or if the audit log would redact it
 */
function parseRecordableText(flag: string, value: string, maxLength: number): string {
  const trimmed = value.trim();
  if (trimmed.length === 0 || trimmed.length > maxLength || !isPrintable(trimmed))
    throw new UsageError(`${flag}: expected 1 to ${maxLength} characters, no control characters.`);
  if (redactForAudit(trimmed, 6 * maxLength) !== trimmed)
    throw new UsageError(`${flag}: must not contain a card number, a token or text that looks like one.`);
  return trimmed;
}

/**
 * Whether two operators may be the same person: they have a name (user or SUDO_USER) in common. Keeps operators from
 * approving their own proposals. Ignores the option --by, because anybody can write any name there.
 */
export function mayBeSamePerson(operator: Operator, other: Omit<Operator, 'statedName'>): boolean {
  const operatorUserNames = [operator.userName, operator.sudoUser].filter((userName) => userName !== null);
  return [other.userName, other.sudoUser].some(
    (userName) => userName !== null && operatorUserNames.includes(userName),
  );
}

/** Returns the name of an operating system user as the audit log records it, for example `operator:alice`. */
export const auditActorName = (userName: string): string => `operator:${userName}`;
