import {
  IsOptional,
  ValidateBy,
  isEmail,
  isIBAN,
  isISO31661Alpha2,
  isISO8601,
  type ValidationArguments,
} from 'class-validator';
import { Field } from 'type-graphql';
import { containsKnownSchemePan } from '../redaction/pan';
import { passesLuhn } from '../shared/luhn';
import { isPrintable } from '../shared/text';
import type { InputRuleName } from './input-rules';

// This file has the rules of input fields, as class-validator decorators. Their messages never contain the value.

/** Creates a validation rule. `name`: its name in FieldError.rule. `test` gets the value and the whole input object. */
const Rule = (
  name: InputRuleName,
  message: string,
  test: (value: unknown, input: Record<string, unknown>) => boolean,
): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value: unknown, args?: ValidationArguments) => test(value, { ...args?.object }),
      defaultMessage: () => message,
    },
  });

/** Creates a validation rule for a text field. Values other than strings violate the rule. */
export const TextRule = (
  name: InputRuleName,
  message: string,
  test: (text: string, input: Record<string, unknown>) => boolean,
): PropertyDecorator =>
  Rule(name, message, (value, input) => typeof value === 'string' && test(value, input));

const ObjectRule = (
  name: InputRuleName,
  message: string,
  test: (object: object) => boolean,
): PropertyDecorator =>
  Rule(name, message, (value) => typeof value === 'object' && value !== null && test(value));

const combineDecorators =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (prototype, propertyKey) =>
    decorators.forEach((decorate) => decorate(prototype, propertyKey));

/** Requires printable text that is not blank. `maxLength` is in UTF-16 code units; the specification has no maximum. */
export const IsText = (maxLength = 255): PropertyDecorator =>
  combineDecorators(
    TextRule('notBlank', 'must not be blank.', (text) => text.trim() !== ''),
    TextRule('printable', 'must not contain control characters.', isPrintable),
    TextRule('maxLength', `must have at most ${maxLength} characters.`, (text) => text.length <= maxLength),
  );

/** Declares a required String field of an input, by default with the rules of `IsText`. */
export const TextField = (description: string, rules = IsText()): PropertyDecorator =>
  combineDecorators(
    Field(() => String, { description }),
    rules,
  );

/** Declares an optional String field of an input, by default with the rules of `IsText`. */
export const OptionalTextField = (description: string, rules = IsText()): PropertyDecorator =>
  combineDecorators(
    Field(() => String, { nullable: true, description }),
    IsOptional(),
    rules,
  );

export const IsEmail = (): PropertyDecorator =>
  TextRule('email', 'must be an email address.', (text) => isPrintable(text) && isEmail(text));

export const IsPhone = (): PropertyDecorator =>
  TextRule(
    'e164',
    'must be a phone number in E.164 form: 7 to 15 digits beginning with the country code, with or without a plus sign.',
    (text) => /^\+?[1-9]\d{6,14}$/.test(text),
  );

const describePhone = (owner: 'payer' | 'recipient'): string =>
  `The ${owner}'s phone number, E.164; sent as given, with or without +.`;

export const PhoneField = (owner: 'payer' | 'recipient'): PropertyDecorator =>
  TextField(describePhone(owner), IsPhone());

export const OptionalPhoneField = (owner: 'payer' | 'recipient'): PropertyDecorator =>
  OptionalTextField(describePhone(owner), IsPhone());

export const IsCountryCode = (): PropertyDecorator =>
  TextRule(
    'iso3166Alpha2',
    'must be a country code of ISO 3166-1 alpha-2 in capital letters.',
    (text) => /^[A-Z]{2}$/.test(text) && isISO31661Alpha2(text),
  );

const isCalendarDate = (text: string): boolean =>
  /^(19|[2-9]\d)\d\d-\d\d-\d\d$/.test(text) && isISO8601(text, { strict: true });

/** Requires a calendar date from 1900 on. The date must not be in the future (UTC). */
export const IsPastDate = (): PropertyDecorator =>
  combineDecorators(
    TextRule('date', 'must be a date in the form YYYY-MM-DD, from 1900 on.', isCalendarDate),
    TextRule(
      'past',
      'must not be in the future.',
      (text) => !isCalendarDate(text) || Date.parse(text) <= Date.now(),
    ),
  );

/** Removes the spaces and dashes of a card number, because the service expects only digits. */
export const cardNumberDigits = (text: string): string => text.replace(/[ -]/g, '');

