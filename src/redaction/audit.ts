import { REDACTED } from '../shared/secret';
import { containsCardNumber, containsKnownSchemePan } from './pan';
import { containsAuthToken } from './text';

/** Appended to a truncated text. Not counted in `maxBytes`. */
const TRUNCATION_MARK = '[cut]';

/**
 * Number of characters, from the start of a text, that are searched for secrets. The rest of the text is dropped,
 * because audit fields are shorter.
 */
const SEARCHED_PREFIX_LENGTH = 1024;

/** Returns the number of bytes of a character in the audit log, which is ASCII: é becomes \u00e9, 6 bytes. */
function escapedByteLength(character: string): number {
  if (character === '"' || character === '\\') return 2;
  return /^[\x20-\x7e]$/.test(character) ? 1 : 6 * character.length;
}

/** Matches a text without characters that are escaped in the audit log. */
const UNESCAPED_TEXT_PATTERN = /^[ !#-[\]-~]*$/;

function truncateForAudit(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && UNESCAPED_TEXT_PATTERN.test(text)) return text;
  let byteCount = 0;
  let keptText = '';
  for (const character of text) {
    byteCount += escapedByteLength(character);
    if (byteCount > maxBytes) return `${keptText}${TRUNCATION_MARK}`;
    keptText += character;
  }
  return keptText;
}

const createAuditRedactor =
  (containsPan: (text: string) => boolean) =>
  <T extends string | null | undefined>(text: T, maxBytes: number): T | string => {
    if (text === null || text === undefined) return text;
    const searched = String(text).slice(0, SEARCHED_PREFIX_LENGTH);
    return containsAuthToken(searched) || containsPan(searched)
      ? REDACTED
      : truncateForAudit(searched, maxBytes);
  };

/**
 * Prepares a text for the audit log. Returns [redacted] if the text contains a card number or token; otherwise the
 * text, truncated to `maxBytes`. Returns null and undefined unchanged.
 */
export const redactForAudit = createAuditRedactor(containsCardNumber);

/**
 * Redacts or truncates an idempotency key, or the name of a caller or operator. Unlike redactForAudit(), ignores card
 * numbers of unknown schemes, because one numeric name in ten passes the Luhn check by chance.
 */
export const redactIdentifierForAudit = createAuditRedactor(containsKnownSchemePan);

/**
 * Redacts an amount if it contains a card number. If the amount has at most 15 digits before the decimal point and two
 * after it, only the digits before the point are searched.
 */
export function redactDecimalForAudit(text: string, maxBytes: number): string {
  const [, integerDigits] = /^(\d{1,15})\.\d{2}$/.exec(text) ?? [];
  if (integerDigits === undefined) return redactForAudit(text, maxBytes);
  return containsCardNumber(integerDigits) ? REDACTED : text;
}
