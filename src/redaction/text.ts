import { isIP } from 'node:net';
import { REDACTED } from '../shared/secret';
import { CONTROL_CHARACTERS_PATTERN, isPrintable } from '../shared/text';
import { isUuid } from '../shared/uuid';
import { isObject, snakeCase, scalarToText, type WireObject } from '../shared/wire-object';
import { findInDecodings, findMatches, redactSpans, type Finder } from './decodings';
import { containsKnownSchemePan, findCardNumbers } from './pan';

// Reads text fields of payment service responses. A value that is no string, number or boolean becomes null. Card
// numbers and tokens are redacted in free text, but not in payment details such as account numbers, because one account
// number in ten looks like a card number by chance (table in docs/redaction.md).

/** Matches JWTs, client keys of the gateway, and credentials of an Authorization header (Bearer and Basic). */
const AUTH_TOKEN_PATTERN =
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*|\bpgk_[\w-]{16,}|\b(?:bearer|basic)\s+[\w.~+/-]{8,}=*/gi;

const findAuthTokens: Finder = (text) => findMatches(AUTH_TOKEN_PATTERN, text);

/** Whether a text, as written or decoded, contains a token: a match of AUTH_TOKEN_PATTERN. */
export const containsAuthToken = (text: string): boolean => findInDecodings(text, findAuthTokens).length > 0;

/**
 * Minimum length of a text that is searched; a shorter one cannot contain a secret. A character such as ⅒ (1/10) stands
 * for three digits, so four such characters can be a card number of 12 digits.
 */
const MIN_SEARCHED_LENGTH = 4;
/** Maximum length of a text that is searched; longer texts are redacted as a whole. */
const MAX_SEARCHED_LENGTH = 8192;

/** Redacts the card numbers and tokens in a text, or the whole text if it is longer than MAX_SEARCHED_LENGTH. */
export function redactText(text: string): string {
  if (text.length < MIN_SEARCHED_LENGTH) return text;
  if (text.length > MAX_SEARCHED_LENGTH) return REDACTED;
  const spans = findInDecodings(text, (decoded) => [...findCardNumbers(decoded), ...findAuthTokens(decoded)]);
  return redactSpans(text, spans);
}

/** Reads a free text. Redacts the card numbers and tokens in it. */
export function redactFreeText(value: unknown): string | null {
  const text = scalarToText(value);
  return text === null ? null : redactText(text);
}

/**
 * Returns a payment detail or client identifier as text, without searching it for card numbers or tokens. Returns null
 * if the value is no string, number or boolean, or if redactResponse() has already redacted a part of it.
 */
export function readVerbatim(value: unknown): string | null {
  const text = scalarToText(value);
  return text?.includes(REDACTED) ? null : text;
}

/** Whether a word may be a key, hash or ciphertext: it is long, contains letters and digits, and is no UUID. */
const isOpaqueWord = (word: string): boolean =>
  word.length >= 20 &&
  !isUuid(word) &&
  word.split(/[_-]/).some((part) => part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part));

/**
 * Reads an enum value of the service, such as an error code or a method type. Redacts a text that does not look like an
 * enum value, because it may be a secret.
 */
export function redactUnlessEnumValue(value: unknown): string | null {
  const text = scalarToText(value);
  if (text === null) return null;
  const mayBeEnumValue = text.length <= 64 && isPrintable(text) && redactText(text) === text;
  return mayBeEnumValue && !text.split(' ').some(isOpaqueWord) ? text : REDACTED;
}

/** Reads the status of a transaction. Redacts a status with more than two digits: they may be part of a secret. */
export function readTransactionStatus(value: unknown): string | null {
  const status = redactUnlessEnumValue(value);
  return status === null || status.replace(/\P{N}/gu, '').length <= 2 ? status : REDACTED;
}

const MAX_SERVICE_MESSAGE_LENGTH = 1000;

/** Truncates a long text before the word or number at the limit. A part of a card number would not be recognised. */
const truncateAtWord = (text: string): string =>
  text.length <= MAX_SERVICE_MESSAGE_LENGTH
    ? text
    : text.slice(0, MAX_SERVICE_MESSAGE_LENGTH).replace(/(?:[\d\s.-]+|\S+)$/, '');

/** Reads an error message of the service. Truncates it. Redacts card numbers, tokens and words that may be keys. */
export function readServiceMessage(value: unknown): string | null {
  const text = scalarToText(value);
  if (text === null) return null;
  const printable = truncateAtWord(text).toWellFormed().replace(CONTROL_CHARACTERS_PATTERN, ' ');
  return redactText(printable).replace(/[\w+/=-]{20,}/g, (word) => (isOpaqueWord(word) ? REDACTED : word));
}

