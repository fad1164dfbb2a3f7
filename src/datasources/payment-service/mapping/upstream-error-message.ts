import { isPrintable } from '../../../shared/text';
import { redactText, readServiceMessage } from '../../../redaction/text';
import { isObject } from '../../../shared/wire-object';
import { createRedactor, type SensitiveValues } from '../../../redaction/service-response';
import { readJson, type RawResponse } from '../http/http-exchange';

const MAX_REFUSAL_LENGTH = 500;
const MAX_REFUSAL_TEXTS = 10;
const DEFAULT_REFUSAL = 'The payment service rejected the request without a reason that can be shown.';

/** Returns the error messages in a JSON value, from the usual fields such as `message` and `errors`. */
function errorTextsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (depth > 4) return [];
  if (Array.isArray(value)) return value.flatMap((innerValue) => errorTextsIn(innerValue, depth + 1));
  if (!isObject(value)) return [];
  const mainValue = value['message'] ?? value['detail'] ?? value['error'] ?? value['errors'];
  if (mainValue !== undefined && mainValue !== null) {
    const moreTexts = mainValue === value['errors'] ? [] : errorTextsIn(value['errors'], depth + 1);
    return [...errorTextsIn(mainValue, depth + 1), ...moreTexts];
  }
  // An object with none of these fields has a field for each invalid input, for example { amount: ["too small"] }.
  return Object.entries(value).flatMap(([fieldName, innerValue]) =>
    errorTextsIn(innerValue, depth + 1).map((text) => `${fieldName}: ${text}`),
  );
}

const isSafeToExpose = (text: string, redact: (text: string) => string): boolean =>
  text.trim() !== '' &&
  text.length <= MAX_REFUSAL_LENGTH &&
  isPrintable(text) &&
  !/<[a-z!/]/i.test(text) &&
  redactText(text) === text &&
  redact(text) === text;

const plainTextsIn = ({ headers, body }: RawResponse): string[] =>
  /^text\/plain\b/i.test(String(headers['content-type'])) ? [body.toString('utf8')] : [];

/**
 * Returns the error messages in a 4xx response as one text, or a default text if none is safe for the caller. Reads
 * plain text and the usual JSON fields, because the service documents no format (spec 7.1). Ignores messages that are
 * too long or not printable, or contain HTML, card numbers, tokens or `sensitiveValues`.
 */
export function extractErrorMessage(rawResponse: RawResponse, sensitiveValues: SensitiveValues): string {
  const redact = createRedactor(sensitiveValues);
  const json = readJson(rawResponse);
  const texts = (json === undefined ? plainTextsIn(rawResponse) : errorTextsIn(json))
    .map((text) => text.trim())
    .filter((text) => isSafeToExpose(text, redact));
  const joinedText = [...new Set(texts)].slice(0, MAX_REFUSAL_TEXTS).join('; ').slice(0, MAX_REFUSAL_LENGTH);
  // Check again, because texts that are safe alone may form a card number when joined.
  return isSafeToExpose(joinedText, redact)
    ? (readServiceMessage(joinedText) ?? DEFAULT_REFUSAL)
    : DEFAULT_REFUSAL;
}
