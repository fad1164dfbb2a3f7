import { isPrintable } from '../../../shared/text';
import { hideNumbers, readMessage } from '../../../redaction/text';
import { isWireObject } from '../../../shared/wire-object';
import { createRedactor, type SensitiveValues } from '../../../redaction/service-response';
import { readJson } from '../http/json-body';
import type { RawResponse } from '../http/http-exchange';

/**
 * The words of a 4xx answer. Their format is not documented (spec 7.1), so the common shapes are tried: message,
 * detail, error, errors, or plain text. HTML is never passed on, nor anything long or odd.
 */

const MAX_LENGTH = 500;
const MAX_PARTS = 10;
const DEFAULT_MESSAGE = 'The payment service refused the request and did not say why.';

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

const isSafeToExpose = (text: string, remove: (text: string) => string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_LENGTH &&
  isPrintable(text) &&
  !/<[a-z!/]/i.test(text) &&
  hideNumbers(text) === text &&
  remove(text) === text;

function plainText({ headers, body }: RawResponse): string[] {
  return String(headers['content-type'] ?? '').startsWith('text/plain') ? [body.toString('utf8')] : [];
}

/**
 * What the service said, fit for a caller; a sentence of our own where it said nothing that is.
 * @param hidden what must not come back: a text that repeats some of it is left out
 */
export function extractErrorMessage(raw: RawResponse, hidden: SensitiveValues): string {
  const remove = createRedactor(hidden);
  const json = readJson(raw);
  const said = (json === undefined ? plainText(raw) : textsIn(json))
    .map((text) => text.trim())
    .filter((text) => isSafeToExpose(text, remove));
  const joined = [...new Set(said)].slice(0, MAX_PARTS).join('; ').slice(0, MAX_LENGTH);
  // Parts that are harmless each may be a card number together.
  return isSafeToExpose(joined, remove) ? (readMessage(joined) ?? DEFAULT_MESSAGE) : DEFAULT_MESSAGE;
}
