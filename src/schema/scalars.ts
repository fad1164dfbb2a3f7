import {
  GraphQLError,
  GraphQLScalarType,
  Kind,
  valueFromASTUntyped,
  visit,
  type FloatValueNode,
  type IntValueNode,
  type ValueNode,
} from 'graphql';
import { isInexact } from '../redaction/text';
import { isUuid } from '../shared/uuid';
import { isObject } from '../shared/wire-object';
import type { ValueRule } from './value-rules';

type Rule = readonly [name: ValueRule, message: string];

/**
 * A value that is not valid for its scalar. The message states the rule, never the value; graphql-js adds the path. It is a
 * GraphQLError because graphql-js wraps any other error together with the literal.
 */
const invalidValue = ([rule, message]: Rule, nodes?: ValueNode): GraphQLError =>
  new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', rule } });

interface StringScalar {
  name: string;
  description: string;
  specifiedByURL?: string;
  rule: Rule;
  /** The normalised value, or undefined for an invalid text. */
  parse(text: string): string | undefined;
  /** The name of the rule that an invalid text violates, if it is not that of `rule`. */
  violatedRule?(text: string): ValueRule;
}

/** A scalar that is serialised as a string. Values of the service are output unchanged. */
function stringScalar({ name, description, specifiedByURL, ...scalar }: StringScalar): GraphQLScalarType {
  const { rule, parse, violatedRule = () => rule[0] } = scalar;
  const parseInput = (value: unknown, node?: ValueNode): string => {
    if (typeof value !== 'string') throw invalidValue(rule, node);
    const parsed = parse(value);
    if (parsed === undefined) throw invalidValue([violatedRule(value), rule[1]], node);
    return parsed;
  };
  return new GraphQLScalarType<string, string>({
    name,
    description,
    specifiedByURL,
    serialize: (value) => String(value),
    parseValue: (value) => parseInput(value),
    parseLiteral: (node) => parseInput(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}

export { isUuid };

export const UUID = stringScalar({
  name: 'UUID',
  description:
    'A universally unique identifier (RFC 9562): 32 hexadecimal digits in the form 8-4-4-4-12. Any case is accepted; output is in lower case.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  rule: ['uuid', 'must be a UUID: hexadecimal digits in the form 8-4-4-4-12.'],
  parse: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
});

const DECIMAL_SHAPE = /^\d{1,15}(\.\d{1,2})?$/;

/** The decimal with two places and no leading zeros; undefined if it is not a decimal above zero. */
export function normalizeDecimal(text: string): string | undefined {
  if (!DECIMAL_SHAPE.test(text) || !/[1-9]/.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.padEnd(2, '0')}`;
}

function decimalRule(text: string): ValueRule {
  if (/^-\d{1,15}(\.\d{1,2})?$/.test(text) || DECIMAL_SHAPE.test(text)) return 'positive';
  return /^\d{1,15}\.\d{3,}$/.test(text) ? 'decimalPlaces' : 'decimal';
}

export const Decimal = stringScalar({
  name: 'Decimal',
  description:
    'A decimal number as a string. Input: up to 15 digits, optionally a point and one or two decimals, above zero; sent with two decimals ("5.5" as "5.50"); a JSON or GraphQL number is rejected. Output: exactly as the service sent it.',
  rule: [
    'decimal',
    'must be a string with a decimal number above zero: up to 15 digits and at most two decimals, for example 10.00.',
  ],
  parse: normalizeDecimal,
  violatedRule: decimalRule,
});

export const CurrencyCode = stringScalar({
  name: 'CurrencyCode',
  description: 'An ISO 4217 alphabetic currency code in upper case, for example "EUR".',
  specifiedByURL: 'https://www.iso.org/iso-4217-currency-codes.html',
  rule: ['currencyCode', 'must be a currency code of three capital letters (ISO 4217), for example EUR.'],
  parse: (text) => (/^[A-Z]{3}$/.test(text) ? text : undefined),
});

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

export const Timestamp = stringScalar({
  name: 'Timestamp',
  description:
    'A time in RFC 3339 form with a UTC offset; times of the service exactly as it sent them, with microseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  rule: ['timestamp', 'must be a time in RFC 3339 form.'],
  parse: (text) => (RFC3339.test(text) ? text : undefined),
});

/** The text unchanged, if it is an absolute http or https address. */
export function readHttpUrl(text: string, maxLength = 2048): string | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^\s\\]+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

export const HttpUrl = stringScalar({
  name: 'URL',
  description: 'An absolute http or https address of at most 2048 characters.',
  specifiedByURL: 'https://url.spec.whatwg.org/',
  rule: ['url', 'must be an absolute http or https address of at most 2048 characters.'],
  parse: (text) => readHttpUrl(text),
});

/** Far below the depth at which recursion overflows the stack. */
const MAX_NESTING = 2000;

const JSON_RULE: Rule = ['jsonObject', `must be a JSON object, nested at most ${MAX_NESTING} levels deep.`];
const NUMBER_RULE: Rule = [
  'exactNumber',
  'must not contain a number that a JSON number cannot represent exactly, such as an integer of 17 digits: send it as text.',
];

/** JSON.parse reads too large a number as Infinity. */
const isChangedNumber = (value: unknown): boolean =>
  typeof value === 'number' && (!Number.isFinite(value) || isInexact(value));

/** Accepts an object of limited depth whose numbers JSON.parse did not change. Iterative, because of the depth. */
function parseJsonObject(value: unknown, node?: ValueNode): Record<string, unknown> {
  if (!isObject(value)) throw invalidValue(JSON_RULE, node);
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) throw invalidValue(JSON_RULE, node);
    if (level.some(isChangedNumber)) throw invalidValue(NUMBER_RULE, node);
    level = level.flatMap((inner): unknown[] =>
      typeof inner === 'object' && inner !== null ? Object.values(inner) : [],
    );
  }
  return value;
}

/** The same for "1.50" and "15e3". */
const significantDigits = (text: string): string =>
  text
    .replace(/e.*/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '');

/** Longer numbers are not exact and slow to compare. */
const MAX_NUMBER_LENGTH = 64;

function assertExactNumber(node: IntValueNode | FloatValueNode): void {
  const { value: text } = node;
  const isExact =
    text.length <= MAX_NUMBER_LENGTH && significantDigits(text) === significantDigits(String(Number(text)));
  if (!isExact) throw invalidValue(NUMBER_RULE, node);
}

export const JSONObject = new GraphQLScalarType<Record<string, unknown>, unknown>({
  name: 'JSONObject',
  description: `A JSON object of any shape, nested at most ${MAX_NESTING} levels deep.`,
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: parseJsonObject,
  parseLiteral: (node, variables) => {
    visit(node, { IntValue: assertExactNumber, FloatValue: assertExactNumber });
    return parseJsonObject(valueFromASTUntyped(node, variables), node);
  },
});

/** A secret. Accepted through variables only, because documents are logged, cached and hashed by many programs. */
function secretScalar(name: string, description: string): GraphQLScalarType {
  const message = `must be a string given through a variable: a literal ${name} in the document is rejected.`;
  return new GraphQLScalarType<string, string>({
    name,
    description,
    serialize: () => {
      throw new TypeError(`${name} is input only.`);
    },
    parseValue: (value) => {
      if (typeof value !== 'string') throw invalidValue(['string', 'must be a string.']);
      return value;
    },
    parseLiteral: (node) => {
      throw invalidValue(['variableOnly', message], node);
    },
  });
}

export const CardNumber = secretScalar(
  'CardNumber',
  'A full card number (PAN): 12 to 19 digits, spaces and dashes allowed. Input only, and only through a variable: an inline literal is rejected. Sent to the service and never returned or logged.',
);

export const CardSecurityCode = secretScalar(
  'CardSecurityCode',
  'A card security code (CVC, CVV): 3 or 4 digits. Input only, and only through a variable: an inline literal is rejected. Sent to the service and never returned, stored or logged.',
);
