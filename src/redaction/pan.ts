import { findInDecodings, joined, NO_SPANS, type Find, type Span } from './decodings';

/** Finds card numbers in texts, however they are grouped and encoded: in what goes out, and in what is kept. */

const CARD_LENGTH = { min: 12, max: 19 };

/**
 * The check digit of ISO/IEC 7812 (Luhn) for a number that grows digit by digit, so that every length of it is checked at
 * the cost of one digit.
 */
class LuhnSum {
  /** The sums with the digits at even places doubled, and with those at odd places. */
  readonly #sums: [number, number] = [0, 0];
  #length = 0;

  add(digits: string): void {
    for (let place = 0; place < digits.length; place += 1) {
      const digit = digits.charCodeAt(place) - 0x30;
      const parity = (this.#length & 1) as 0 | 1;
      this.#sums[parity] += digit > 4 ? digit * 2 - 9 : digit * 2;
      this.#sums[parity === 0 ? 1 : 0] += digit;
      this.#length += 1;
    }
  }

  /** Whether the digits so far end with their check digit. */
  get passes(): boolean {
    // The last digit is not doubled.
    return this.#sums[(this.#length & 1) as 0 | 1] % 10 === 0;
  }
}

/** The check digit that all card numbers carry. */
export function passesLuhn(digits: string): boolean {
  const sum = new LuhnSum();
  sum.add(digits);
  return sum.passes;
}

/** Whether a text has digits enough for a card number at all. Most texts have not: that is cheap to see. */
export function hasDigitsEnough(text: string): boolean {
  let digits = 0;
  for (let place = 0; place < text.length && digits < CARD_LENGTH.min; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit >= 0x30 && unit <= 0x39) digits += 1;
  }
  return digits >= CARD_LENGTH.min;
}

/** Groups of digits with at most three marks between two of them: "4111 1111", "4111 - 1111", "4111_1111". */
const RUN = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;

const isCardLength = ({ length }: string): boolean => length >= CARD_LENGTH.min && length <= CARD_LENGTH.max;

/** The spans of neighbouring groups of a run that together have a card number's length and check digit, and fit the test. */
function spansIn(run: string, start: number, fits: (digits: string) => boolean): Span[] {
  const groups = [...run.matchAll(/\d+/g)];
  const spans: Span[] = [];
  groups.forEach(({ index: from }, first) => {
    let digits = '';
    const sum = new LuhnSum();
    for (let next = first; next < groups.length; next += 1) {
      const { 0: group, index } = groups[next] as RegExpExecArray;
      digits += group;
      if (digits.length > CARD_LENGTH.max) return;
      sum.add(group);
      if (isCardLength(digits) && sum.passes && fits(digits))
        spans.push([start + from, start + index + group.length]);
    }
  });
  return spans;
}

const UUID = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi;

/** The same with letters for UUIDs, whose digits may by chance pass for a card number. One without a letter may be one. */
const withoutUuids = (text: string): string =>
  text.replace(UUID, (uuid) => (/[a-f]/i.test(uuid) ? 'u'.repeat(uuid.length) : uuid));

function spansOf(text: string, fits: (digits: string) => boolean): readonly Span[] {
  if (!hasDigitsEnough(text)) return NO_SPANS;
  // Nothing but digits, as numbers that the payer pays to mostly are: one group.
  if (/^\d+$/.test(text))
    return isCardLength(text) && passesLuhn(text) && fits(text) ? [[0, text.length]] : NO_SPANS;
  return joined(
    [...withoutUuids(text).matchAll(RUN)].flatMap(({ 0: run, index }) => spansIn(run, index, fits)),
  );
}

/** Every place that holds 12 to 19 digits, together or in groups, with the check digit of a card number. */
export const findCardNumbers: Find = (text) => spansOf(text, () => true);

/** Whether a text holds 12 to 19 digits, together or in groups, with the check digit of a card number, in any reading. */
export const holdsCardNumber = (text: string): boolean => findInDecodings(text, findCardNumbers).length > 0;

/** How the numbers of the card schemes begin, and how long they are (ISO/IEC 7812). */
const SCHEMES: readonly RegExp[] = [
  /^4(\d{12}|\d{15}|\d{18})$/,
  /^(5\d|6\d|81|82)\d{14,17}$/,
  /^(22[0-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3[0689]\d{12}$/,
  /^3[05689]\d{14,17}$/,
  /^(8600|9112|9417|9792|9860)\d{12}$/,
];

const isSchemeNumber = (digits: string): boolean => SCHEMES.some((scheme) => scheme.test(digits));

/**
 * Whether a text holds a number that a card scheme gives out. Stricter than the check digit, which one number in ten
 * has by chance: names that clients choose, such as order numbers, are refused by this.
 */
export const containsPan = (text: string): boolean =>
  findInDecodings(text, (reading) => spansOf(reading, isSchemeNumber)).length > 0;

/** The same for a name of GraphQL, in which nothing can be encoded: letters, digits and `_`. */
export const nameHoldsSchemeNumber = (name: string): boolean => spansOf(name, isSchemeNumber).length > 0;
