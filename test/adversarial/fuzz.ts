import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';
import { CHANNEL, createInput } from '../support/caller';

/** Random operations, variables and bodies, valid and nearly valid. Reads schema.graphql from the working directory. */

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

const AWKWARD = [
  ...['', ' ', '\0', '\r\n', '\ud800', '\udfff\ud800', '\u2028', '\u202e', '\ufeff', '\x1b[2J', 'é\u0301'],
  ...'__proto__ toString null NaN -0 1e400 0x10 ${7*7} ../../../../etc/passwd %s%n%x (((((a+)+)+)+)+)!'.split(
    ' ',
  ),
  ...["' OR 1=1 --", '<script>alert(1)</script>', 'http://169.254.169.254/', 'a'.repeat(5000)],
];

const KEYS = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON', 'then', 'length', '0', ''];

type Json = unknown;

/** Generates values of `usual`, and one of `rare` for every `weight` of them. */
const mostly = <T>(usual: fc.Arbitrary<T>, weight: number, rare: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight }, { arbitrary: rare, weight: 1 });

const anyText = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 300 }),
);

const anyNumber = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));

const NODES = {
  key: fc.oneof(fc.constantFrom(...KEYS), anyText),
  values: [fc.constantFrom(null, true, false), anyNumber, anyText],
  maxDepth: 3,
  maxKeys: 5,
};

const deep = fc
  .tuple(fc.integer({ min: 50, max: 2000 }), fc.boolean(), anyText)
  .map(([depth, isList, text]) =>
    Array.from({ length: depth }).reduce<Json>((inner) => (isList ? [inner] : { input: inner }), text),
  );

const wide = fc.integer({ min: 100, max: 5000 }).map((length): Json => Array<number>(length).fill(0));

/** Any JSON value, also deep or wide ones, and keys with a meaning in JavaScript. */
const anyJson: fc.Arbitrary<Json> = mostly(fc.anything(NODES), 10, fc.oneof(deep, wide));

/** Values by name of the scalar, most of them valid. */
const SCALARS: Record<string, fc.Arbitrary<Json>> = {
  Boolean: fc.boolean(),
  CardNumber: fc.constantFrom('4111111111111111', '5555 5555 5555 4444'),
  CardSecurityCode: fc.constantFrom('737', '1234'),
  CurrencyCode: fc.constantFrom('EUR', 'INR', 'KZT', 'PKR', 'IDR', 'BDT', 'TRY', 'USD', 'JPY'),
  Decimal: fc.constantFrom('10.00', '1', '0.5', '999999999999.99', '0.00'),
  Float: anyNumber,
  ID: fc.oneof(fc.uuid(), anyText),
  Int: fc.integer(),
  JSONObject: fc.object(NODES),
  String: fc.oneof(fc.constantFrom('Ann', 'ann@example.com', '+8801711111111', 'BANK01'), anyText),
  UUID: fc.oneof(fc.constantFrom(CHANNEL, CHANNEL.toUpperCase()), fc.uuid()),
  URL: fc.constantFrom('https://shop.example/back', 'https://shop.example/?a=b'),
};

/** Generates values of an input type, most of them valid. */
export const inputOf = (type: GraphQLInputType, depth = 0): fc.Arbitrary<Json> =>
  mostly(validInputOf(getNullableType(type), depth), 24, anyJson);

function validInputOf(type: GraphQLInputType, depth: number): fc.Arbitrary<Json> {
  if (isListType(type)) {
    const item = inputOf(type.ofType as GraphQLInputType, depth);
    // A single value is a valid list.
    return mostly(fc.array(item, { maxLength: 4 }), 4, item);
  }
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name));
  if (!isInputObjectType(type)) return SCALARS[getNamedType(type).name] ?? anyText;
  if (depth > 5) return fc.constant({});
  const fields = Object.values(type.getFields());
  const values = Object.fromEntries(fields.map((field) => [field.name, inputOf(field.type, depth + 1)]));
  if (type.isOneOf) {
    const one = fc.oneof(...fields.map(({ name }) => fc.record({ [name]: values[name]! })));
    return mostly(
      one,
      12,
      fc.tuple(one, one).map(([first, second]) => ({ ...first, ...second })),
    );
  }
  const requiredKeys = fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name);
  return fc.record(values, { requiredKeys });
}

const RESULT = `{ __typename ... on UserError { code message } ... on InvalidInputError { fields { path rule message } } }`;

function validInput(mutation: string, key: string): Json {
  if (mutation === 'createPayment') return createInput('payment', key);
  if (mutation === 'createPayout') return createInput('payout', key);
  return { channel: CHANNEL, transactionId: key, confirmation: { upi: { utr: '123456789012' } } };
}

/** Replaces value number `place` of a JSON tree, in the order of JSON.stringify. Removes it if `other` is undefined. */
function withChange(value: Json, place: number, other: Json): Json {
  let visited = -1;
  const text = JSON.stringify(value, (_name, inner: Json) => ((visited += 1) === place ? other : inner));
  return JSON.parse((text as string | undefined) ?? 'null');
}

const change = fc.tuple(fc.nat({ max: 20 }), fc.option(anyJson, { nil: undefined }));

const nearlyValid = (mutation: string): fc.Arbitrary<Json> =>
  fc
    .tuple(fc.uuid(), fc.array(change, { maxLength: 2 }))
    .map(([key, changes]) =>
      changes.reduce((input, [place, other]) => withChange(input, place, other), validInput(mutation, key)),
    );

