import { holdsCardNumber, passesLuhn } from './cards';

/** The rule that a value breaks, in words that do not repeat the value; `undefined` where it breaks none. */
export type Rule = (value: string) => string | undefined;

function shaped(pattern: RegExp, rule: string): Rule {
  return (value) => (pattern.test(value) ? undefined : rule);
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_LINES = /(?![\t\n\r])\p{Cc}/u;

export const plainText: Rule = (value) => {
  if (value.trim() === '') return 'must not be empty';
  return CONTROL_BUT_LINES.test(value) || !value.isWellFormed() ? 'must be plain text' : undefined;
};

export const uuid = shaped(UUID, 'must be a UUID');
export const currencyCode = shaped(/^[A-Z]{3}$/, 'must be an ISO 4217 code');

export const amountValue: Rule = (value) => {
  if (!/^(0|[1-9]\d*)\.\d{2}$/.test(value)) return 'must be a decimal number with two decimals';
  return /[1-9]/.test(value) ? undefined : 'must be greater than zero';
};

export const receivedValue = shaped(/^(0|[1-9]\d*)\.\d{2}$/, 'must be a decimal number with two decimals');

/** A web address that may be called or opened. */
export const webAddress: Rule = (value) => {
  const url = CONTROL.test(value) ? null : URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https URL';
  return url.username || url.password ? 'must not hold credentials' : undefined;
};

/** Text in which a card number would be out of place, and a leak. */
export const freeText: Rule = (value) =>
  plainText(value) ?? (holdsCardNumber(value) ? 'must not hold a card number' : undefined);

const pan: Rule = (value) => {
  if (!/^\d{12,19}$/.test(value)) return 'must be 12 to 19 digits';
  return passesLuhn(value) ? undefined : 'must be a valid card number';
};

const maskedPan = shaped(
  /^\d{4,6}[*xX]{3,13}\d{4}$/,
  'must be a masked card number: at most the first six and the last four digits',
);

const birthDate: Rule = (value) => {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
  const real = date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
  return real ? undefined : 'must be a date, YYYY-MM-DD';
};

/** By field name: the service uses a name in one sense only. A field that is not listed is plain text. */
const METHOD_FIELDS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['pan', pan],
  ['expiry_month', shaped(/^(0[1-9]|1[0-2])$/, 'must be a month, MM')],
  ['expiry_year', shaped(/^20\d{2}$/, 'must be a year, YYYY')],
  ['cvc', shaped(/^\d{3,4}$/, 'must be 3 or 4 digits')],
  ['card_mask', (value) => maskedPan(value.replace(/ /g, ''))],
  ['email', shaped(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must be an e-mail address')],
  ['phone', shaped(/^\+?[1-9]\d{6,14}$/, 'must be a phone number in E.164 form')],
  ['country_code', shaped(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 code')],
  ['birth_date', birthDate],
  ...['cardholder', 'first_name', 'last_name', 'surname', 'address', 'city', 'street', 'bank_name'].map(
    (name): [string, Rule] => [name, freeText],
  ),
]);

export function methodFieldRule(name: string): Rule {
  return METHOD_FIELDS.get(name) ?? plainText;
}
