import { LRUCache } from 'lru-cache';
import { REDACTED } from '../shared/secret';

// Finds secrets in encoded texts: percent-encoding, HTML entities, escapes, digits of other scripts. Searches a text as
// written, and after each of several decodings, because encodings may be nested. A match in a decoded text is reported
// as a span of the original text.

/** A part of a text, in UTF-16 units; `to` is exclusive. */
export type Span = readonly [from: number, to: number];

/** Returns the spans of all matches in a text, without decoding it. */
export type Finder = (text: string) => readonly Span[];

export const NO_SPANS: readonly Span[] = [];

/** A decoded text. Its UTF-16 unit `i` comes from the span [starts[i], ends[i]] of the original text. */
interface DecodedText {
  text: string;
  starts: readonly number[];
  ends: readonly number[];
}

/** Maximum number of times that a text is decoded, for nested encodings. */
const MAX_DECODINGS = 5;

const ENCODING_MARKER_PATTERN = /[%&\\]/;
const NON_ASCII_PATTERN = /[^\x00-\x7f]/;

/** Whether decoding may change a text. Fast for most texts. */
function mayBeEncoded(text: string): boolean {
  if (ENCODING_MARKER_PATTERN.test(text)) return true;
  if (!NON_ASCII_PATTERN.test(text)) return false;
  // Do not use text.normalize(): its time is quadratic in the number of combining marks that follow one letter.
  for (const character of text) if (normalizeCharacter(character) !== character) return true;
  return false;
}

/** Matches one encoded character: percent-encoded UTF-8, an HTML entity, or an escape of JavaScript or JSON. */
const ENCODED_CHARACTER_PATTERN =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}|&#x[\da-f]{1,8};?|&#\d{1,8};?|&[a-z]{2,31};|[\\%]u[\da-f]{4}|\\u\{[\da-f]{1,8}\}|\\x[\da-f]{2}/giu;

/** Matches format characters (such as zero-width characters and direction marks), and nonspacing or enclosing marks. */
const INVISIBLE_CHARACTER_PATTERN = /[\p{Cf}\p{Mn}\p{Me}]/u;

const fromCodePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

/** Named HTML entities that may be part of a token or a nested encoding. All others are replaced by a space. */
const CHARACTER_BY_HTML_ENTITY: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&bsol;': '\\',
  '&dash;': '-',
  '&equals;': '=',
  '&hyphen;': '-',
  '&lowbar;': '_',
  '&num;': '#',
  '&percnt;': '%',
  '&period;': '.',
  '&plus;': '+',
  '&semi;': ';',
  '&sol;': '/',
};

/**
 * Decodes a match of ENCODED_CHARACTER_PATTERN. If the match is invalid UTF-8, returns it unchanged. Returns a space
 * for a code above U+10FFFF, and for a named entity that is not in CHARACTER_BY_HTML_ENTITY.
 */
function decodeCharacter(encoded: string): string {
  const lowerCaseEncoded = encoded.toLowerCase();
  if (/^%[^u]/.test(lowerCaseEncoded)) {
    try {
      return decodeURIComponent(lowerCaseEncoded);
    } catch {
      return encoded;
    }
  }
  if (lowerCaseEncoded.startsWith('&#x')) return fromCodePoint(parseInt(lowerCaseEncoded.slice(3), 16));
  if (lowerCaseEncoded.startsWith('&#')) return fromCodePoint(parseInt(lowerCaseEncoded.slice(2), 10));
  if (lowerCaseEncoded.startsWith('&')) return CHARACTER_BY_HTML_ENTITY[lowerCaseEncoded] ?? ' ';
  return fromCodePoint(parseInt(lowerCaseEncoded.replace(/[^\da-f]/g, ''), 16));
}

/** Returns the value of a decimal digit of any script. Unicode lists the ten digits of a script in order, from zero. */
function digitValue(digitCharacter: string): number {
  const digitCodePoint = digitCharacter.codePointAt(0) ?? 0;
  let firstDigitCodePoint = digitCodePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(firstDigitCodePoint - 1))) firstDigitCodePoint -= 1;
  return (digitCodePoint - firstDigitCodePoint) % 10;
}

