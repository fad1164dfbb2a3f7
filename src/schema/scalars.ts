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
import { isInexactInteger } from '../redaction/text';
import { isUuid } from '../shared/uuid';
import { isObject } from '../shared/wire-object';
import type { ValueRuleName } from './value-rules';

type RuleWithMessage = readonly [name: ValueRuleName, message: string];

/**
 * Creates the error for a value that a scalar rejects. The message states the rule, never the value. The error must be
 * a GraphQLError, because graphql-js adds a literal value to the message of any other error. If the value comes from a
 * variable, graphql-js adds it even to this message, and redactVariableMessage() removes it again.
 */
export const invalidValueError = ([rule, message]: RuleWithMessage, nodes?: ValueNode): GraphQLError =>
  new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', rule } });

interface StringScalarDefinition {
  name: string;
  description: string;
  specifiedByURL?: string;
  /** The rule that an invalid value violates. */
  ruleWithMessage: RuleWithMessage;
  /** Returns the normalised value; undefined if the text is invalid. */
  parse(text: string): string | undefined;
  /** Returns the name of the rule that an invalid text violates. Default: the name in `ruleWithMessage`. */
  findViolatedRule?(text: string): ValueRuleName;
}

/** Creates a scalar with string values. Checks and normalises only input; output is returned unchanged. */
function createStringScalar({
  ruleWithMessage: [ruleName, message],
  parse,
  findViolatedRule,
  ...definition
}: StringScalarDefinition): GraphQLScalarType {
  const parseInput = (value: unknown, node?: ValueNode): string => {
    if (typeof value !== 'string') throw invalidValueError([ruleName, message], node);
    const parsed = parse(value);
    if (parsed === undefined) throw invalidValueError([findViolatedRule?.(value) ?? ruleName, message], node);
    return parsed;
  };
  return new GraphQLScalarType<string, string>({
    ...definition,
    serialize: String,
    parseValue: (value) => parseInput(value),
    parseLiteral: (node) => parseInput(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}

export const UUID = createStringScalar({
  name: 'UUID',
  description:
    'A universally unique identifier (RFC 9562): 32 hexadecimal digits in the form 8-4-4-4-12. Any case is accepted; output is in lower case.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  ruleWithMessage: ['uuid', 'must be a UUID: hexadecimal digits in the form 8-4-4-4-12.'],
  parse: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
});

const DECIMAL_PATTERN = /^\d{1,15}(\.\d{1,2})?$/;

/** Returns a decimal in its normal form, "7.50" for "007.5". Undefined if it is invalid or not above zero. */
export function normalizeDecimal(text: string): string | undefined {
  if (!DECIMAL_PATTERN.test(text) || !/[1-9]/.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.padEnd(2, '0')}`;
}

function findViolatedDecimalRule(text: string): ValueRuleName {
  if (/^-\d{1,15}(\.\d{1,2})?$/.test(text) || DECIMAL_PATTERN.test(text)) return 'positive';
  return /^\d{1,15}\.\d{3,}$/.test(text) ? 'decimalPlaces' : 'decimal';
}

export const Decimal = createStringScalar({
  name: 'Decimal',
  description:
    'A decimal number as a string. Input: a number above zero, with up to 15 digits before the point and at most two after it. A JSON or GraphQL number is rejected. The gateway sends two decimals to the service, for example "5.50" for "5.5". Output: exactly as the service sent it, or with two decimals if it comes from the create call.',
  ruleWithMessage: [
    'decimal',
    'must be a string with a decimal number above zero: up to 15 digits before the point and at most two after it, for example 10.00.',
  ],
  parse: normalizeDecimal,
  findViolatedRule: findViolatedDecimalRule,
});

export const CurrencyCode = createStringScalar({
  name: 'CurrencyCode',
  description: 'An ISO 4217 alphabetic currency code in upper case, for example "EUR".',
  specifiedByURL: 'https://www.iso.org/iso-4217-currency-codes.html',
  ruleWithMessage: [
    'currencyCode',
    'must be a currency code of three capital letters (ISO 4217), for example EUR.',
  ],
  parse: (text) => (/^[A-Z]{3}$/.test(text) ? text : undefined),
});

const RFC3339_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

export const Timestamp = createStringScalar({
  name: 'Timestamp',
  description:
    'A time in RFC 3339 form with a UTC offset. Times of the service are returned exactly as it sent them, with microseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  ruleWithMessage: ['timestamp', 'must be a time in RFC 3339 form.'],
  parse: (text) => (RFC3339_TIME_PATTERN.test(text) ? text : undefined),
});

/** Returns the text if it is an absolute http or https URL of at most `maxLength` characters; otherwise undefined. */
export function readHttpUrl(text: string, maxLength = 2048): string | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^\s\\]+$/i.test(text)) return undefined;
  return URL.canParse(text) ? text : undefined;
}

export const HttpUrl = createStringScalar({
  name: 'URL',
  description: 'An absolute http or https address of at most 2048 characters.',
  specifiedByURL: 'https://url.spec.whatwg.org/',
  ruleWithMessage: ['url', 'must be an absolute http or https address of at most 2048 characters.'],
  parse: (text) => readHttpUrl(text),
});

/** Maximum levels of nesting in a JSON object, far fewer than would overflow the stack in recursive functions. */
const MAX_NESTING_DEPTH = 2000;

const JSON_OBJECT_RULE: RuleWithMessage = [
  'jsonObject',
  `must be a JSON object, nested at most ${MAX_NESTING_DEPTH} levels deep.`,
];
const EXACT_NUMBER_RULE: RuleWithMessage = [
  'exactNumber',
  'must not contain a number that double precision (IEEE 754) may not represent exactly, such as an integer of 17 digits: send it as a string.',
];

/**
 * Whether JSON.parse() may have rounded a number. True for Infinity and for integers above Number.MAX_SAFE_INTEGER or
 * below its negative. Rounded fractions are not detected.
 */
const isInexactNumber = (value: unknown): boolean =>
  typeof value === 'number' && (!Number.isFinite(value) || isInexactInteger(value));

/**
 * Returns the value if it is a JSON object with exact numbers, nested at most MAX_NESTING_DEPTH levels deep. Otherwise
 * throws BAD_USER_INPUT. Does not recurse, because very deep nesting would overflow the stack.
 */
function parseJsonObject(value: unknown, node?: ValueNode): Record<string, unknown> {
  if (!isObject(value)) throw invalidValueError(JSON_OBJECT_RULE, node);
  let valuesAtDepth: unknown[] = [value];
  for (let depth = 0; valuesAtDepth.length > 0; depth += 1) {
    if (depth > MAX_NESTING_DEPTH) throw invalidValueError(JSON_OBJECT_RULE, node);
    if (valuesAtDepth.some(isInexactNumber)) throw invalidValueError(EXACT_NUMBER_RULE, node);
    valuesAtDepth = valuesAtDepth.flatMap((nestedValue): unknown[] =>
      typeof nestedValue === 'object' && nestedValue !== null ? Object.values(nestedValue) : [],
    );
  }
  return value;
}

/** Returns a number's digits without the exponent and the leading and trailing zeros: "15" for "01.50" and "15e3". */
const normalizedSignificand = (text: string): string => text.replace(/e.*|\D/gi, '').replace(/^0+|0+$/g, '');

/** Maximum number of characters in a number literal. Longer literals are rejected, because they are slow to compare. */
const MAX_NUMBER_LENGTH = 64;

/** Throws BAD_USER_INPUT for a number literal that is too long, or whose digits a JavaScript number does not keep. */
function assertExactNumber(node: IntValueNode | FloatValueNode): void {
  const text = node.value;
  const isExact =
    text.length <= MAX_NUMBER_LENGTH &&
    normalizedSignificand(text) === normalizedSignificand(String(Number(text)));
  if (!isExact) throw invalidValueError(EXACT_NUMBER_RULE, node);
}

export const JSONObject = new GraphQLScalarType<Record<string, unknown>, unknown>({
  name: 'JSONObject',
  description: `A JSON object of any shape, nested at most ${MAX_NESTING_DEPTH} levels deep.`,
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: parseJsonObject,
  parseLiteral: (node, variables) => {
    visit(node, { IntValue: assertExactNumber, FloatValue: assertExactNumber });
    return parseJsonObject(valueFromASTUntyped(node, variables), node);
  },
});

/** Creates an input scalar for secrets. Accepts only variables, because documents are often logged and cached. */
function createSecretScalar(name: string, description: string): GraphQLScalarType {
  const message = `must be a string given through a variable: a literal ${name} in the document is rejected.`;
  return new GraphQLScalarType<string, string>({
    name,
    description,
    serialize: () => {
      throw new TypeError(`${name} is input only.`);
    },
    parseValue: (value) => {
      if (typeof value !== 'string') throw invalidValueError(['string', 'must be a string.']);
      return value;
    },
    parseLiteral: (node) => {
      throw invalidValueError(['variableOnly', message], node);
    },
  });
}

export const CardNumber = createSecretScalar(
  'CardNumber',
  'A full card number (PAN): 12 to 19 digits, spaces and dashes allowed. Input only, and only through a variable: an inline literal is rejected. Sent to the service and never returned or logged.',
);

export const CardSecurityCode = createSecretScalar(
  'CardSecurityCode',
  'A card security code (CVC, CVV): 3 or 4 digits. Input only, and only through a variable: an inline literal is rejected. Sent to the service and never returned, stored or logged.',
);
