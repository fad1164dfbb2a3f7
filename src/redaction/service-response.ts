import { REDACTED } from '../shared/secret';
import type { WireObject } from '../shared/wire-object';
import { findInDecodings, findMatches, NO_SPANS, redactSpans, type Finder, type Span } from './decodings';
import { knownCardNumberFinder } from './pan';
import { redactJsonValue } from './text';

// Redacts known secrets in responses of the payment service: the card number and security code of the request, tokens
// of callback URLs, and the credentials of the gateway. Searches all fields except those whose values were checked,
// such as `transaction_id`.

type Redactor = (text: string) => string;

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** Returns the encodings of a secret that findInDecodings() does not decode: base64, base64url and hex. */
function encodingsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [base64, base64url, Buffer.from(secret).toString('hex')].filter((text) => text !== secret);
}

function literalFinder(literals: readonly string[]): Finder {
  if (literals.length === 0) return () => NO_SPANS;
  const pattern = new RegExp(literals.map(escapeRegExp).join('|'), 'gi');
  return (text) => findMatches(pattern, text);
}

/** Returns a Finder that matches the whole text if its digits contain `digitSequence`. Ignores all other characters. */
const scatteredDigitsFinder =
  (digitSequence: string): Finder =>
  (text) =>
    text.length >= digitSequence.length && text.replace(/\D/g, '').includes(digitSequence)
      ? [[0, text.length]]
      : NO_SPANS;

/**
 * Patterns of security codes: 3 digits that stand alone, 4 digits that stand alone, and 3 or 4 digits after CVC, CVV
 * or CVN. Group 1 is the code. The patterns match any code, and the search compares the match with the code it looks
 * for. To compile a pattern for each code would take longer than the search.
 */
const SECURITY_CODE_PATTERNS: readonly RegExp[] = [
  /(?<![\p{L}\p{N}*•]|\d[.,])(?=(\d{3}|\d(?:[ -]\d){2})(?![\p{L}\p{N}*•]|[.,]\d))/gu,
  /(?<![\p{L}\p{N}*•]|\d[.,])(?=(\d{4}|\d(?:[ -]\d){3})(?![\p{L}\p{N}*•]|[.,]\d))/gu,
  /(?<=cv[cvn]2?)(?=(\d{3,4})(?!\d))/gi,
];

/** Returns a Finder of a security code that stands alone or follows CVC, CVV or CVN. Skips texts that are ISO times. */
function securityCodeFinder(securityCode: string): Finder {
  const findSecurityCodes = (text: string): Span[] =>
    SECURITY_CODE_PATTERNS.flatMap((pattern) => [...text.matchAll(pattern)])
      .filter(({ 1: matchedCode = '' }) => matchedCode.replace(/\D/g, '') === securityCode)
      .map(({ 1: matchedCode = '', index }): Span => [index, index + matchedCode.length]);
  return (text) => (!/\d{3}|\d[ -]\d/.test(text) || isIsoDateTime(text) ? NO_SPANS : findSecurityCodes(text));
}

const isIsoDateTime = (text: string): boolean => /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.:+Z-]*$/i.test(text);

const hasCardNumberLength = (secret: string): boolean => /^\d{12,19}$/.test(secret);

function secretFinder(secret: string): Finder {
  if (hasCardNumberLength(secret))
    return unionFinder([knownCardNumberFinder(secret), literalFinder(encodingsOf(secret))]);
  return /^\d{3,4}$/.test(secret)
    ? securityCodeFinder(secret)
    : literalFinder([secret, ...encodingsOf(secret)]);
}

/**
 * Whether a secret is searched for: it is a security code, or has at least five characters. Shorter texts would match
 * by chance.
 */
const isSearchableSecret = (secret: string): boolean => /^\d{3,4}$/.test(secret) || secret.length >= 5;

/** Values that callers must not see in a response. */
export interface SensitiveValues {
  /** Secrets of the request, such as card number and security code. */
  secrets?: readonly string[];
  /** The gateway's credentials for all channels. Pass the same array until they change, because it is a cache key. */
  credentials?: readonly string[];
  /** Whether a text of 43 characters is a token of a callback URL. */
  isCallbackToken?(text: string): boolean;
}

/** Creates a function that redacts sensitive values in a text, even encoded ones. */
export function createRedactor(sensitiveValues: SensitiveValues): Redactor {
  const { secrets = [], credentials = [], isCallbackToken } = sensitiveValues;
  const finders = [...secrets.filter(isSearchableSecret).map(secretFinder), credentialFinder(credentials)];
  if (isCallbackToken) finders.push(callbackTokenFinder(isCallbackToken));
  const findSecrets = unionFinder(finders);
  const findScatteredDigits = unionFinder(secrets.filter(hasCardNumberLength).map(scatteredDigitsFinder));
  return (text) => {
    const redactedText = redactSpans(text, findInDecodings(text, findSecrets));
    return findInDecodings(redactedText, findScatteredDigits).length === 0 ? redactedText : REDACTED;
  };
}

