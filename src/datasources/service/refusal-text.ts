import { isPrintable } from '../../schema/rules';
import { hideNumbers, readMessage } from '../../schema/shown-text';
import { isWireObject } from '../../schema/wire';
import { remover, type MustNotComeBack } from './echoes';
import { readJson } from './json-body';
import type { RawAnswer } from './exchange';

/**
 * The words of a 4xx answer. Their format is not documented (spec 7.1), so the common shapes are tried: message,
 * detail, error, errors, or plain text. HTML is never passed on, nor anything long or odd.
 */

const MAX_LENGTH = 500;
const MAX_PARTS = 10;
const SILENCE = 'The payment service refused the request and did not say why.';

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (depth > 4 || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((inner) => textsIn(inner, depth + 1));
  if (!isWireObject(value)) return [];
  const said = value['message'] ?? value['detail'] ?? value['error'] ?? value['errors'];
  if (said !== undefined && said !== null) {
    const more = said === value['errors'] ? [] : textsIn(value['errors'], depth + 1);
    return [...textsIn(said, depth + 1), ...more];
  }
  // A table of field names and what is wrong with each.
  return Object.entries(value).flatMap(([name, inner]) =>
    textsIn(inner, depth + 1).map((text) => `${name}: ${text}`),
  );
}

const isSayable = (text: string, remove: (text: string) => string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  isPrintable(text) &&
  !/<[a-z!/]/i.test(text) &&
  hideNumbers(text) === text &&
  remove(text) === text;

function plainText({ headers, body }: RawAnswer): string[] {
  return String(headers['content-type'] ?? '').startsWith('text/plain') ? [body.toString('utf8')] : [];
}

/**
 * What the service said, fit for a caller; a sentence of our own where it said nothing that is.
 * @param hidden what must not come back: a text that repeats some of it is left out
 */
export function readRefusalText(raw: RawAnswer, hidden: MustNotComeBack): string {
  const remove = remover(hidden);
  const json = readJson(raw);
  const said = (json === undefined ? plainText(raw) : textsIn(json))
    .map((text) => text.trim())
    .filter((text) => isSayable(text, remove));
  const joined = [...new Set(said)].slice(0, MAX_PARTS).join('; ').slice(0, MAX_LENGTH);
  // Parts that are harmless each may be a card number together.
  return isSayable(joined, remove) ? (readMessage(joined) ?? SILENCE) : SILENCE;
}
