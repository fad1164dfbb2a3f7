import os from 'node:os';
import process from 'node:process';
import { redactForAudit } from '../../redaction/audit';
import { isPrintable } from '../../shared/text';
import { UsageError } from '../context';

/** The person who runs an operator's command. */
export interface Operator {
  /** The user of the operating system. */
  user: string;
  /** SUDO_USER; null where there is none. The environment says it, so it can be forged. */
  sudoUser: string | null;
  /** The name that was typed, where several people share an account. */
  givenName: string | null;
}

/** The longest reason and the longest name, in UTF-16 units. */
const MAX_REASON = 255;
const MAX_NAME = 64;

/** The user that this process runs as. A user without an entry in the password file is named by number. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}

/** The user of the operating system, with the names that go with it. */
export const readOperator = (sudoUser: string | null, givenName: string | null): Operator => ({
  user: userName(),
  sudoUser,
  givenName,
});

/** The operator's name as it was typed; null without one. Throws a UsageError where it cannot be recorded. */
export const readName = (by: string | undefined): string | null =>
  by === undefined ? null : recordableText('--by', by, MAX_NAME);

/** The reason of an operator's act. Throws a UsageError where it is missing or cannot be recorded. */
export const readReason = (reason: string): string => recordableText('--reason', reason, MAX_REASON);

function recordableText(option: string, given: string, maxLength: number): string {
  const text = given.trim();
  if (text.length === 0 || text.length > maxLength || !isPrintable(text))
    throw new UsageError(`${option}: expected 1 to ${maxLength} characters, and no control characters.`);
  // A reason that the audit log would redact is refused.
  if (redactForAudit(text, 6 * maxLength) !== text)
    throw new UsageError(`${option}: it holds what looks like a card number or a token.`);
  return text;
}

/** Whether two operators may be one person: they share a user, or one of them came by sudo from the other. */
export function mayBeSamePerson(one: Operator, other: Operator): boolean {
  const names = [one.user, one.sudoUser].filter((name) => name !== null);
  return names.includes(other.user) || (other.sudoUser !== null && names.includes(other.sudoUser));
}

/** An operator in the audit log. */
export const auditName = ({ user }: Pick<Operator, 'user'>): string => `operator:${user}`;
