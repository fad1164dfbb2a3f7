import { HIDDEN, isInexact } from '../../schema/shown-text';
import { isWireObject, type WireObject } from '../../schema/wire';

/**
 * What was sent must not come back: the card number and the security code of a request in the answer to it, and the
 * gateway's own credentials in any answer. Here the very values are known, so every text is searched, whatever it is for.
 */

/** Removes one secret from a text. */
type Remove = (text: string) => string;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** The same in the writings in which programs pass it on. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const all = [base64, bytes.toString('base64url'), bytes.toString('hex'), encodeURIComponent(secret)];
  return all.filter((text) => text !== secret);
}

const removeAll = (texts: readonly string[]): Remove => {
  const pattern = new RegExp(texts.map(escaped).join('|'), 'gi');
  return (text) => text.replace(pattern, HIDDEN);
};

/** A card number: however it is grouped, and whatever stands between the groups. */
function removeCardNumber(digits: string): Remove {
  const grouped = new RegExp([...digits].join('[^\\p{L}\\p{N}]{0,3}'), 'gu');
  const encoded = removeAll(encodings(digits));
  return (text) => {
    if (text.length < digits.length) return text;
    const removed = encoded(text.replace(grouped, HIDDEN));
    return removed.replace(/\D/g, '').includes(digits) ? HIDDEN : removed;
  };
}

/**
 * A security code: three or four digits that stand alone, or behind its name. It may be a part of a longer number, of a
 * decimal or of a masked card number by chance.
 */
function removeSecurityCode(code: string): Remove {
  const alone = `(?<![\\p{L}\\p{N}*•]|\\d[.,])(?:${code}|${[...code].join('[ -]')})(?![\\p{L}\\p{N}*•]|[.,]\\d)`;
  const pattern = new RegExp(`${alone}|(?<=cv[cvn]2?)${code}(?!\\d)`, 'giu');
  return (text) => (!/\d/.test(text) || isTime(text) ? text : text.replace(pattern, HIDDEN));
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.:+Z-]*$/i.test(text);

function removerOf(secret: string): Remove {
  if (/^\d{12,19}$/.test(secret)) return removeCardNumber(secret);
  return /^\d{3,4}$/.test(secret) ? removeSecurityCode(secret) : removeAll([secret, ...encodings(secret)]);
}

/** Whether a value can be searched for: any other that is so short stands in any text by chance. */
const isSecret = (value: string): boolean => /^\d{3,4}$/.test(value) || value.length >= 5;

/** What an answer must not carry. */
export interface MustNotComeBack {
  /** What this request handed in. */
  secrets?: readonly string[];
  /** The gateway's own, of every channel: the same list until they change. */
  credentials?: readonly string[];
  /** Whether a text of 43 characters is a token that this gateway put into the address of a callback. */
  isToken?(text: string): boolean;
}

/** Removes these from any text. */
export function remover({ secrets = [], credentials = [], isToken }: MustNotComeBack): Remove {
  const removers = [...secrets.filter(isSecret).map(removerOf), removerOfCredentials(credentials)];
  if (isToken) removers.push(removerOfTokens(isToken));
  return inTurn(removers);
}

/** One after the other. No function is made for a text: every text of every answer comes here. */
const inTurn =
  (removers: readonly Remove[]): Remove =>
  (text) => {
    let left = text;
    for (const remove of removers) left = remove(left);
    return left;
  };

const TOKEN_LENGTH = 43;

/** Removes tokens: there are too many to know them all, but each can be told from any other text. */
function removerOfTokens(isToken: (text: string) => boolean): Remove {
  // In an encoded address a letter may stand right before it.
  const hideIn = (run: string): string => {
    if (isToken(run.slice(-TOKEN_LENGTH))) return run.slice(0, -TOKEN_LENGTH) + HIDDEN;
    return isToken(run.slice(0, TOKEN_LENGTH)) ? HIDDEN + run.slice(TOKEN_LENGTH) : run;
  };
  return (text) => (text.length < TOKEN_LENGTH ? text : text.replace(/[\w-]{43,}/g, hideIn));
}

/** Made once for each list of credentials: a list of a thousand merchants must cost nothing per answer. */
const knownRemovers = new WeakMap<readonly string[], Remove>();

function removerOfCredentials(credentials: readonly string[]): Remove {
  const known = knownRemovers.get(credentials) ?? removeAny(credentials.filter(isSecret));
  knownRemovers.set(credentials, known);
  return known;
}

/** So many letters of a value tell of most texts that they do not hold it: fewer than any has that is searched for. */
const HEAD = 4;
const HEADS = 2 ** (4 * HEAD);

/** What the last letters of a text come to, with one more; capital letters count as small ones. */
const rolled = (code: number, letter: number): number => ((code << 4) ^ (letter | 0x20)) & (HEADS - 1);

/** Tells of a text, quickly however many values are looked for, whether it may hold one of them. */
function headsOf(values: readonly string[]): (text: string) => boolean {
  // Other letters have more than one bit between small and capital.
  if (!values.every((value) => /^[ -~]{4}/.test(value))) return () => true;
  const heads = new Uint8Array(HEADS);
  for (const value of values)
    heads[[...value.slice(0, HEAD)].reduce((code, letter) => rolled(code, letter.charCodeAt(0)), 0)] = 1;
  return (text) => {
    let code = 0;
    for (let at = 0; at < text.length; at += 1) {
      code = rolled(code, text.charCodeAt(at));
      if (heads[code] === 1) return true;
    }
    return false;
  };
}

/** Removes whichever of many there is. Few texts hold even the first letters of one. */
function removeAny(values: readonly string[]): Remove {
  const digits = values.filter((value) => /^\d+$/.test(value) && (value.length < 5 || value.length >= 12));
  const texts = values
    .filter((value) => !digits.includes(value))
    .flatMap((value) => [value, ...encodings(value)]);
  const mayHold = headsOf(texts);
  const removeTexts = texts.length > 0 ? removeAll(texts) : (text: string): string => text;
  const removeDigits = inTurn(digits.map(removerOf));
  return (text) => removeDigits(mayHold(text) ? removeTexts(text) : text);
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
export const withoutSecrets = (
  answer: WireObject,
  hidden: MustNotComeBack,
  verified: readonly string[],
): WireObject => cleanedObject(answer, remover(hidden), 0, verified);