/**
 * Creates a function that reads a text. If the text does not have the expected form, the function redacts card numbers
 * and tokens in it.
 */
const redactUnless =
  (hasExpectedForm: (text: string) => boolean) =>
  (value: unknown): string | null => {
    const text = scalarToText(value);
    return text !== null && hasExpectedForm(text) ? text : redactFreeText(value);
  };

/**
 * Reads a phone number. Returns a number of up to 15 digits unchanged, unless it contains a card number of a known
 * scheme. In any other text, redacts card numbers and tokens.
 */
export const redactUnlessPhone = redactUnless(
  (text) =>
    /^\+?[\d ()-]{5,24}$/.test(text) && text.replace(/\D/g, '').length <= 15 && !containsKnownSchemePan(text),
);

/** Reads an IP address. Redacts card numbers and tokens in any other text. */
export const redactUnlessIp = redactUnless((text) => isIP(text) !== 0);

/** Reads a date, or a date with a time (ISO 8601). Redacts card numbers and tokens in any other text. */
export const redactUnlessTime = redactUnless((text) =>
  /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i.test(text),
);

/**
 * Reads an amount or currency. A number with at most 11 digits before the decimal point and three after it is returned
 * unchanged. Any other text becomes null if it is too long, is not printable, or has a card number of a known scheme.
 */
export function readAmountOrCurrency(value: unknown): string | null {
  const text = readVerbatim(value);
  if (text === null || /^[+-]?\d{1,11}(\.\d{1,3})?$/.test(text)) return text;
  return text.length <= 40 && isPrintable(text) && !containsKnownSchemePan(text) ? text : null;
}

/** Maximum number of digits that a masked card number may show: the first eight and the last four. */
const MAX_SHOWN_DIGITS = 12;

/**
 * Reads a masked card number. Masks a number of 12 to 19 digits. Returns null for any other text with more than 12
 * digits, and for a text that redactText() would change.
 */
export function readMaskedCardNumber(value: unknown): string | null {
  const text = scalarToText(value);
  if (text === null) return null;
  const digitsAndMask = text.replace(/[^\p{L}\p{N}*•·.#]/gu, '');
  if (/^\d{12,19}$/.test(digitsAndMask))
    return `${digitsAndMask.slice(0, 4)}${'*'.repeat(digitsAndMask.length - 8)}${digitsAndMask.slice(-4)}`;
  const shownDigitCount = digitsAndMask.replace(/\D/g, '').length;
  return shownDigitCount <= MAX_SHOWN_DIGITS && redactText(text) === text ? text : null;
}

/** Maximum depth of a nested JSON value; deeper values are redacted. */
const MAX_JSON_DEPTH = 32;

/** Matches snake_case names of fields that tell the payer where to pay. readUndocumentedFields() keeps their values. */
const UNREDACTED_PAYEE_FIELD_PATTERN =
  /(^|[_-])(account|account_?(number|no|id)|iban|virtual_?account|va_?number|upi_?id|vpa|phone|msisdn|wallet|address|qr|qr_?code|reference|payment_?code)$/i;

/** Whether a value is an integer too large for an exact JavaScript number. It may be a rounded card number. */
export const isInexactInteger = (value: unknown): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value);

/** Redacts a text. `fieldName` is the name of the field with the text; '' if the text is itself a field name. */
type RedactText = (text: string, fieldName: string) => string;

/**
 * Redacts field names, strings and numbers in a JSON value. Returns a copy if the value has arrays or something was
 * redacted, otherwise the value itself.
 */
export function redactJsonValue(value: unknown, redact: RedactText, fieldName = '', depth = 0): unknown {
  if (depth > MAX_JSON_DEPTH) return REDACTED;
  if (typeof value === 'string') return redact(value, fieldName);
  if (typeof value === 'number')
    return !isInexactInteger(value) && redact(String(value), fieldName) === String(value) ? value : REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactJsonValue(item, redact, fieldName, depth + 1));
  if (!isObject(value)) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([name, innerValue]): [string, unknown] => {
    const redactedName = redact(name, '');
    const redactedValue = redactJsonValue(innerValue, redact, name, depth + 1);
    isChanged ||= redactedName !== name || redactedValue !== innerValue;
    return [redactedName, redactedValue];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

const redactUndocumentedField: RedactText = (text, fieldName) =>
  UNREDACTED_PAYEE_FIELD_PATTERN.test(snakeCase(fieldName)) ? text : redactText(text);

/**
 * Reads an object of undocumented fields; null if `value` is no object. Redacts card numbers and tokens, except in
 * fields whose name matches UNREDACTED_PAYEE_FIELD_PATTERN.
 */
export const readUndocumentedFields = (value: unknown): WireObject | null =>
  isObject(value) ? (redactJsonValue(value, redactUndocumentedField) as WireObject) : null;
