import {
  findInDecodings,
  joined,
  matchesOf,
  NO_SPANS,
  replaceSpans,
  type Find,
  type Span,
} from './decodings';
import { HIDDEN, isInexact } from './text';
import { hasDigitsEnough } from './pan';
import { isWireObject, type WireObject } from '../shared/wire-object';

/**
 * What was sent must not come back: the card number and the security code of a request in the answer to it, and the
 * gateway's own credentials in any answer. Here the very values are known, so every text is searched, whatever it is for.
 */

/** Removes secrets from a text. */
type Remove = (text: string) => string;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** The same in the writings in which programs pass it on and which no reading of a text decodes. */
function encodings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  const all = [base64, base64url, Buffer.from(secret).toString('hex')];
  return all.filter((text) => text !== secret);
}

/** Finds any of these texts. */
function findAny(texts: readonly string[]): Find {
  if (texts.length === 0) return () => NO_SPANS;
  const pattern = new RegExp(texts.map(escaped).join('|'), 'gi');
  return (text) => matchesOf(pattern, text);
}

/** Digits with at most three marks between two of them. One pattern for all numbers: to compile one takes milliseconds. */
const RUN = /\d(?:[^\p{L}\p{N}]{0,3}\d)*/gu;

/** Where a number is among the digits of a run. */
function numberIn(run: string, start: number, number: string): readonly Span[] {
  const bare = run.replace(/\D/g, '');
  const places = bare.includes(number) ? Array.from(run.matchAll(/\d/g), ({ index }) => start + index) : [];
  const spans: Span[] = [];
  for (let at = bare.indexOf(number); at >= 0; at = bare.indexOf(number, at + number.length))
    spans.push([places[at] ?? 0, (places[at + number.length - 1] ?? 0) + 1]);
  return spans;
}

/** A card number, however it is grouped. */
function findCardNumber(number: string): Find {
  const encoded = findAny(encodings(number));
  return (text) => {
    if (text.length < number.length) return NO_SPANS;
    const spans = hasDigitsEnough(text)
      ? Array.from(text.matchAll(RUN), ({ 0: run, index }) => numberIn(run, index, number)).flat()
      : NO_SPANS;
    const more = encoded(text);
    return more.length === 0 ? spans : joined([...spans, ...more]);
  };
}

/** The whole of a text that has the digits of a card number with other things between them. */
const findSpread =
  (digits: string): Find =>
  (text) =>
    text.length >= digits.length && text.replace(/\D/g, '').includes(digits) ? [[0, text.length]] : NO_SPANS;

/**
 * A security code: three or four digits that stand alone, or behind its name. It may be a part of a longer number, of a
 * decimal or of a masked card number by chance.
 */
function findSecurityCode(code: string): Find {
  const alone = `(?<![\\p{L}\\p{N}*•]|\\d[.,])(?:${code}|${[...code].join('[ -]')})(?![\\p{L}\\p{N}*•]|[.,]\\d)`;
  const pattern = new RegExp(`${alone}|(?<=cv[cvn]2?)${code}(?!\\d)`, 'giu');
  return (text) => (!/\d/.test(text) || isTime(text) ? NO_SPANS : matchesOf(pattern, text));
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.:+Z-]*$/i.test(text);

const isNumber = (secret: string): boolean => /^\d{12,19}$/.test(secret);

function findSecret(secret: string): Find {
  if (isNumber(secret)) return findCardNumber(secret);
  return /^\d{3,4}$/.test(secret) ? findSecurityCode(secret) : findAny([secret, ...encodings(secret)]);
}

/** Whether a value can be searched for: any other that is so short stands in any text by chance. */
const isSecret = (value: string): boolean => /^\d{3,4}$/.test(value) || value.length >= 5;

/** What an answer must not carry. */
export interface SensitiveValues {
  /** What this request handed in. */
  secrets?: readonly string[];
  /** The gateway's own, of every channel: the same list until they change. */
  credentials?: readonly string[];
  /** Whether a text of 43 characters is a token that this gateway put into the address of a callback. */
  isToken?(text: string): boolean;
}

/** Removes these from any text, in every reading of it. */
export function createRedactor({ secrets = [], credentials = [], isToken }: SensitiveValues): Remove {
  const finds = [...secrets.filter(isSecret).map(findSecret), findCredentials(credentials)];
  if (isToken) finds.push(findTokens(isToken));
  const find = findEach(finds);
  const spread = findEach(secrets.filter(isNumber).map(findSpread));
  return (text) => {
    const spans = findInDecodings(text, find);
    const left = spans.length === 0 ? text : replaceSpans(text, joined(spans), HIDDEN);
    return findInDecodings(left, spread).length === 0 ? left : HIDDEN;
  };
}

