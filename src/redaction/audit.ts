import { REDACTED } from '../shared/secret';
import { containsCardNumber, containsPan } from './pan';
import { containsToken } from './text';

/** Replaces the end of a text that is too long. */
const TRUNCATION_MARK = '[cut]';

/** Number of characters that are searched and kept. It exceeds the length of every field, so no card number is cut. */
const MAX_SEARCHED_CHARACTERS = 1024;

/** Returns the number of bytes of a character in the audit log, where all but printable ASCII is escaped as in JSON. */
function escapedLength(character: string): number {
  if (character === '"' || character === '\\') return 2;
  return /^[\x20-\x7e]$/.test(character) ? 1 : 6 * character.length;
}

/** Matches a text whose characters all have an escaped length of 1. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

function truncate(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && UNESCAPED.test(text)) return text;
  let byteCount = 0;
  let kept = '';
  for (const character of text) {
    byteCount += escapedLength(character);
    if (byteCount > maxBytes) return `${kept}${TRUNCATION_MARK}`;
    kept += character;
  }
  return kept;
}

function redactOrTruncate(containsNumber: (text: string) => boolean, text: string, maxBytes: number): string {
  const start = String(text).slice(0, MAX_SEARCHED_CHARACTERS);
  return containsToken(start) || containsNumber(start) ? REDACTED : truncate(start, maxBytes);
}

/** Returns a text for the audit log. Redacts it if it may contain a card number or token; otherwise truncates it. */
export const redactForAudit = (text: string, maxBytes: number): string =>
  redactOrTruncate(containsCardNumber, text, maxBytes);

/**
 * Returns an idempotency key, or the name of a caller or operator, for the audit log. Redacts it only if it contains a
 * token or a card number of a known scheme, because one numeric name in ten passes the Luhn check by chance.
 */
export const redactNameForAudit = (text: string, maxBytes: number): string =>
  redactOrTruncate(containsPan, text, maxBytes);

/** Returns a decimal number for the audit log. A card number is searched for only before the decimal point. */
export function redactDecimalForAudit(text: string, maxBytes: number): string {
  const [, whole] = /^(\d{1,15})\.\d{2}$/.exec(text) ?? [];
  if (whole === undefined) return redactForAudit(text, maxBytes);
  return containsCardNumber(whole) ? REDACTED : text;
}
