/**
 * Every `rule` of a FieldError. docs/results.md explains each, and the client kit has them as a type (`InputRule`). A rule
 * that is not here does not compile.
 */
export const INPUT_RULES = [
  'notBlank',
  'printable',
  'maxLength',
  'email',
  'e164',
  'iso3166Alpha2',
  'date',
  'past',
  'iban',
  'cardNumber',
  'luhn',
  'cvc',
  'expiryMonth',
  'expiryYear',
  'notExpired',
  'maskedPan',
  'addressOrStructuredFields',
  'notEmpty',
  'iso4217',
  'currencyOfMethod',
  'methodType',
  'knownMethod',
  'noType',
  'size',
  'noCardNumber',
  'noSecret',
  'https',
  'noCredentials',
  'plainUrl',
  'publicAddress',
  'allowedHost',
  'unused',
  'paymentOnChannel',
  'methodOfPayment',
] as const;

/** One of INPUT_RULES. */
export type InputRule = (typeof INPUT_RULES)[number];
