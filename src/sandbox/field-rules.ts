import { isUuid } from '../shared/uuid';
import { holdsCardNumber, passesLuhn } from './cards';

/** The rule that a value violates, in words without the value; `undefined` for a valid value. */
export type Rule = (value: string) => string | undefined;

function shaped(pattern: RegExp, rule: string): Rule {
  return (value) => (pattern.test(value) ? undefined : rule);
}

const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_LINES = /(?![\t\n\r])\p{Cc}/u;

export const plainText: Rule = (value) => {
  if (value.trim() === '') return 'must not be empty';
  return CONTROL_BUT_LINES.test(value) || !value.isWellFormed() ? 'must be plain text' : undefined;
};

export const uuid: Rule = (value) => (isUuid(value) ? undefined : 'must be a UUID');
export const currencyCode = shaped(/^[A-Z]{3}$/, 'must be an ISO 4217 code');

export const receivedValue = shaped(/^(0|[1-9]\d*)\.\d{2}$/, 'must be a decimal number with two decimals');
export const amountValue: Rule = (value) =>
  receivedValue(value) ?? (/[1-9]/.test(value) ? undefined : 'must be greater than zero');

export const webAddress: Rule = (value) => {
  const url = CONTROL.test(value) ? null : URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https URL';
  return url.username || url.password ? 'must not contain credentials' : undefined;
};

/** Text that must not contain a card number. */
export const freeText: Rule = (value) =>
  plainText(value) ?? (holdsCardNumber(value) ? 'must not contain a card number' : undefined);

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

/** By field name, which has the same meaning in all methods. Other fields are plain text. */
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

export const methodFieldRule = (name: string): Rule => METHOD_FIELDS.get(name) ?? plainText;
