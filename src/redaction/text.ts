import { isIP } from 'node:net';
import { REDACTED } from '../shared/secret';
import { isPrintable } from '../shared/text';
import { isUuid } from '../shared/uuid';
import { isObject, snakeCase, wireText, type WireObject } from '../shared/wire-object';
import { findInDecodings, matchesOf, mergeSpans, replaceSpans, type Find } from './decodings';
import { containsPan, findCardNumbers } from './pan';

/**
 * Readers of the text fields of the payment service. Card numbers and tokens are redacted in free text, but not in numbers
 * that the payer pays to, of which one in ten looks like a card number by chance (docs/redaction.md has the table).
 */

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** JWTs, client keys of the gateway, and values of Authorization headers. */
const TOKENS =
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*|\bpgk_[\w-]{16,}|\b(?:bearer|basic)\s+[\w.~+/-]{8,}=*/gi;

const findTokens: Find = (text) => matchesOf(TOKENS, text);

/** Whether any reading of a text holds a token or client key. */
export const containsToken = (text: string): boolean => findInDecodings(text, findTokens).length > 0;

/** Shorter texts hold neither a card number nor a token. */
const MIN_LENGTH = 10;
/** Longer texts are redacted as a whole. */
const MAX_LENGTH = 8192;

/** Redacts card numbers and tokens in a text. */
export function redactText(text: string): string {
  if (text.length < MIN_LENGTH) return text;
  if (text.length > MAX_LENGTH) return REDACTED;
  const spans = findInDecodings(text, (reading) => [...findCardNumbers(reading), ...findTokens(reading)]);
  return replaceSpans(text, mergeSpans(spans), REDACTED);
}

export function redactFreeText(value: unknown): string | null {
  const text = wireText(value);
  return text === null ? null : redactText(text);
}

/** What the payer pays to or with, and identifiers of the client: unchanged. Null when a known secret was redacted in it. */
export function passThrough(value: unknown): string | null {
  const text = wireText(value);
  return text?.includes(REDACTED) ? null : text;
}

/** Whether a word may be a key, hash or ciphertext: long, with letters and digits mixed, and no UUID. */
const isOpaque = (word: string): boolean =>
  word.length >= 20 &&
  !isUuid(word) &&
  word.split(/[_-]/).some((part) => part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part));

/** An enum value of the service, such as a code or a type. */
export function parseEnumWord(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const isWord = text.length <= 64 && isPrintable(text) && redactText(text) === text;
  return isWord && !text.split(' ').some(isOpaque) ? text : REDACTED;
}

/** A status. The journal keeps it, so it must not be a number. */
export function readStatus(value: unknown): string | null {
  const word = parseEnumWord(value);
  return word === null || word.replace(/\P{N}/gu, '').length <= 2 ? word : REDACTED;
}

const MAX_MESSAGE = 1000;

/** An error message of the service or a provider, for people. */
export function readMessage(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const printable = text.slice(0, MAX_MESSAGE).toWellFormed().replace(CONTROL, ' ');
  return redactText(printable).replace(/[\w+/=-]{20,}/g, (word) => (isOpaque(word) ? REDACTED : word));
}

/** A reader that returns a text unchanged when it has the expected form, and as free text otherwise. */
const readForm =
  (hasForm: (text: string) => boolean) =>
  (value: unknown): string | null => {
    const text = wireText(value);
    return text !== null && hasForm(text) ? text : redactFreeText(value);
  };

/** A phone number of at most 15 digits (E.164). */
export const readPhone = readForm(
  (text) => /^\+?[\d ()-]{5,24}$/.test(text) && text.replace(/\D/g, '').length <= 15 && !containsPan(text),
);

export const readIp = readForm((text) => isIP(text) !== 0);

/** A point in time. */
export const readTime = readForm((text) =>
  /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i.test(text),
);

/** An amount or currency, unchanged; null for anything else. */
export function readMoney(value: unknown): string | null {
  const text = passThrough(value);
  if (text === null || /^[+-]?\d{1,11}(\.\d+)?$/.test(text)) return text;
  return text.length <= 40 && isPrintable(text) && !containsPan(text) ? text : null;
}

/** Digits that a masked card number may show: the first eight and the last four. */
const MAX_MASK_DIGITS = 12;

/** A masked card number; a full one is masked. Null for anything else. */
export function readCardMask(value: unknown): string | null {
  const text = wireText(value);
  if (text === null) return null;
  const bare = text.replace(/[^\p{L}\p{N}*•·.#]/gu, '');
  if (/^\d{12,19}$/.test(bare)) return `${bare.slice(0, 4)}${'*'.repeat(bare.length - 8)}${bare.slice(-4)}`;
  const shown = bare.replace(/\D/g, '').length;
  return shown <= MAX_MASK_DIGITS && redactText(text) === text ? text : null;
}

/** Values that are nested deeper are redacted. */
const MAX_DEPTH = 32;

/** Names of fields of a custom method that hold what the payer pays to. */
const PAYEE_FIELD =
  /(^|[_-])(account|account_?(number|no|id)|iban|virtual_?account|va_?number|upi_?id|vpa|phone|msisdn|wallet|address|qr|qr_?code|reference|payment_?code)$/i;

/** Whether an integer is beyond the precision of JSON numbers; it may be most of the digits of a card number. */
export const isInexact = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** Redacts a text. The field is '' for the name of a field. */
type RedactText = (text: string, field: string) => string;

/** Redacts the names and values of a JSON value. Returns the same object when nothing changes. */
export function redactJson(value: unknown, redact: RedactText, field = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return REDACTED;
  if (typeof value === 'string') return redact(value, field);
  if (typeof value === 'number')
    return !isInexact(value) && redact(String(value), field) === String(value) ? value : REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact, field, depth + 1));
  if (!isObject(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
    const shown = redact(name, '');
    const clean = redactJson(inner, redact, name, depth + 1);
    isChanged ||= shown !== name || clean !== inner;
    return [shown, clean];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

const redactFreeField: RedactText = (text, field) =>
  PAYEE_FIELD.test(snakeCase(field)) ? text : redactText(text);

/** The fields of a method without documented fields: names and values as free text, except what the payer pays to. */
export const readFreeFields = (value: unknown): WireObject | null =>
  isObject(value) ? (redactJson(value, redactFreeField) as WireObject) : null;
