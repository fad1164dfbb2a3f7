/**
 * What a text may mean to its reader: as it is, and with percent-encoding, HTML entities, escapes and other forms of
 * digits decoded, as often as they are nested. Secrets are looked for in every reading; what is found is a span of the text itself.
 */

/** A part of a text, as [from, to]. */
export type Span = readonly [from: number, to: number];

/** Finds something in a text. */
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

/** Whether a text has more readings than one. Of most texts this is cheap to say. */
function hasReadings(text: string): boolean {
  if (MAY_BE_ENCODED.test(text)) return true;
  if (!NOT_ASCII.test(text)) return false;
  // Not by normalising the text: that takes time quadratic to the marks that follow one letter.
  for (const character of text) if (simplified(character) !== character) return true;
  return false;
}

/** One encoded character: percent-encoded UTF-8, an HTML entity, or an escape of JavaScript and JSON. */
const ENCODED =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}|&#x[\da-f]{1,8};?|&#\d{1,8};?|&[a-z]{2,31};|[\\%]u[\da-f]{4}|\\u\{[\da-f]{1,8}\}|\\x[\da-f]{2}/giu;

/** Characters that are not seen: formats (zero-width ones, direction marks), and marks that combine with what is before them. */
const INVISIBLE = /[\p{Cf}\p{Mn}\p{Me}]/u;

const fromCodePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

/** Decodes one encoded character. Returns the same text when it encodes none. */
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
  // No digit or letter of ASCII has an entity of its own: the others separate, as punctuation does.
  if (code.startsWith('&')) return code === '&amp;' ? '&' : ' ';
  return fromCodePoint(parseInt(code.replace(/[^\da-f]/g, ''), 16));
}

/** The value of a decimal digit of any script: Unicode has them in rows of ten, which begin with a zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}

/** Longer forms are words, of which one character stands for up to 18: no text may grow so. */
const MAX_FORM = 4;

function simplestForm(character: string): string {
  if (INVISIBLE.test(character)) return '';
  const form = character.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  return form.length <= MAX_FORM ? form : character;
}

/** Forms found before; bounded, as texts may hold any character. */
const FORMS = new Map<string, string>();
const MAX_FORMS = 4096;

/** A character in its simplest form: compatibility forms (fullwidth, circled) resolved, digits as 0 to 9, nothing for what is not seen. */
function simplified(character: string): string {
  if (character <= '\x7f') return character;
  const known = FORMS.get(character);
  if (known !== undefined) return known;
  const form = simplestForm(character);
  if (FORMS.size >= MAX_FORMS) FORMS.clear();
  FORMS.set(character, form);
  return form;
}

class ReadingBuilder {
  #text = '';
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(private readonly source: Reading) {}

  /** Adds what the units of the source from `from` to `to` stand for. */
  add(text: string, from: number, to: number): void {
    const start = this.source.starts[from] ?? 0;
    const end = this.source.ends[to - 1] ?? 0;
    // An invisible character belongs to the character before it.
    if (text === '' && this.#ends.length > 0) this.#ends.splice(-1, 1, end);
    for (let unit = 0; unit < text.length; unit += 1) {
      this.#starts.push(start);
      this.#ends.push(end);
    }
    this.#text += text;
  }

  /** Adds units of the source, each in its simplest form. */
  addSimplified(from: number, to: number): void {
    let at = from;
    for (const character of this.source.text.slice(from, to)) {
      this.add(simplified(character), at, at + character.length);
      at += character.length;
    }
  }

  build(): Reading {
    return { text: this.#text, starts: this.#starts, ends: this.#ends };
  }
}

function decodeOnce(source: Reading): Reading {
  const builder = new ReadingBuilder(source);
  let at = 0;
  for (const { 0: encoded, index } of source.text.matchAll(ENCODED)) {
    builder.addSimplified(at, index);
    at = index + encoded.length;
    builder.add(decoded(encoded), index, at);
  }
  builder.addSimplified(at, source.text.length);
  return builder.build();
}

/** The text as it is. */
const asItIs = (text: string): Reading => ({
  text,
  starts: Array.from({ length: text.length }, (_, unit) => unit),
  ends: Array.from({ length: text.length }, (_, unit) => unit + 1),
});

function decodedReadings(text: string): Reading[] {
  const readings: Reading[] = [];
  let last = asItIs(text);
  for (let times = 0; times < MAX_DECODINGS; times += 1) {
    const next = decodeOnce(last);
    if (next.text === last.text) break;
    readings.push(next);
    last = next;
  }
  return readings;
}

const inOrder = (spans: readonly Span[]): Span[] => [...spans].sort(([a], [b]) => a - b);

/** Where something is found in any reading of a text, in order. Spans that overlap are one. */
export function findInDecodings(text: string, find: Find): readonly Span[] {
  const found = find(text);
  if (!hasReadings(text)) return found;
  const encoded = decodedReadings(text).flatMap(({ text: reading, starts, ends }) =>
    find(reading).map(([from, to]): Span => [starts[from] ?? 0, ends[to - 1] ?? text.length]),
  );
  return encoded.length === 0 ? found : joined([...found, ...encoded]);
}

/** Spans in order; those that overlap are one. */
export function joined(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const apart: Span[] = [];
  for (const [from, to] of inOrder(spans)) {
    const last = apart.at(-1);
    if (last && from < last[1]) apart.splice(-1, 1, [last[0], Math.max(to, last[1])]);
    else apart.push([from, to]);
  }
  return apart;
}

/** A text with another one in the place of each span, which are in order. */
export function replaceSpans(text: string, spans: readonly Span[], replacement: string): string {
  let left = '';
  let at = 0;
  for (const [from, to] of spans) {
    left += text.slice(at, from) + replacement;
    at = to;
  }
  return at === 0 ? text : left + text.slice(at);
}

/** Where a pattern, which has the flag g, matches. */
export function matchesOf(pattern: RegExp, text: string): readonly Span[] {
  if (text.search(pattern) < 0) return NO_SPANS;
  return Array.from(text.matchAll(pattern), ({ 0: match, index }): Span => [index, index + match.length]);
}
