import { hasDigitsEnough, passesLuhn } from './rules';

/** Finding card numbers in texts: for what goes out, and for what is kept. */

/** Where a card number may stand in a text, as [from, to]. */
export type Span = readonly [from: number, to: number];

const CARD_LENGTH = { min: 12, max: 19 };

/** Groups of digits with at most three marks between two of them: "4111 1111", "4111 - 1111", "4111_1111". */
const RUN = /\d+(?:[^\p{L}\p{N}]{1,3}\d+)*/gu;

const isCardLength = ({ length }: string): boolean => length >= CARD_LENGTH.min && length <= CARD_LENGTH.max;

/** The spans of neighbouring groups of a run that together fit the test; those that overlap are one. */
function spansIn(run: string, start: number, fits: (digits: string) => boolean): Span[] {
  const groups = [...run.matchAll(/\d+/g)];
  const spans: Span[] = [];
  groups.forEach(({ index: from }, first) => {
    let digits = '';
    for (const { 0: group, index } of groups.slice(first, first + CARD_LENGTH.max)) {
      digits += group;
      if (digits.length > CARD_LENGTH.max) return;
      if (isCardLength(digits) && fits(digits)) addSpan(spans, [start + from, start + index + group.length]);
    }
  });
  return spans;
}

function addSpan(spans: Span[], [from, to]: Span): void {
  const last = spans.at(-1);
  if (last && from < last[1]) spans.splice(-1, 1, [last[0], Math.max(to, last[1])]);
  else spans.push([from, to]);
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

/** The same with letters for UUIDs, whose digits may by chance pass for a card number. One without a letter may be one. */
const withoutUuids = (text: string): string =>
  text.replace(UUID, (uuid) => (/[a-f]/i.test(uuid) ? 'u'.repeat(uuid.length) : uuid));

function findSpans(text: string, fits: (digits: string) => boolean): readonly Span[] {
  if (!hasDigitsEnough(text)) return NONE;
  // Nothing but digits, as numbers that the payer pays to mostly are: one group.
  if (/^\d+$/.test(text)) return isCardLength(text) && fits(text) ? [[0, text.length]] : NONE;
  return [...withoutUuids(text).matchAll(RUN)].flatMap(({ 0: run, index }) => spansIn(run, index, fits));
}

const NONE: readonly Span[] = [];

/** Every place that holds 12 to 19 digits, together or in groups, with the check digit of a card number. */
export const cardNumberSpans = (text: string): readonly Span[] => findSpans(text, passesLuhn);

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

/**
 * Whether a text holds a number that a card scheme gives out. Stricter than the check digit, which one number in ten
 * has by chance: names that clients choose, such as order numbers, are refused by this.
 */
export const holdsSchemeNumber = (text: string): boolean =>
  findSpans(text, (digits) => passesLuhn(digits) && SCHEMES.some((scheme) => scheme.test(digits))).length > 0;
