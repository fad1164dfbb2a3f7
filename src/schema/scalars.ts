import {
  GraphQLError,
  GraphQLScalarType,
  Kind,
  type FloatValueNode,
  type IntValueNode,
  type ValueNode,
} from 'graphql';
import { isInexact } from '../redaction/text';
import type { ValueRule } from './value-rules';

/** A rule of a scalar: its stable name, and the rule in words. */
type Rule = readonly [name: ValueRule, message: string];

/**
 * A value that does not fit its scalar. The message states the rule and never the value; graphql-js adds the path.
 * It is a GraphQLError because anything else would be wrapped together with the offending literal.
 * @param nodes the literal, where the value stands in the document
 */
const misfit = ([rule, message]: Rule, nodes?: ValueNode): GraphQLError =>
  new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', rule } });

interface StringScalar {
  name: string;
  description: string;
  specifiedByURL?: string;
  rule: Rule;
  /** The normalised value, or undefined when the text does not fit. */
  read(text: string): string | undefined;
  /** A more exact name of the rule that a text breaks. */
  ruleBroken?(text: string): ValueRule;
}

/** A scalar that travels as a string; what the service sends goes out as it came. */
function stringScalar({ name, description, specifiedByURL, ...scalar }: StringScalar): GraphQLScalarType {
  const { rule, read, ruleBroken = () => rule[0] } = scalar;
  const parse = (value: unknown, node?: ValueNode): string => {
    if (typeof value !== 'string') throw misfit(rule, node);
    const known = read(value);
    if (known === undefined) throw misfit([ruleBroken(value), rule[1]], node);
    return known;
  };
  return new GraphQLScalarType<string, string>({
    name,
    description,
    specifiedByURL,
    serialize: (value) => String(value),
    parseValue: (value) => parse(value),
    parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}

const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is written as a UUID, in either case. */
export const isUuid = (text: string): boolean => UUID_SHAPE.test(text);

export const UUID = stringScalar({
  name: 'UUID',
  description:
    'A universally unique identifier (RFC 9562): 32 hexadecimal digits in the form 8-4-4-4-12. Any case is accepted; it is sent and answered in lower case.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  rule: ['uuid', 'must be a UUID: hexadecimal digits in the form 8-4-4-4-12.'],
  read: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
});

const DECIMAL_SHAPE = /^\d{1,15}(\.\d{1,2})?$/;

/** The decimal with exactly two places and no leading zeros, or undefined when it is not one above zero. */
export function normalizeDecimal(text: string): string | undefined {
  if (!DECIMAL_SHAPE.test(text) || !/[1-9]/.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.padEnd(2, '0')}`;
}

/** Which rule a text breaks that is not a decimal as accepted. */
function decimalRule(text: string): ValueRule {
  if (/^-\d{1,15}(\.\d{1,2})?$/.test(text) || DECIMAL_SHAPE.test(text)) return 'positive';
  return /^\d{1,15}\.\d{3,}$/.test(text) ? 'decimalPlaces' : 'decimal';
}

export const Decimal = stringScalar({
  name: 'Decimal',
  description:
    'A decimal number as a string, never a floating point number. Accepted: up to 15 digits, optionally a point and one or two decimals, above zero; it is sent with two decimals ("5.5" as "5.50"). A JSON or GraphQL number is refused. Answered exactly as the service sent it.',
  rule: [
    'decimal',
    'must be a string that holds a decimal number above zero: up to 15 digits and at most two decimals, for example 10.00.',
  ],
  read: normalizeDecimal,
  ruleBroken: decimalRule,
});

export const CurrencyCode = stringScalar({
  name: 'CurrencyCode',
  description: 'An ISO 4217 alphabetic currency code in upper case, for example "EUR".',
  specifiedByURL: 'https://www.iso.org/iso-4217-currency-codes.html',
  rule: ['currencyCode', 'must be a currency code of three capital letters (ISO 4217), for example EUR.'],
  read: (text) => (/^[A-Z]{3}$/.test(text) ? text : undefined),
});

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

export const Timestamp = stringScalar({
  name: 'Timestamp',
  description:
    'A point in time in RFC 3339 form with a UTC offset, answered exactly as the service sent it, microseconds included.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  rule: ['timestamp', 'must be a time in RFC 3339 form.'],
  read: (text) => (RFC3339.test(text) ? text : undefined),
});

/** An absolute http or https address as written, or undefined. The text is not rewritten: it goes on as it came. */
export function readHttpUrl(text: string, maxLength = 2048): string | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^\s\\]+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

export const HttpUrl = stringScalar({
  name: 'URL',
  description: 'An absolute http or https address of at most 2048 characters.',
  specifiedByURL: 'https://url.spec.whatwg.org/',
  rule: ['url', 'must be an absolute http or https address of at most 2048 characters.'],
  read: (text) => readHttpUrl(text),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Far more than anything honest, far less than a stack holds. The rules of an input may ask for less. */
const MAX_NESTING = 2000;

const JSON_RULE: Rule = ['jsonObject', `must be a JSON object, nested at most ${MAX_NESTING} levels deep.`];
const NUMBER_RULE: Rule = [
  'exactNumber',
  'must not hold a number that JSON numbers cannot hold exactly, such as a whole one of 17 digits: send it as text.',
];

/** Also infinite ones, which too large a number is read as. */
const isOtherNumber = (value: unknown): boolean =>
  typeof value === 'number' && (!Number.isFinite(value) || isInexact(value));

/**
 * A JSON object that can be read and sent on as it came: not nested so deep that this could exhaust the stack (here none
 * is used), and without numbers that have become other ones.
 */
function readJsonObject(value: unknown, node?: ValueNode): Record<string, unknown> {
  if (!isObject(value)) throw misfit(JSON_RULE, node);
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) throw misfit(JSON_RULE, node);
    if (level.some(isOtherNumber)) throw misfit(NUMBER_RULE, node);
    level = level.flatMap((inner): unknown[] =>
      typeof inner === 'object' && inner !== null ? Object.values(inner) : [],
    );
  }
  return value;
}

/** The digits of a number that count: "1.50" and "15e3" have the same. */
const significantDigits = (text: string): string =>
  text
    .replace(/e.*/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '');

/** Longer numbers are not exact, and take long to compare. */
const MAX_NUMBER_LENGTH = 64;

/** A number that still has all of its digits. */
function literalNumber(node: IntValueNode | FloatValueNode): number {
  const { value: text } = node;
  const value = Number(text);
  const isExact =
    text.length <= MAX_NUMBER_LENGTH && significantDigits(text) === significantDigits(String(value));
  if (!isExact) throw misfit(NUMBER_RULE, node);
  return value;
}

function literalToJson(node: ValueNode, variables: Record<string, unknown> | null | undefined): unknown {
  switch (node.kind) {
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, literalToJson(value, variables)]),
      );
    case Kind.LIST:
      return node.values.map((value) => literalToJson(value, variables));
    case Kind.INT:
    case Kind.FLOAT:
      return literalNumber(node);
    case Kind.NULL:
      return null;
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
  }
}

export const JSONObject = new GraphQLScalarType<Record<string, unknown>, unknown>({
  name: 'JSONObject',
  description: `A JSON object of any shape, nested at most ${MAX_NESTING} levels deep.`,
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: readJsonObject,
  parseLiteral: (node, variables) => readJsonObject(literalToJson(node, variables), node),
});

/**
 * A value that must never be printed. Only variables carry it: a document is logged, cached and hashed by many
 * programs on its way, a variable by far fewer.
 */
function secretScalar(name: string, description: string): GraphQLScalarType {
  const message = `must be a string given through a variable: a literal ${name} in the document is refused.`;
  return new GraphQLScalarType<string, string>({
    name,
    description,
    serialize: () => {
      throw new TypeError(`${name} is never answered.`);
    },
    parseValue: (value) => {
      if (typeof value !== 'string') throw misfit(['string', 'must be a string.']);
      return value;
    },
    parseLiteral: (node) => {
      throw misfit(['variableOnly', message], node);
    },
  });
}

export const CardNumber = secretScalar(
  'CardNumber',
  'A full card number (PAN): 12 to 19 digits, spaces and dashes allowed. Input only, and only through a variable: an inline literal is refused. It is sent to the service and never answered, logged or printed.',
);

export const CardSecurityCode = secretScalar(
  'CardSecurityCode',
  'A card security code (CVC, CVV): 3 or 4 digits. Input only, and only through a variable: an inline literal is refused. It is sent to the service and never answered, stored, logged or printed.',
);
