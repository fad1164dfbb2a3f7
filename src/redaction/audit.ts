import { holdsCardNumber, containsPan } from './pan';
import { holdsToken } from './text';

/** What stands in the place of a value that could be a secret. */
export const HIDDEN = '[hidden]';
/** What stands at the end of a value that was too long. */
export const TRUNCATED = '[cut]';

/** So much of a text is looked at: far more than is ever kept, so that no card number is kept by half. */
const LOOKED_AT = 1024;

/** How long a character is as printable ASCII inside of a JSON text. */
function writtenLength(character: string): number {
  if (character === '"' || character === '\\') return 2;
  return /^[\x20-\x7e]$/.test(character) ? 1 : 6 * character.length;
}

/** Texts of which every character is one byte in the file. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength && PLAIN.test(text)) return text;
  let length = 0;
  let kept = '';
  for (const character of text) {
    length += writtenLength(character);
    if (length > maxLength) return `${kept}${TRUNCATED}`;
    kept += character;
  }
  return kept;
}

function scrubbedBy(holdsNumber: (text: string) => boolean, text: string, maxLength: number): string {
  const start = String(text).slice(0, LOOKED_AT);
  return holdsToken(start) || holdsNumber(start) ? HIDDEN : cut(start, maxLength);
}

/** A text as it may be put on record: no card number, and no longer than so many bytes in the file. */
export const redactForAudit = (text: string, maxLength: number): string =>
  scrubbedBy(holdsCardNumber, text, maxLength);

/**
 * A name as it may be put on record: of a caller, an operator, an idempotency key. Hidden where it holds a number that a card
 * scheme gives out, which is the rule by which the gateway refuses such names. The check digit alone would hide one numeric
 * name in ten.
 */
export const scrubbedName = (text: string, maxLength: number): string =>
  scrubbedBy(containsPan, text, maxLength);

/** A decimal as it may be put on record. Its two decimals are not counted among the digits of a card number. */
export function scrubbedDecimal(text: string, maxLength: number): string {
  const [whole = '', decimals, ...more] = String(text).split('.');
  const isDecimal = /^\d{1,15}$/.test(whole) && /^\d{2}$/.test(decimals ?? '') && more.length === 0;
  if (!isDecimal) return redactForAudit(text, maxLength);
  return holdsCardNumber(whole) ? HIDDEN : text;
}
