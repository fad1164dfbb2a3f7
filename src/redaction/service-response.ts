import { REDACTED } from '../shared/secret';
import type { WireObject } from '../shared/wire-object';
import {
  findInDecodings,
  matchesOf,
  mergeSpans,
  NO_SPANS,
  replaceSpans,
  type Find,
  type Span,
} from './decodings';
import { DIGIT_RUNS, hasPanDigits } from './pan';
import { redactJson } from './text';

/**
 * Removes known secrets from responses of the payment service: the card number and security code of the request, and the
 * credentials of the gateway. Every text is searched, whatever field it is in.
 */

type Redactor = (text: string) => string;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** A secret in the encodings that findInDecodings() does not decode. */
function encodings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [base64, base64url, Buffer.from(secret).toString('hex')].filter((text) => text !== secret);
}

function findAny(texts: readonly string[]): Find {
  if (texts.length === 0) return () => NO_SPANS;
  const pattern = new RegExp(texts.map(escaped).join('|'), 'gi');
  return (text) => matchesOf(pattern, text);
}

/** Where a number is among the digits of a run. */
function findInRun(run: string, start: number, number: string): readonly Span[] {
  const bare = run.replace(/\D/g, '');
  const places = bare.includes(number) ? Array.from(run.matchAll(/\d/g), ({ index }) => start + index) : [];
  const spans: Span[] = [];
  for (let at = bare.indexOf(number); at >= 0; at = bare.indexOf(number, at + number.length))
    spans.push([places[at] ?? 0, (places[at + number.length - 1] ?? 0) + 1]);
  return spans;
}

/** Finds a card number, however it is grouped. */
function findCardNumber(number: string): Find {
  const encoded = findAny(encodings(number));
  return (text) => {
    if (text.length < number.length) return NO_SPANS;
    const spans = hasPanDigits(text)
      ? Array.from(text.matchAll(DIGIT_RUNS), ({ 0: run, index }) => findInRun(run, index, number)).flat()
      : NO_SPANS;
    const more = encoded(text);
    return more.length === 0 ? spans : mergeSpans([...spans, ...more]);
  };
}

/** Finds the whole text when it holds the digits of a card number with anything between them. */
const findSpread =
  (digits: string): Find =>
  (text) =>
    text.length >= digits.length && text.replace(/\D/g, '').includes(digits) ? [[0, text.length]] : NO_SPANS;

/** Finds a security code: digits that are no part of a longer number, a decimal or a masked card number, or follow "CVC". */
function findSecurityCode(code: string): Find {
  const alone = `(?<![\\p{L}\\p{N}*•]|\\d[.,])(?:${code}|${[...code].join('[ -]')})(?![\\p{L}\\p{N}*•]|[.,]\\d)`;
  const pattern = new RegExp(`${alone}|(?<=cv[cvn]2?)${code}(?!\\d)`, 'giu');
  return (text) => (!/\d/.test(text) || isTime(text) ? NO_SPANS : matchesOf(pattern, text));
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.:+Z-]*$/i.test(text);

const isCardNumber = (secret: string): boolean => /^\d{12,19}$/.test(secret);

function findSecret(secret: string): Find {
  if (isCardNumber(secret)) return findCardNumber(secret);
  return /^\d{3,4}$/.test(secret) ? findSecurityCode(secret) : findAny([secret, ...encodings(secret)]);
}

/** Whether a value is searched for. Other short values occur in texts by chance. */
const isSecret = (value: string): boolean => /^\d{3,4}$/.test(value) || value.length >= 5;

/** Values that a response must not contain. */
export interface SensitiveValues {
  secrets?: readonly string[];
  /** Credentials of the gateway for every channel; the same array until they change. */
  credentials?: readonly string[];
  /** Whether a text of 43 characters is a token of a callback URL. */
  isToken?(text: string): boolean;
}

/** Creates a function that redacts these values in every reading of a text. */
export function createRedactor({ secrets = [], credentials = [], isToken }: SensitiveValues): Redactor {
  const finds = [...secrets.filter(isSecret).map(findSecret), findCredentials(credentials)];
  if (isToken) finds.push(findTokens(isToken));
  const find = findEach(finds);
  const spread = findEach(secrets.filter(isCardNumber).map(findSpread));
  return (text) => {
    const spans = findInDecodings(text, find);
    const left = spans.length === 0 ? text : replaceSpans(text, mergeSpans(spans), REDACTED);
    return findInDecodings(left, spread).length === 0 ? left : REDACTED;
  };
}

/** Union of the matches of all finders. Allocates nothing for a text without a match, because it runs for every text. */
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

/** Finds tokens of callback URLs, which can be verified but not listed. */
function findTokens(isToken: (text: string) => boolean): Find {
  // In an encoded URL a letter may directly precede the token.
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

/** Cached for each list of credentials, which may be of a thousand merchants. */
const knownFinds = new WeakMap<readonly string[], Find>();

function findCredentials(credentials: readonly string[]): Find {
  const known = knownFinds.get(credentials) ?? findMany(credentials.filter(isSecret));
  knownFinds.set(credentials, known);
  return known;
}

/** Characters of the prefix by which the prefilter recognises a value. */
const PREFIX_LENGTH = 4;
const HASHES = 2 ** (4 * PREFIX_LENGTH);

/** Hash of the last characters of a text, case-insensitive. */
const rollingHash = (code: number, letter: number): number => ((code << 4) ^ (letter | 0x20)) & (HASHES - 1);

/** Prefilter: whether a text may hold one of the values, in time independent of their number. */
function buildPrefilter(values: readonly string[]): (text: string) => boolean {
  // Case-insensitivity by one bit works for ASCII only.
  if (!values.every((value) => /^[ -~]{4}/.test(value))) return () => true;
  const prefixes = new Uint8Array(HASHES);
  for (const value of values)
    prefixes[
      [...value.slice(0, PREFIX_LENGTH)].reduce((code, letter) => rollingHash(code, letter.charCodeAt(0)), 0)
    ] = 1;
  return (text) => {
    let code = 0;
    for (let at = 0; at < text.length; at += 1) {
      code = rollingHash(code, text.charCodeAt(at));
      if (prefixes[code] === 1) return true;
    }
    return false;
  };
}

/** Finds any of many values. Few texts pass the prefilter. */
function findMany(values: readonly string[]): Find {
  const digits = values.filter((value) => /^\d+$/.test(value) && (value.length < 5 || value.length >= 12));
  const texts = values
    .filter((value) => !digits.includes(value))
    .flatMap((value) => [value, ...encodings(value)]);
  const mayHold = buildPrefilter(texts);
  const findTexts = findAny(texts);
  return findEach([(text) => (mayHold(text) ? findTexts(text) : NO_SPANS), ...digits.map(findSecret)]);
}

/**
 * Redacts names and values of a response.
 * @param verified top-level fields that were compared with the request: their values are known to be the caller's
 */
export function redactResponse(
  response: WireObject,
  sensitive: SensitiveValues,
  verified: readonly string[],
): WireObject {
  const redact = createRedactor(sensitive);
  const entries = Object.entries(response).map(([name, value]): [string, unknown] => {
    const isVerified = verified.includes(name);
    const shown = isVerified ? name : redact(name);
    return [shown, isVerified ? value : redactJson(value, redact)];
  });
  return Object.fromEntries(entries);
}