/**
 * Returns a Finder of everything that `finders` find. It allocates no memory if there is no match, because it runs for
 * every text.
 */
const unionFinder =
  (finders: readonly Finder[]): Finder =>
  (text) => {
    let allSpans = NO_SPANS;
    for (const find of finders) {
      const spans = find(text);
      if (spans.length > 0) allSpans = [...allSpans, ...spans];
    }
    return allSpans;
  };

const CALLBACK_TOKEN_LENGTH = 43;

/** Returns a Finder of tokens of callback URLs. Tests the start and the end of each run of token characters. */
function callbackTokenFinder(isToken: (text: string) => boolean): Finder {
  // Test the end of the run first: in an encoded URL, other characters may directly precede the token.
  const tokenSpans = (run: string, runStart: number): readonly Span[] => {
    const end = runStart + run.length;
    if (isToken(run.slice(-CALLBACK_TOKEN_LENGTH))) return [[end - CALLBACK_TOKEN_LENGTH, end]];
    return isToken(run.slice(0, CALLBACK_TOKEN_LENGTH))
      ? [[runStart, runStart + CALLBACK_TOKEN_LENGTH]]
      : NO_SPANS;
  };
  return (text) =>
    text.length < CALLBACK_TOKEN_LENGTH
      ? NO_SPANS
      : Array.from(text.matchAll(/[\w-]{43,}/g), ({ 0: run, index }) => tokenSpans(run, index)).flat();
}

/** Finders by list of credentials. Cached, because building one for a thousand merchants is slow. */
const credentialFinderCache = new WeakMap<readonly string[], Finder>();

function credentialFinder(credentials: readonly string[]): Finder {
  const finder =
    credentialFinderCache.get(credentials) ?? secretsFinder(credentials.filter(isSearchableSecret));
  credentialFinderCache.set(credentials, finder);
  return finder;
}

/** Number of leading characters of each literal that the prefilter hashes. */
const HASHED_PREFIX_LENGTH = 4;
const POSSIBLE_HASH_COUNT = 2 ** (4 * HASHED_PREFIX_LENGTH);

/** Returns the rolling hash of the last HASHED_PREFIX_LENGTH characters after the next one is added. Ignores case. */
const rollingHash = (hash: number, characterCode: number): number =>
  ((hash << 4) ^ (characterCode | 0x20)) & (POSSIBLE_HASH_COUNT - 1);

/**
 * Returns a fast test of whether a text may contain one of the literals. The time of the test does not depend on the
 * number of literals.
 */
function createPrefilter(literals: readonly string[]): (text: string) => boolean {
  // The hash ignores case in ASCII only. If a literal does not begin with four ASCII characters, let every text pass.
  if (!literals.every((text) => /^[ -~]{4}/.test(text))) return () => true;
  const prefixHashFlags = new Uint8Array(POSSIBLE_HASH_COUNT);
  for (const text of literals)
    prefixHashFlags[
      [...text.slice(0, HASHED_PREFIX_LENGTH)].reduce(
        (hash, character) => rollingHash(hash, character.charCodeAt(0)),
        0,
      )
    ] = 1;
  return (text) => {
    let hash = 0;
    for (let index = 0; index < text.length; index += 1) {
      hash = rollingHash(hash, text.charCodeAt(index));
      if (prefixHashFlags[hash] === 1) return true;
    }
    return false;
  };
}

/** Returns a Finder of many secrets. A prefilter avoids most searches, except for numbers of 3, 4 or over 11 digits. */
function secretsFinder(secrets: readonly string[]): Finder {
  const numericTexts = secrets.filter((text) => /^\d+$/.test(text) && (text.length < 5 || text.length >= 12));
  const literalSecrets = secrets.filter((text) => !numericTexts.includes(text));
  const literals = literalSecrets.flatMap((text) => [text, ...encodingsOf(text)]);
  const mayContainLiteral = createPrefilter(literals);
  const findLiterals = literalFinder(literals);
  return unionFinder([
    (text) => (mayContainLiteral(text) ? findLiterals(text) : NO_SPANS),
    ...numericTexts.map(secretFinder),
  ]);
}

/**
 * Redacts a response. Does not redact the names of its top-level fields, because callers never see these names.
 * @param verifiedFieldNames names of top-level fields that are not redacted, because their values were already checked
 */
export function redactResponse(
  response: WireObject,
  sensitiveValues: SensitiveValues,
  verifiedFieldNames: readonly string[],
): WireObject {
  const redact = createRedactor(sensitiveValues);
  const entries = Object.entries(response).map(([name, value]): [string, unknown] => [
    name,
    verifiedFieldNames.includes(name) ? value : redactJsonValue(value, redact),
  ]);
  return Object.fromEntries(entries);
}
