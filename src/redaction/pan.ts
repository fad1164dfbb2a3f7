import { findInDecodings, mergeSpans, NO_SPANS, type Find, type Span } from './decodings';

/** Finds card numbers (PAN), however they are grouped and encoded. */

const MIN_LENGTH = 12;
const MAX_LENGTH = 19;

/** Whether a number ends with its check digit (Luhn, ISO/IEC 7812). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 1; place <= digits.length; place += 1) {
    const digit = digits.charCodeAt(digits.length - place) - 0x30;
    // Every second digit from the right is doubled.
    const value = place % 2 === 0 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Whether a text has enough digits for a card number. Most texts have not. */
export function hasPanDigits(text: string): boolean {
  let digits = 0;
  for (let place = 0; place < text.length && digits < MIN_LENGTH; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit >= 0x30 && unit <= 0x39) digits += 1;
  }
  return digits >= MIN_LENGTH;
}

/** Groups of digits with at most three marks between two of them: "4111 1111", "4111 - 1111", "4111_1111". */
export const DIGIT_RUNS = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;

const isCardNumber = (digits: string): boolean =>
  digits.length >= MIN_LENGTH && digits.length <= MAX_LENGTH && passesLuhn(digits);

type Test = (digits: string) => boolean;

/** The neighbouring groups of a run that together have the length and check digit of a card number, and pass the test. */
function spansInRun(run: string, start: number, test: Test): Span[] {
  const groups = [...run.matchAll(/\d+/g)];
  const spans: Span[] = [];
  groups.forEach(({ index: from }, first) => {
    let digits = '';
    for (const { 0: group, index } of groups.slice(first, first + MAX_LENGTH)) {
      digits += group;
      if (digits.length > MAX_LENGTH) return;
      if (isCardNumber(digits) && test(digits)) spans.push([start + from, start + index + group.length]);
    }
  });
  return spans;
}

const UUID = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;

/** Replaces UUIDs, whose digits may pass for a card number by chance; not UUIDs without a letter, which may be one. */
const withoutUuids = (text: string): string =>
  text.replace(UUID, (uuid) => (/[a-f]/i.test(uuid) ? 'u'.repeat(uuid.length) : uuid));

function findNumbers(text: string, test: Test): readonly Span[] {
  if (!hasPanDigits(text)) return NO_SPANS;
  // Fast path for numbers such as bank accounts.
  if (/^\d+$/.test(text)) return isCardNumber(text) && test(text) ? [[0, text.length]] : NO_SPANS;
  const runs = [...withoutUuids(text).matchAll(DIGIT_RUNS)];
  return mergeSpans(runs.flatMap(({ 0: run, index }) => spansInRun(run, index, test)));
}

/** Finds 12 to 19 digits, together or in groups, with the check digit of a card number. */
export const findCardNumbers: Find = (text) => findNumbers(text, () => true);

/** Whether any reading of a text holds 12 to 19 digits, together or in groups, with the check digit of a card number. */
export const containsCardNumber = (text: string): boolean =>
  findInDecodings(text, findCardNumbers).length > 0;

/** Prefixes and lengths of the card schemes (ISO/IEC 7812). */
const SCHEMES: readonly RegExp[] = [
  /^4(\d{12}|\d{15}|\d{18})$/,
  /^(5\d|6\d|81|82)\d{14,17}$/,
  /^(22[0-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3[0689]\d{12}$/,
  /^3[05689]\d{14,17}$/,
  /^(8600|9112|9417|9792|9860)\d{12}$/,
];

const isSchemeNumber: Test = (digits) => SCHEMES.some((scheme) => scheme.test(digits));

/**
 * Whether any reading of a text holds a card number of a known scheme. For names that clients choose, such as order
 * numbers: one number in ten passes the check digit alone.
 */
export const containsPan = (text: string): boolean =>
  findInDecodings(text, (reading) => findNumbers(reading, isSchemeNumber)).length > 0;

/** containsPan() for a GraphQL name, which cannot hold encoded characters. */
export const graphqlNameContainsPan = (name: string): boolean => findNumbers(name, isSchemeNumber).length > 0;
