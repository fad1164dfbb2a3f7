/**
 * The readings of a text: as written, and with percent-encoding, HTML entities, escapes and other forms of digits decoded,
 * also when they are nested. Secrets are searched in every reading; a match is a span of the original text.
 */

/** A part of a text, as [from, to]. */
export type Span = readonly [from: number, to: number];

export type Find = (text: string) => readonly Span[];

export const NO_SPANS: readonly Span[] = [];

/** A decoded text, and for each of its UTF-16 units the span of the original text that it comes from. */
interface Reading {
  text: string;
  starts: readonly number[];
  ends: readonly number[];
}

/** Deeper nesting of encodings is not decoded. */
const MAX_DECODINGS = 5;

const MAY_BE_ENCODED = /[%&\\]/;
const NOT_ASCII = /[^\x00-\x7f]/;

/** Whether a text has more than one reading. Cheap for most texts. */
function hasReadings(text: string): boolean {
  if (MAY_BE_ENCODED.test(text)) return true;
  if (!NOT_ASCII.test(text)) return false;
  // Not text.normalize(): it takes time quadratic in the number of marks that follow one letter.
  for (const character of text) if (simplified(character) !== character) return true;
  return false;
}

/** One encoded character: percent-encoded UTF-8, an HTML entity, or an escape of JavaScript or JSON. */
const ENCODED =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}|&#x[\da-f]{1,8};?|&#\d{1,8};?|&[a-z]{2,31};|[\\%]u[\da-f]{4}|\\u\{[\da-f]{1,8}\}|\\x[\da-f]{2}/giu;

/** Formats (zero-width characters, direction marks), and combining marks. */
const INVISIBLE = /[\p{Cf}\p{Mn}\p{Me}]/u;

const fromCodePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

/** Decodes one match of ENCODED. Returns it unchanged when it encodes no character. */
function decoded(encoded: string): string {
  const code = encoded.toLowerCase();
  if (/^%[^u]/.test(code)) {
    try {
      return decodeURIComponent(code);
    } catch {
      return encoded;
    }
  }
  if (code.startsWith('&#x')) return fromCodePoint(parseInt(code.slice(3), 16));
  if (code.startsWith('&#')) return fromCodePoint(parseInt(code.slice(2), 10));
  // ASCII digits and letters have no named entities; the others separate digits, as punctuation does.
  if (code.startsWith('&')) return code === '&amp;' ? '&' : ' ';
  return fromCodePoint(parseInt(code.replace(/[^\da-f]/g, ''), 16));
}

/** The value of a decimal digit of any script. Unicode has them in rows of ten that begin with zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}

/** Longer compatibility forms are words: one character can stand for up to 18. */
const MAX_FORM = 4;

function simplestForm(character: string): string {
  if (INVISIBLE.test(character)) return '';
  const form = character.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  return form.length <= MAX_FORM ? form : character;
}

const FORMS = new Map<string, string>();
const MAX_CACHED_FORMS = 4096;

/** A character with its compatibility form (fullwidth, circled) resolved and digits as 0 to 9; '' for an invisible one. */
function simplified(character: string): string {
  if (character <= '\x7f') return character;
  const known = FORMS.get(character);
  if (known !== undefined) return known;
  const form = simplestForm(character);
  if (FORMS.size >= MAX_CACHED_FORMS) FORMS.clear();
  FORMS.set(character, form);
  return form;
}

function decodeOnce(source: Reading): Reading {
  let text = '';
  const starts: number[] = [];
  const ends: number[] = [];
  const add = (reading: string, from: number, to: number): void => {
    const end = source.ends[to - 1] ?? 0;
    // An invisible character belongs to the character before it.
    if (reading === '' && ends.length > 0) ends.splice(-1, 1, end);
    for (let unit = 0; unit < reading.length; unit += 1) {
      starts.push(source.starts[from] ?? 0);
      ends.push(end);
    }
    text += reading;
  };
  let at = 0;
  const addSimplified = (to: number): void => {
    for (const character of source.text.slice(at, to)) {
      add(simplified(character), at, at + character.length);
      at += character.length;
    }
  };
  for (const { 0: encoded, index } of source.text.matchAll(ENCODED)) {
    addSimplified(index);
    at += encoded.length;
    add(decoded(encoded), index, at);
  }
  addSimplified(source.text.length);
  return { text, starts, ends };
}

function decodedReadings(text: string): Reading[] {
  const readings: Reading[] = [];
  const units = Array.from({ length: text.length }, (_, unit) => unit);
  let last: Reading = { text, starts: units, ends: units.map((unit) => unit + 1) };
  for (let times = 0; times < MAX_DECODINGS; times += 1) {
    const next = decodeOnce(last);
    if (next.text === last.text) break;
    readings.push(next);
    last = next;
  }
  return readings;
}

/** Finds something in every reading of a text. Returns spans in order that do not overlap. */
export function findInDecodings(text: string, find: Find): readonly Span[] {
  const found = find(text);
  if (!hasReadings(text)) return found;
  const encoded = decodedReadings(text).flatMap(({ text: reading, starts, ends }) =>
    find(reading).map(([from, to]): Span => [starts[from] ?? 0, ends[to - 1] ?? text.length]),
  );
  return encoded.length === 0 ? found : mergeSpans([...found, ...encoded]);
}

/** Sorts spans and joins those that overlap. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const merged: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from < last[1]) merged.splice(-1, 1, [last[0], Math.max(to, last[1])]);
    else merged.push([from, to]);
  }
  return merged;
}

/** Replaces each span of a text. The spans must be in order. */
export function replaceSpans(text: string, spans: readonly Span[], replacement: string): string {
  let left = '';
  let at = 0;
  for (const [from, to] of spans) {
    left += text.slice(at, from) + replacement;
    at = to;
  }
  return at === 0 ? text : left + text.slice(at);
}

/** The matches of a pattern with the flag g. */
export function matchesOf(pattern: RegExp, text: string): readonly Span[] {
  if (text.search(pattern) < 0) return NO_SPANS;
  return Array.from(text.matchAll(pattern), ({ 0: match, index }): Span => [index, index + match.length]);
}
