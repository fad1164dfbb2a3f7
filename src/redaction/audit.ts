import { REDACTED } from '../shared/secret';
import { containsCardNumber, containsPan } from './pan';
import { containsToken } from './text';

/** Replaces the end of a text that is too long. */
const TRUNCATED = '[cut]';

/** Characters of a text that are searched and kept: more than any field holds, so that no card number is cut in half. */
const MAX_SEARCHED = 1024;

/** Bytes of a character as printable ASCII in a JSON text. */
function writtenLength(character: string): number {
  if (character === '"' || character === '\\') return 2;
  return /^[\x20-\x7e]$/.test(character) ? 1 : 6 * character.length;
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function truncate(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && PLAIN.test(text)) return text;
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += writtenLength(character);
    if (bytes > maxBytes) return `${kept}${TRUNCATED}`;
    kept += character;
  }
  return kept;
}

function redactIf(containsNumber: (text: string) => boolean, text: string, maxBytes: number): string {
  const start = String(text).slice(0, MAX_SEARCHED);
  return containsToken(start) || containsNumber(start) ? REDACTED : truncate(start, maxBytes);
}

/** A text for the audit log: redacted when it may hold a card number or token, and truncated to a number of bytes. */
export const redactForAudit = (text: string, maxBytes: number): string =>
  redactIf(containsCardNumber, text, maxBytes);

/**
 * A name for the audit log: of a caller, an operator, an idempotency key. Redacted when it holds a number of a card scheme,
 * the rule by which the gateway rejects such names. The check digit alone would redact one numeric name in ten.
 */
export const redactNameForAudit = (text: string, maxBytes: number): string =>
  redactIf(containsPan, text, maxBytes);

/** A decimal for the audit log. Its two decimals do not count as digits of a card number. */
export function redactDecimalForAudit(text: string, maxBytes: number): string {
  const [, whole] = /^(\d{1,15})\.\d{2}$/.exec(text) ?? [];
  if (whole === undefined) return redactForAudit(text, maxBytes);
  return containsCardNumber(whole) ? REDACTED : text;
}