const mutations = schema.getMutationType()?.getFields() ?? {};

export const MUTATIONS: readonly string[] = Object.keys(mutations);

export function mutationCall(name: string): fc.Arbitrary<{ query: string; variables: object }> {
  const { type } = mutations[name]!.args[0]!;
  const query = `mutation ($input: ${String(type)}) { ${name}(input: $input) ${RESULT} }`;
  return fc.oneof(inputOf(type), nearlyValid(name)).map((input) => ({ query, variables: { input } }));
}

type Generate = fc.GeneratorValue;

const chance = (generate: Generate, share: number): boolean => generate(fc.nat, { max: 99 }) < share * 100;

const oneOf = <T>(generate: Generate, of: readonly T[]): T => of[generate(fc.nat, { max: of.length - 1 })]!;

function print(value: Json, type: GraphQLInputType | undefined): string {
  const fits = type && getNullableType(type);
  if (Array.isArray(value)) {
    const item = isListType(fits) ? (fits.ofType as GraphQLInputType) : undefined;
    return `[${value.map((one) => print(one, item)).join(' ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const known = isInputObjectType(fits) ? fits.getFields() : {};
    const fields = Object.entries(value).map(([name, one]) => `${name}: ${print(one, known[name]?.type)}`);
    return `{ ${fields.join(', ')} }`;
  }
  return typeof value === 'string' && isEnumType(fits) ? value : JSON.stringify(value);
}

function argumentsOf(generate: Generate, args: readonly GraphQLArgument[]): string {
  const texts = args
    .filter((arg) => chance(generate, isNonNullType(arg.type) ? 0.99 : 0.5))
    .map(({ name, type }) => {
      const value = generate(() => inputOf(type));
      return `${name}: ${print(value, type)}`;
    });
  return texts.length === 0 ? '' : `(${texts.join(', ')})`;
}

const DIRECTIVES = ['@skip(if: false)', '@include(if: $v)', '@deprecated', '@nosuch', '@skip'];

function selection(generate: Generate, output: GraphQLOutputType, depth = 0): string {
  const type = getNamedType(output);
  if (isLeafType(type)) return chance(generate, 0.005) ? '{ __typename }' : '';
  const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
  const parts: string[] = ['__typename'];
  for (let count = generate(fc.integer, { min: 0, max: depth > 4 ? 0 : 5 }); count > 0; count -= 1) {
    if (members.length > 0 && chance(generate, 0.6)) {
      const member = oneOf(generate, members);
      parts.push(`... on ${member.name} ${selection(generate, member, depth + 1)}`);
    } else if (fields.length > 0) {
      const field = oneOf(generate, fields);
      const alias = chance(generate, 0.2) ? `a${generate(fc.nat, { max: 30 })}: ` : '';
      const directive = chance(generate, 0.02) ? ` ${oneOf(generate, DIRECTIVES)}` : '';
      const args = argumentsOf(generate, field.args);
      parts.push(`${alias}${field.name}${args}${directive} ${selection(generate, field.type, depth + 1)}`);
    }
  }
  return `{ ${parts.join(' ')} }`;
}

export const anyDocument: fc.Arbitrary<string> = fc.gen().map((generate) => {
  const isQuery = chance(generate, 0.75);
  const fragment = chance(generate, 0.05) ? ' fragment F on PaymentResource { id ...F }' : '';
  const selected = selection(generate, isQuery ? schema.getQueryType()! : schema.getMutationType()!);
  const variables = selected.includes('$v') ? '($v: Boolean = true)' : '';
  return `${isQuery ? 'query' : 'mutation'} Named ${variables} ${selected}${fragment}`;
});

const PIECES = [
  ...'{ } ( ) [ ] $ @ ! : | & = ... " """ \\ \\u{ # , null 1e999 __schema ...F on fragment query'.split(' '),
  ...['subscription', '\0', '\ufeff', '\ud800', '{'.repeat(60), '['.repeat(60), 'a '.repeat(500)],
];

const breakage = fc.record({
  where: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat({ max: 12 }),
  inserted: fc.constantFrom('', ...PIECES),
});

export const brokenDocument: fc.Arbitrary<string> = fc
  .tuple(anyDocument, fc.array(breakage, { minLength: 1, maxLength: 4 }))
  .map(([document, breakages]) =>
    breakages.reduce((text, { where, removed, inserted }) => {
      const place = Math.floor(where * text.length);
      return text.slice(0, place) + inserted + text.slice(place + removed);
    }, document),
  );

const persistedQuery = fc.record({ version: anyJson, sha256Hash: anyJson });
const requestBody = fc.record(
  {
    query: fc.oneof(anyJson, fc.constant('{ __typename }')),
    operationName: anyJson,
    variables: anyJson,
    extensions: fc.oneof(anyJson, fc.record({ persistedQuery })),
    documentId: anyJson,
  },
  { requiredKeys: [] },
);

export const anyBody: fc.Arbitrary<string> = fc.oneof(
  fc.oneof(anyJson, requestBody).map((json) => JSON.stringify(json)),
  fc.tuple(requestBody, fc.nat({ max: 200 })).map(([json, length]) => JSON.stringify(json).slice(0, length)),
  anyText,
  fc.constantFrom('{"query":"{__typename}","query":"{"}', '{"__proto__":{"query":"{"}}', '1e999', '\ufeff{}'),
);
