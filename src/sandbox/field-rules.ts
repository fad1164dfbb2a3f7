import { passesLuhn } from '../shared/luhn';
import { isUuid } from '../shared/uuid';
import { containsCardNumber } from './cards';

/** Validates a value. Returns the violated rule in words, without the value; undefined if the value is valid. */
export type FieldRule = (value: string) => string | undefined;

function regexRule(pattern: RegExp, ruleText: string): FieldRule {
  return (value) => (pattern.test(value) ? undefined : ruleText);
}

const CONTROL_CHARACTER_PATTERN = /\p{Cc}/u;
const CONTROL_EXCEPT_WHITESPACE_PATTERN = /(?![\t\n\r])\p{Cc}/u;

export const plainTextRule: FieldRule = (value) => {
  if (value.trim() === '') return 'must not be blank';
  return CONTROL_EXCEPT_WHITESPACE_PATTERN.test(value) || !value.isWellFormed()
    ? 'must not contain control characters or lone surrogates'
    : undefined;
};

export const uuidRule: FieldRule = (value) => (isUuid(value) ? undefined : 'must be a UUID');
export const currencyCodeRule = regexRule(/^[A-Z]{3}$/, 'must be an ISO 4217 currency code');

export const decimalRule = regexRule(/^(0|[1-9]\d*)\.\d{2}$/, 'must be a decimal number with two decimals');
export const positiveAmountRule: FieldRule = (value) =>
  decimalRule(value) ?? (/[1-9]/.test(value) ? undefined : 'must be greater than zero');

export const httpUrlRule: FieldRule = (value) => {
  const parsedUrl = CONTROL_CHARACTER_PATTERN.test(value) ? null : URL.parse(value);
  if (!parsedUrl || !['http:', 'https:'].includes(parsedUrl.protocol)) return 'must be an http or https URL';
  return parsedUrl.username || parsedUrl.password ? 'must not contain a user name or password' : undefined;
};

export const noCardNumberRule: FieldRule = (value) =>
  plainTextRule(value) ?? (containsCardNumber(value) ? 'must not contain a card number' : undefined);

const panRule: FieldRule = (value) => {
  if (!/^\d{12,19}$/.test(value)) return 'must be 12 to 19 digits';
  return passesLuhn(value) ? undefined : 'must be a valid card number';
};

const maskedPanRule = regexRule(
  /^\d{4,6}[*xX•]{3,13}\d{4}$/,
  'must be a masked card number: the first four to six digits, 3 to 13 mask characters (*, x or •), the last four digits',
);

const birthDateRule: FieldRule = (value) => {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
  const isCalendarDate = date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
  return isCalendarDate ? undefined : 'must be a date, YYYY-MM-DD';
};

/** Rules for fields of payment and payout methods, by field name. A field that is not listed must be plain text. */
const RULE_BY_METHOD_FIELD: ReadonlyMap<string, FieldRule> = new Map<string, FieldRule>([
  ['pan', panRule],
  ['expiry_month', regexRule(/^(0[1-9]|1[0-2])$/, 'must be a month, MM')],
  ['expiry_year', regexRule(/^20\d{2}$/, 'must be a year, YYYY')],
  ['cvc', regexRule(/^\d{3,4}$/, 'must be 3 or 4 digits')],
  ['card_mask', (value) => maskedPanRule(value.replace(/[ -]/g, ''))],
  ['email', regexRule(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must be an e-mail address')],
  ['phone', regexRule(/^\+?[1-9]\d{6,14}$/, 'must be a phone number in E.164 form')],
  ['country_code', regexRule(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 country code')],
  ['birth_date', birthDateRule],
  ...['cardholder', 'first_name', 'last_name', 'surname', 'address', 'city', 'street', 'bank_name'].map(
    (fieldName): [string, FieldRule] => [fieldName, noCardNumberRule],
  ),
]);

export const methodFieldRule = (name: string): FieldRule => RULE_BY_METHOD_FIELD.get(name) ?? plainTextRule;
