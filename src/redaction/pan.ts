import { passesLuhn } from '../shared/luhn';
import { findInDecodings, NO_SPANS, type Finder, type Span } from './decodings';

/** This file finds card numbers (PANs), however their digits are grouped and encoded. */

const MIN_PAN_DIGITS = 12;
const MAX_PAN_DIGITS = 19;

/** Whether a text has enough digits for a card number, wherever they are. A fast check: most texts have too few. */
const hasEnoughPanDigits = (text: string): boolean => /(?:\d\D*){12}/.test(text);

/** Matches digit groups with one to three separators between two groups: "4111 1111", "4111 - 1111", "4111_1111". */
const DIGIT_RUNS = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;

const hasCardNumberForm = (digits: string): boolean =>
  digits.length >= MIN_PAN_DIGITS && digits.length <= MAX_PAN_DIGITS && passesLuhn(digits);

type DigitTest = (digits: string) => boolean;

/** Returns the spans of adjacent groups that together have the form of a card number and pass `test`. */
function spansInRun(run: string, start: number, test: DigitTest): Span[] {
  const groups = [...run.matchAll(/\d+/g)];
  const spans: Span[] = [];
  groups.forEach(({ index: from }, first) => {
    let digits = '';
    for (const { 0: group, index } of groups.slice(first, first + MAX_PAN_DIGITS)) {
      digits += group;
      if (digits.length > MAX_PAN_DIGITS) return;
      if (hasCardNumberForm(digits) && test(digits)) spans.push([start + from, start + index + group.length]);
    }
  });
  return spans;
}

const UUID_IN_TEXT = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;

/** Masks UUIDs, because their digits can look like a PAN. Keeps UUIDs without letters, which may be a PAN. */
const maskUuids = (text: string): string =>
  text.replace(UUID_IN_TEXT, (uuid) => (/[a-f]/i.test(uuid) ? 'u'.repeat(uuid.length) : uuid));

/** Finds card numbers that pass `test`. */
function findCardNumbersPassing(text: string, test: DigitTest): readonly Span[] {
  if (!hasEnoughPanDigits(text)) return NO_SPANS;
  // Fast path for texts of digits only, such as bank account numbers.
  if (/^\d+$/.test(text)) return hasCardNumberForm(text) && test(text) ? [[0, text.length]] : NO_SPANS;
  const runs = [...maskUuids(text).matchAll(DIGIT_RUNS)];
  return runs.flatMap(({ 0: run, index }) => spansInRun(run, index, test));
}

/** Finds 12 to 19 digits, together or in groups, with the check digit of a card number. */
export const findCardNumbers: Finder = (text) => findCardNumbersPassing(text, () => true);

/** Whether any decoding of a text contains a card number of any scheme, known or unknown. */
export const containsCardNumber = (text: string): boolean =>
  findInDecodings(text, findCardNumbers).length > 0;

/** Prefixes and lengths of the card schemes (ISO/IEC 7812). */
const CARD_SCHEMES: readonly RegExp[] = [
  /^4(\d{12}|\d{15}|\d{18})$/,
  /^(5\d|6\d|81|82)\d{14,17}$/,
  /^(22[0-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3[0689]\d{12}$/,
  /^3[05689]\d{14,17}$/,
  /^(8600|9112|9417|9792|9860)\d{12}$/,
];

const isSchemeNumber: DigitTest = (digits) => CARD_SCHEMES.some((scheme) => scheme.test(digits));

/**
 * Whether any decoding of a text contains a card number of a known scheme. Used for names that clients choose, such as
 * order numbers, because one number in ten has a valid check digit by chance.
 */
export const containsPan = (text: string): boolean =>
  findInDecodings(text, (decoded) => findCardNumbersPassing(decoded, isSchemeNumber)).length > 0;

/** Faster containsPan() for a GraphQL name, which cannot contain encoded characters. */
export const graphqlNameContainsPan = (name: string): boolean =>
  findCardNumbersPassing(name, isSchemeNumber).length > 0;
