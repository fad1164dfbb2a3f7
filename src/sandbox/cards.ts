import { passesLuhn } from '../shared/luhn';
import { isObject, type WireObject } from '../shared/wire-object';

/**
 * Matches a text that may be a card number: 13 to 19 digits, of which the first is 2 to 6. Between two digits there may
 * be one space or hyphen.
 */
const PAN_CANDIDATE_PATTERN = /(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)/g;

export const containsCardNumber = (text: string): boolean =>
  (text.match(PAN_CANDIDATE_PATTERN) ?? []).some((candidate) => passesLuhn(candidate.replace(/\D/g, '')));

/** Masks all but the first four and the last four digits (spec 2.5). */
const maskCardNumber = (pan: string): string =>
  pan.slice(0, 4) + '*'.repeat(Math.max(4, pan.length - 8)) + pan.slice(-4);

/**
 * Returns a copy with the card number (`pan`) masked and without the security code (`cvc`). For methods with documented
 * fields, in which only these two fields are card data.
 */
export function maskCardFields(fields: WireObject): WireObject {
  const maskedFields = { ...fields };
  delete maskedFields['cvc'];
  if (typeof maskedFields['pan'] === 'string') maskedFields['pan'] = maskCardNumber(maskedFields['pan']);
  return maskedFields;
}

/**
 * Returns a copy without card data at any depth, for methods that accept any fields. Masks card numbers in strings and
 * removes security codes (`cvc`, `cvv`, `cvv2`). Replaces JSON numbers of 1e11 or more by null, because they can be
 * card numbers.
 */
export function redactCardData(fields: WireObject): WireObject {
  const keptEntries = Object.entries(fields).filter(([name]) => !/^(cvc|cvv2?)$/i.test(name));
  return Object.fromEntries(keptEntries.map(([name, value]) => [name, redactValue(value)]));
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(PAN_CANDIDATE_PATTERN, (candidate) => maskCardNumber(candidate.replace(/\D/g, '')));
  if (typeof value === 'number') return Math.abs(value) < 1e11 ? value : null;
  if (Array.isArray(value)) return value.map(redactValue);
  return isObject(value) ? redactCardData(value) : value;
}