const hasCardNumberLength = (text: string): boolean =>
  /^\d[\d -]*\d$/.test(text) && /^\d{12,19}$/.test(cardNumberDigits(text));

export const IsPan = (): PropertyDecorator =>
  combineDecorators(
    TextRule('cardNumber', 'must be a card number of 12 to 19 digits.', hasCardNumberLength),
    TextRule('luhn', 'must be a card number with a correct check digit.', (text) =>
      passesLuhn(cardNumberDigits(text)),
    ),
  );

export const IsSecurityCode = (): PropertyDecorator =>
  TextRule('cvc', 'must have 3 or 4 digits.', (text) => /^\d{3,4}$/.test(text));

export const IsExpiryMonth = (): PropertyDecorator =>
  TextRule('expiryMonth', 'must be a month in the form MM, 01 to 12.', (text) =>
    /^(0[1-9]|1[0-2])$/.test(text),
  );

/** Whether a card's expiry month is over in every time zone. A month ends last in UTC−12. @param month 1 to 12 */
const hasExpired = (month: number, year: number): boolean => Date.now() >= Date.UTC(year, month, 1, 12);

export const IsExpiryYear = (): PropertyDecorator =>
  combineDecorators(
    TextRule('expiryYear', 'must be a year from 2000 to 2099.', (text) => /^20\d{2}$/.test(text)),
    TextRule(
      'notExpired',
      'must not be in the past: with this expiryMonth, the card has expired.',
      (text, card) => !hasExpired(Number(card['expiryMonth']), Number(text)),
    ),
  );

export const IsMaskedPan = (): PropertyDecorator =>
  TextRule(
    'maskedPan',
    'must be a masked card number: the first four to six digits, 4 to 11 mask characters (*, X or •), the last four digits. Never send a full card number.',
    (text) => /^\d{4,6}[*xX•]{4,11}\d{4}$/.test(text.replace(/[ -]/g, '')),
  );

/** If the decorated field is given, requires that all `otherFields` are null or absent. */
export const ExcludesFields = (...otherFields: string[]): PropertyDecorator =>
  TextRule(
    'addressOrStructuredFields',
    `must be given instead of ${otherFields.join(', ')}, not together with them.`,
    (_text, input) => otherFields.every((name) => input[name] === undefined || input[name] === null),
  );

/**
 * Whether `test` accepts all field names, strings and numbers in a JSON value. False if the value is nested more than 8
 * levels deep.
 */
function allTextsPass(value: unknown, test: (text: string) => boolean, depth = 0): boolean {
  if (depth > 8) return false;
  if (typeof value === 'string') return test(value);
  if (typeof value === 'number') return test(String(value));
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, nested]) => test(name) && allTextsPass(nested, test, depth + 1));
}

/**
 * Whether a text contains a card number. False for every IBAN: one in seven has digits that look like a card number.
 */
const hasCardNumber = (text: string): boolean => containsKnownSchemePan(text) && !isIBAN(text);

const isWithinSizeLimit = (fields: object): boolean => JSON.stringify(fields).length <= 8192;

/** Validation rules for the JSON object `fields` of methods without documented fields. */
export const IsCustomFields = (): PropertyDecorator =>
  combineDecorators(
    ObjectRule(
      'noType',
      'must not contain type: the method is already chosen.',
      (fields) => !Object.hasOwn(fields, 'type'),
    ),
    ObjectRule('size', 'must have at most 8192 characters as JSON.', isWithinSizeLimit),
    ObjectRule(
      'printable',
      'must not be nested deeper than 8 levels or contain control characters.',
      (fields) => allTextsPass(fields, isPrintable),
    ),
    // Do not search a value that is too large: the search is slow, and the rule `size` rejects the value anyway.
    ObjectRule(
      'noCardNumber',
      'must not contain anything that looks like a full card number.',
      (fields) => !isWithinSizeLimit(fields) || allTextsPass(fields, (text) => !hasCardNumber(text)),
    ),
  );

/** Requires that a nested input has at least one field that is neither null nor undefined. */
export const HasAnyField = (): PropertyDecorator =>
  ObjectRule(
    'notEmpty',
    'must have at least one field; to send only the type, use redirect (payment) or typeOnly (payout).',
    (input) => Object.values(input).some((value) => value !== null && value !== undefined),
  );
