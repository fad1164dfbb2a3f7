import { isIP } from 'node:net';
import { findCardNumbers, containsPan } from './pan';
import { findInDecodings, joined, matchesOf, replaceSpans, type Find } from './decodings';
import { isPrintable } from '../shared/text';
import { isWireObject, snakeCase, wireText, type WireObject } from '../shared/wire-object';

/**
 * How texts of the service are read before a caller sees them. A free text may hold what it should not, so card numbers
 * and tokens in it are hidden; a number that the payer pays to is never touched, although one in ten looks like a card
 * number by chance. Each field says which it is (docs/security.md has the table); whoever says nothing is a free text.
 */

/** What stands in the place of what must not be shown. */
export const HIDDEN = '[redacted]';

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** What opens a door: a JWT, a client key of the gateway, an Authorization header. */
const TOKENS =
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*|\bpgk_[\w-]{16,}|\b(?:bearer|basic)\s+[\w.~+/-]{8,}=*/gi;

const findTokens: Find = (text) => matchesOf(TOKENS, text);

/** Whether a text holds a token or a key of a client. */
export const holdsToken = (text: string): boolean => findInDecodings(text, findTokens).length > 0;

/** Shorter than any of them. */
const MIN_TOKEN = 10;

/** Longer than any text that is meant for people. */
const MAX_TEXT = 8192;

/** A free text without card numbers and tokens. */
export function hideNumbers(text: string): string {
  if (text.length < MIN_TOKEN) return text;
  if (text.length > MAX_TEXT) return HIDDEN;
  const spans = findInDecodings(text, (reading) => [...findCardNumbers(reading), ...findTokens(reading)]);
  return replaceSpans(text, joined(spans), HIDDEN);
}

/** Any free text. */
export function redactFreeText(value: unknown): string | null {
  const text = wireText(value);
  return text === null ? null : hideNumbers(text);
}

/** What the payer pays to or with, and identifiers of the client's own: as it came. A text of which a part is hidden is of no use. */
export function passThrough(value: unknown): string | null {
  const text = wireText(value);
  return text?.includes(HIDDEN) ? null : text;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a long word is no word of any language but a key, a hash or a cipher: letters and digits without a break. */
const isOpaque = (word: string): boolean =>
  word.length >= 20 &&
  !UUID.test(word) &&
  word.split(/[_-]/).some((part) => part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part));

/** A word from a list of the service's own: a code, a type. */
export function parseEnumWord(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const isWord = text.length <= 64 && isPrintable(text) && hideNumbers(text) === text;
  return isWord && !text.split(' ').some(isOpaque) ? text : HIDDEN;
}

/** A status: the journal keeps it, so it is a word, and no number that passes for one. */
export function readStatus(value: unknown): string | null {
  const word = parseEnumWord(value);
  return word === null || word.replace(/\P{N}/gu, '').length <= 2 ? word : HIDDEN;
}

const MAX_MESSAGE = 1000;

/** What a provider or the service says went wrong: in the words of a language, and no more than a few lines. */
export function readMessage(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const printable = text.slice(0, MAX_MESSAGE).toWellFormed().replace(CONTROL, ' ');
  return hideNumbers(printable).replace(/[\w+/=-]{20,}/g, (word) => (isOpaque(word) ? HIDDEN : word));
}

/** A free text, unless it has the form of such a field. */
const formOrFreeText =
  (hasForm: (text: string) => boolean) =>
  (value: unknown): string | null => {
    const text = wireText(value);
    return text !== null && hasForm(text) ? text : redactFreeText(value);
  };

/** A phone number of at most 15 digits (E.164). */
export const readPhone = formOrFreeText(
  (text) => /^\+?[\d ()-]{5,24}$/.test(text) && text.replace(/\D/g, '').length <= 15 && !containsPan(text),
);

/** An IP address. */
export const readIp = formOrFreeText((text) => isIP(text) !== 0);

/** A point in time. */
export const readTime = formOrFreeText((text) =>
  /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i.test(text),
);

/** A number or a currency as it came; null for what holds something else. */
export function readMoney(value: unknown): string | null {
  const text = passThrough(value);
  if (text === null || /^[+-]?\d{1,11}(\.\d+)?$/.test(text)) return text;
  return text.length <= 40 && isPrintable(text) && !containsPan(text) ? text : null;
}

/** The first eight and the last four at most. */
const MAX_SHOWN = 12;

/** A masked card number; a full one is masked here. Null for what is neither. */
export function readCardMask(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const bare = text.replace(/[^\p{L}\p{N}*•·.#]/gu, '');
  if (/^\d{12,19}$/.test(bare)) return `${bare.slice(0, 4)}${'*'.repeat(bare.length - 8)}${bare.slice(-4)}`;
  const shown = bare.replace(/\D/g, '').length;
  return shown <= MAX_SHOWN && hideNumbers(text) === text ? text : null;
}

/** Deeper than anything that is documented; what is deeper is not shown. */
const MAX_DEPTH = 32;

/** Names in a custom method's fields under which stands what the payer pays to. */
const PAID_TO =
  /(^|[_-])(account|account_?(number|no|id)|iban|virtual_?account|va_?number|upi_?id|vpa|phone|msisdn|wallet|address|qr|qr_?code|reference|payment_?code)$/i;

/** A whole number with more digits than JSON numbers have: it is another one already, and may be most of a card number. */
export const isInexact = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** A JSON value with every name and every text read as free text, but for those that name what the payer pays to. */
function hideInJson(value: unknown, paidTo: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) return HIDDEN;
  if (typeof value === 'string') return paidTo ? value : hideNumbers(value);
  if (typeof value === 'number')
    return paidTo || hideNumbers(String(value)) === String(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((inner) => hideInJson(inner, paidTo, depth + 1));
  if (!isWireObject(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => {
    const shownName = hideNumbers(name);
    return [shownName, hideInJson(inner, PAID_TO.test(snakeCase(name)), depth + 1)];
  });
  return Object.fromEntries(fields) as WireObject;
}

/** The fields of a method whose fields are not documented. */
export const readFreeFields = (value: unknown): WireObject | null =>
  isWireObject(value) ? (hideInJson(value, false, 0) as WireObject) : null;