/** Maximum length of the NFKC form that replaces a character. A longer form is a whole word; the character stays. */
const MAX_NFKC_EXPANSION = 4;

function computeNormalizedCharacter(character: string): string {
  if (INVISIBLE_CHARACTER_PATTERN.test(character)) return '';
  const nfkcForm = character.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  return nfkcForm.length <= MAX_NFKC_EXPANSION ? nfkcForm : character;
}

const normalizedCharacterCache = new LRUCache<string, string>({
  max: 4096,
  memoMethod: computeNormalizedCharacter,
});

/**
 * Returns the NFKC form of a character, for example 1 for a fullwidth or circled 1. Digits of all scripts become ASCII
 * digits. Returns '' for an invisible character, and the character itself if its NFKC form is too long.
 */
const normalizeCharacter = (character: string): string =>
  character <= '\x7f' ? character : normalizedCharacterCache.memo(character);

function decodeOnce(source: DecodedText): DecodedText {
  let text = '';
  const starts: number[] = [];
  const ends: number[] = [];
  const addDecoded = (decoded: string, from: number, to: number): void => {
    const originalEnd = source.ends[to - 1] ?? 0;
    // Extend the previous span over an invisible character.
    if (decoded === '' && ends.length > 0) ends.splice(-1, 1, originalEnd);
    for (let index = 0; index < decoded.length; index += 1) {
      starts.push(source.starts[from] ?? 0);
      ends.push(originalEnd);
    }
    text += decoded;
  };
  let position = 0;
  const addUnencodedUntil = (to: number): void => {
    for (const character of source.text.slice(position, to)) {
      addDecoded(normalizeCharacter(character), position, position + character.length);
      position += character.length;
    }
  };
  for (const { 0: encoded, index } of source.text.matchAll(ENCODED_CHARACTER_PATTERN)) {
    addUnencodedUntil(index);
    position += encoded.length;
    addDecoded(decodeCharacter(encoded), index, position);
  }
  addUnencodedUntil(source.text.length);
  return { text, starts, ends };
}

function nestedDecodings(text: string): DecodedText[] {
  const decodings: DecodedText[] = [];
  const positions = Array.from({ length: text.length }, (_, position) => position);
  let decoding: DecodedText = { text, starts: positions, ends: positions.map((position) => position + 1) };
  for (let decodingCount = 0; decodingCount < MAX_DECODINGS; decodingCount += 1) {
    const nextDecoding = decodeOnce(decoding);
    if (nextDecoding.text === decoding.text) break;
    decodings.push(nextDecoding);
    decoding = nextDecoding;
  }
  return decodings;
}

/** Runs a finder on a text and on each decoded form of it. Returns spans of the original text; they may overlap. */
export function findInDecodings(text: string, find: Finder): readonly Span[] {
  const spansAsWritten = find(text);
  if (!mayBeEncoded(text)) return spansAsWritten;
  const encodedSpans = nestedDecodings(text).flatMap(({ text: decodedText, starts, ends }) =>
    find(decodedText).map(([from, to]): Span => [starts[from] ?? 0, ends[to - 1] ?? text.length]),
  );
  return encodedSpans.length === 0 ? spansAsWritten : [...spansAsWritten, ...encodedSpans];
}

/** Redacts the spans of a text. Overlapping spans are redacted as one. */
export function redactSpans(text: string, spans: readonly Span[]): string {
  let redactedText = '';
  let position = 0;
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    if (from >= position) redactedText += text.slice(position, from) + REDACTED;
    position = Math.max(position, to);
  }
  return redactedText + text.slice(position);
}

/** Returns the spans of all matches of a pattern, which must have the flag g. */
export function findMatches(pattern: RegExp, text: string): readonly Span[] {
  if (text.search(pattern) < 0) return NO_SPANS;
  return Array.from(text.matchAll(pattern), ({ 0: matchedText, index }): Span => [
    index,
    index + matchedText.length,
  ]);
}
