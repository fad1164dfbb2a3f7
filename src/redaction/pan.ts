import { passesLuhn } from '../shared/luhn';
import { findInDecodings, NO_SPANS, type Finder, type Span } from './decodings';

// Finds card numbers (PANs, primary account numbers) in texts, even if their digits are grouped or encoded.

const MIN_PAN_DIGITS = 12;
const MAX_PAN_DIGITS = 19;

/** Whether a text has at least 12 digits, wherever they are. Excludes most texts from the slower search. */
const hasEnoughPanDigits = (text: string): boolean => /(?:\d\D*){12}/.test(text);

/**
 * Matches one group of digits, or several groups that are separated by one to three characters other than letters and
 * digits. Examples: "4111 1111", "4111 - 1111".
 */
const DIGIT_RUN_PATTERN = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;

const isValidPan = (digits: string): boolean =>
  digits.length >= MIN_PAN_DIGITS && digits.length <= MAX_PAN_DIGITS && passesLuhn(digits);

/**
 * Returns a Finder of one card number. It finds the number even inside a longer number, and even with up to
 * three separators between any two adjacent digits.
 */
export const knownCardNumberFinder =
  (pan: string): Finder =>
  (text) =>
    hasEnoughPanDigits(text)
      ? Array.from(text.matchAll(DIGIT_RUN_PATTERN), ({ 0: run, index }) => panSpans(pan, run, index)).flat()
      : NO_SPANS;

/** Returns the spans of `pan` in a match of DIGIT_RUN_PATTERN that starts at `runStart`. The spans may overlap. */
function panSpans(pan: string, digitRun: string, runStart: number): readonly Span[] {
  const runDigits = digitRun.replace(/\D/g, '');
  if (!runDigits.includes(pan)) return NO_SPANS;
  const digitPositions = Array.from(digitRun.matchAll(/\d/g), ({ index }) => runStart + index);
  const spans: Span[] = [];
  for (let first = runDigits.indexOf(pan); first >= 0; first = runDigits.indexOf(pan, first + 1))
    spans.push([digitPositions[first] ?? 0, (digitPositions[first + pan.length - 1] ?? 0) + 1]);
  return spans;
}

type DigitTest = (digits: string) => boolean;

/**
 * Returns the spans of card numbers that pass `test`. A card number consists of one or several adjacent digit groups.
 * @param digitRun a match of DIGIT_RUN_PATTERN; `runStart` is its position in the text
 */
function cardNumberSpansInRun(digitRun: string, runStart: number, test: DigitTest): Span[] {
  const digitGroups = [...digitRun.matchAll(/\d+/g)];
  const spans: Span[] = [];
  digitGroups.forEach(({ index: from }, firstGroupIndex) => {
    let digits = '';
    for (const { 0: group, index } of digitGroups.slice(firstGroupIndex, firstGroupIndex + MAX_PAN_DIGITS)) {
      digits += group;
      if (digits.length > MAX_PAN_DIGITS) return;
      if (isValidPan(digits) && test(digits)) spans.push([runStart + from, runStart + index + group.length]);
    }
  });
  return spans;
}

const UUID_IN_TEXT_PATTERN = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;

/**
 * Masks each UUID that contains a letter, because digits of a UUID can look like a card number. A UUID of digits only
 * is not masked.
 */
const maskUuids = (text: string): string =>
  text.replace(UUID_IN_TEXT_PATTERN, (uuid) => (/[a-f]/i.test(uuid) ? 'u'.repeat(uuid.length) : uuid));

/** Returns the spans of all card numbers in a text that pass `test`. Does not decode the text. */
function findCardNumbersPassing(text: string, test: DigitTest): readonly Span[] {
  if (!hasEnoughPanDigits(text)) return NO_SPANS;
  // Fast path for texts of digits only, such as bank account numbers.
  if (/^\d+$/.test(text)) return isValidPan(text) && test(text) ? [[0, text.length]] : NO_SPANS;
  const digitRuns = [...maskUuids(text).matchAll(DIGIT_RUN_PATTERN)];
  return digitRuns.flatMap(({ 0: run, index }) => cardNumberSpansInRun(run, index, test));
}

/** Finds card numbers of any scheme: 12 to 19 digits, together or in groups, that pass the Luhn check. */
export const findCardNumbers: Finder = (text) => findCardNumbersPassing(text, () => true);

/** Whether a text, as written or decoded, contains a card number of any scheme. */
export const containsCardNumber = (text: string): boolean =>
  findInDecodings(text, findCardNumbers).length > 0;

/** Prefixes and lengths of the card numbers of known schemes, such as Visa and Mastercard (ISO/IEC 7812). */
const CARD_SCHEME_PATTERNS: readonly RegExp[] = [
  /^4(\d{12}|\d{15}|\d{18})$/,
  /^(5\d|6\d|81|82)\d{14,17}$/,
  /^(22[0-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3[0689]\d{12}$/,
  /^3[05689]\d{14,17}$/,
  /^(8600|9112|9417|9792|9860)\d{12}$/,
];

const isKnownSchemePan: DigitTest = (digits) => CARD_SCHEME_PATTERNS.some((pattern) => pattern.test(digits));

/**
 * Whether a text, as written or decoded, contains a card number of a known scheme. Use it for identifiers that clients
 * choose, such as order numbers: containsCardNumber() would mistake one long number in ten for a card number.
 */
export const containsKnownSchemePan = (text: string): boolean =>
  findInDecodings(text, (decoded) => findCardNumbersPassing(decoded, isKnownSchemePan)).length > 0;

/** Like containsKnownSchemePan(), for a GraphQL name. Decodes nothing, because a name has no encoded characters. */
export const graphqlNameContainsPan = (name: string): boolean =>
  findCardNumbersPassing(name, isKnownSchemePan).length > 0;
