import os from 'node:os';
import process from 'node:process';
import { redactForAudit } from '../../redaction/audit';
import { isPrintable } from '../../shared/text';
import { UsageError } from '../context';

/** The person who runs a command. */
export interface Operator {
  /** The user of the operating system. */
  user: string;
  /** SUDO_USER, which can be forged; null where it is not set. */
  sudoUser: string | null;
  /** --by, for people who share an account; null without it. */
  givenName: string | null;
}

/** Maximum lengths of --reason and --by in UTF-16 units. */
const MAX_REASON = 255;
const MAX_NAME = 64;

/** The operator who runs this process. A user without an entry in the password file is named by number. */
export function readOperator(sudoUser: string | null, givenName: string | null): Operator {
  try {
    return { user: os.userInfo().username, sudoUser, givenName };
  } catch {
    return { user: `uid ${process.geteuid?.() ?? 'unknown'}`, sudoUser, givenName };
  }
}

/** Reads --by. @throws UsageError where it cannot be recorded in the audit log */
export const readName = (by: string | undefined): string | null =>
  by === undefined ? null : recordableText('--by', by, MAX_NAME);

/** Reads --reason. @throws UsageError where it cannot be recorded in the audit log */
export const readReason = (reason: string): string => recordableText('--reason', reason, MAX_REASON);

function recordableText(option: string, given: string, maxLength: number): string {
  const text = given.trim();
  if (text.length === 0 || text.length > maxLength || !isPrintable(text))
    throw new UsageError(`${option}: expected 1 to ${maxLength} characters, and no control characters.`);
  if (redactForAudit(text, 6 * maxLength) !== text)
    throw new UsageError(`${option}: expected no card number and no token.`);
  return text;
}

/** Whether two operators may be one person: they have the same user, or one of them used sudo as the other. */
export function mayBeSamePerson(one: Operator, other: Operator): boolean {
  const names = [one.user, one.sudoUser].filter((name) => name !== null);
  return names.includes(other.user) || (other.sudoUser !== null && names.includes(other.sudoUser));
}

/** An operator in the audit log. */
export const auditName = (user: string): string => `operator:${user}`;