/** Union of the matches of all finders. Allocates nothing for a text without a match: every text of every response is searched. */
const findEach =
  (finds: readonly Find[]): Find =>
  (text) => {
    let all = NO_SPANS;
    for (const find of finds) {
      const found = find(text);
      if (found.length > 0) all = [...all, ...found];
    }
    return all;
  };

const TOKEN_LENGTH = 43;

/** Finds tokens: there are too many to know them all, but each can be told from any other text. */
function findTokens(isToken: (text: string) => boolean): Find {
  // In an encoded address a letter may stand right before it.
  const spanIn = (run: string, at: number): readonly Span[] => {
    const end = at + run.length;
    if (isToken(run.slice(-TOKEN_LENGTH))) return [[end - TOKEN_LENGTH, end]];
    return isToken(run.slice(0, TOKEN_LENGTH)) ? [[at, at + TOKEN_LENGTH]] : NO_SPANS;
  };
  return (text) =>
    text.length < TOKEN_LENGTH
      ? NO_SPANS
      : Array.from(text.matchAll(/[\w-]{43,}/g), ({ 0: run, index }) => spanIn(run, index)).flat();
}

/** Made once for each list of credentials: a list of a thousand merchants must cost nothing per answer. */
const knownFinds = new WeakMap<readonly string[], Find>();

function findCredentials(credentials: readonly string[]): Find {
  const known = knownFinds.get(credentials) ?? findMany(credentials.filter(isSecret));
  knownFinds.set(credentials, known);
  return known;
}

/** So many letters of a value tell of most texts that they do not hold it: fewer than any has that is searched for. */
const HEAD = 4;
const HEADS = 2 ** (4 * HEAD);

/** What the last letters of a text come to, with one more; capital letters count as small ones. */
const rollingHash = (code: number, letter: number): number => ((code << 4) ^ (letter | 0x20)) & (HEADS - 1);

/** Tells of a text, quickly however many values are looked for, whether it may hold one of them. */
function buildPrefilter(values: readonly string[]): (text: string) => boolean {
  // Other letters have more than one bit between small and capital.
  if (!values.every((value) => /^[ -~]{4}/.test(value))) return () => true;
  const heads = new Uint8Array(HEADS);
  for (const value of values)
    heads[[...value.slice(0, HEAD)].reduce((code, letter) => rollingHash(code, letter.charCodeAt(0)), 0)] = 1;
  return (text) => {
    let code = 0;
    for (let at = 0; at < text.length; at += 1) {
      code = rollingHash(code, text.charCodeAt(at));
      if (heads[code] === 1) return true;
    }
    return false;
  };
}

/** Finds whichever of many there is. Few texts hold even the first letters of one. */
function findMany(values: readonly string[]): Find {
  const digits = values.filter((value) => /^\d+$/.test(value) && (value.length < 5 || value.length >= 12));
  const texts = values
    .filter((value) => !digits.includes(value))
    .flatMap((value) => [value, ...encodings(value)]);
  const mayHold = buildPrefilter(texts);
  const findTexts = findAny(texts);
  return findEach([(text) => (mayHold(text) ? findTexts(text) : NO_SPANS), ...digits.map(findSecret)]);
}

/** Deeper than anything that is documented; what is deeper is not passed on. */
const MAX_DEPTH = 64;

function cleaned(value: unknown, remove: Remove, depth: number): unknown {
  if (depth > MAX_DEPTH) return HIDDEN;
  if (typeof value === 'string') return remove(value);
  if (isInexact(value)) return HIDDEN;
  if (typeof value === 'number') return remove(String(value)) === String(value) ? value : HIDDEN;
  if (Array.isArray(value)) return value.map((inner) => cleaned(inner, remove, depth + 1));
  return isWireObject(value) ? cleanedObject(value, remove, depth) : value;
}

/** The very same object where there is nothing to remove. */
function cleanedObject(
  object: WireObject,
  remove: Remove,
  depth: number,
  verified: readonly string[] = [],
): WireObject {
  let changed: [string, unknown][] | undefined;
  for (const name in object) {
    const value = object[name];
    const isVerified = verified.includes(name);
    const shown = isVerified ? name : remove(name);
    const clean = isVerified ? value : cleaned(value, remove, depth + 1);
    if (changed === undefined && (shown !== name || clean !== value)) changed = entriesBefore(name, object);
    changed?.push([shown, clean]);
  }
  return changed ? Object.fromEntries(changed) : object;
}

function entriesBefore(name: string, object: WireObject): [string, unknown][] {
  const entries = Object.entries(object);
  return entries.slice(
    0,
    entries.findIndex(([each]) => each === name),
  );
}

/**
 * An answer without the secrets, in its names and in its texts.
 * @param verified names at its top whose values were compared with the question: they are the caller's own
 */
export const redactResponse = (
  answer: WireObject,
  hidden: SensitiveValues,
  verified: readonly string[],
): WireObject => cleanedObject(answer, createRedactor(hidden), 0, verified);
