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
  isObjectType,
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';
import { createInput } from '../exactly-once/support/caller';

/** Operations, variables and bodies at random: near to what is right, and far from it. Run from the top folder of the project. */

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

/** Texts that programs stumble over. */
const AWKWARD = [
  '',
  ' ',
  '\0',
  '\r\n',
  '\ud800',
  '\udfff\ud800',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\x1b[2J',
  'é\u0301',
  '😀',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-0',
  '1e400',
  '0x10',
  '${7*7}',
  '{{7*7}}',
  '../../../../etc/passwd',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  'http://169.254.169.254/',
  '%s%n%x',
  'a'.repeat(5000),
  '(((((a+)+)+)+)+)!',
];

const KEYS = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON', 'then', 'length', '0', ''];

/** Any text, lone surrogates included. */
export const anyText = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 300 }),
);

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, -1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324),
);

const anyKey = fc.oneof(fc.constantFrom(...KEYS), anyText);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const objectOf = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  // fromEntries defines: a key __proto__ becomes a key like any other, and is written.
  fc.array(fc.tuple(anyKey, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));

/** So many lists or objects, one within another. */
const deep = fc
  .tuple(fc.integer({ min: 50, max: 2000 }), fc.boolean(), anyText)
  .map(([depth, isList, text]) =>
    Array.from({ length: depth }).reduce<Json>((inner) => (isList ? [inner] : { input: inner }), text),
  );

const wide = fc
  .integer({ min: 100, max: 5000 })
  .map((length) => Array.from({ length }, (_, place): Json => place));

/** Any JSON: every type, deep, wide, with keys that mean something to JavaScript. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    { arbitrary: fc.oneof(fc.constantFrom(null, true, false), anyNumber, anyText), weight: 6 },
    { arbitrary: fc.array(tie('json'), { maxLength: 4 }), weight: 2 },
    { arbitrary: objectOf(tie('json')), weight: 2 },
    { arbitrary: fc.oneof(deep, wide), weight: 1 },
  ),
})).json;

const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

/** Values that fit, by the name of the scalar. */
const SCALARS: Record<string, fc.Arbitrary<Json>> = {
  Boolean: fc.boolean(),
  CardNumber: fc.constantFrom('4111111111111111', '5555 5555 5555 4444'),
  CardSecurityCode: fc.constantFrom('737', '1234'),
  CurrencyCode: fc.constantFrom('EUR', 'INR', 'KZT', 'PKR', 'IDR', 'BDT', 'TRY', 'USD', 'JPY'),
  Decimal: fc.constantFrom('10.00', '1', '0.5', '999999999999.99', '0.00'),
  Float: anyNumber,
  ID: fc.oneof(fc.uuid(), anyText),
  Int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  JSONObject: objectOf(anyJson),
  String: fc.oneof(
    fc.constantFrom('Ann', 'ann@example.com', '+8801711111111', 'BANK01', '03001234567'),
    anyText,
  ),
  UUID: fc.oneof(fc.constant(CHANNEL), fc.uuid()),
  URL: fc.constantFrom('https://shop.example/back', 'https://shop.example/?a=b'),
};

/** A value for that type of input, seldom quite wrong. */
function inputOf(type: GraphQLInputType, depth = 0): fc.Arbitrary<Json> {
  const right = rightInputOf(getNullableType(type), depth);
  return fc.oneof({ arbitrary: right, weight: 24 }, { arbitrary: anyJson, weight: 1 });
}

function rightInputOf(type: GraphQLInputType, depth: number): fc.Arbitrary<Json> {
  if (isListType(type)) return fc.array(inputOf(type.ofType as GraphQLInputType, depth), { maxLength: 4 });
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name));
  if (isInputObjectType(type)) return depth > 5 ? fc.constant({}) : inputObjectOf(type, depth);
  return SCALARS[getNamedType(type).name] ?? anyText;
}

function inputObjectOf(type: GraphQLInputObjectType, depth: number): fc.Arbitrary<Json> {
  const fields = Object.values(type.getFields());
  const of = (field: (typeof fields)[number]): fc.Arbitrary<Json> => inputOf(field.type, depth + 1);
  if (type.isOneOf) {
    const one = fc.oneof(...fields.map((field) => of(field).map((value): Json => ({ [field.name]: value }))));
    const two = fc.tuple(one, one).map(([first, second]): Json => Object.assign({}, first, second));
    return fc.oneof({ arbitrary: one, weight: 12 }, { arbitrary: two, weight: 1 });
  }
  return fc
    .tuple(
      fc.tuple(
        ...fields.map((field) =>
          fc.option(of(field), { freq: isNonNullType(field.type) ? 30 : 1, nil: undefined }),
        ),
      ),
      fc.option(fc.tuple(anyKey, anyJson), { freq: 1, nil: undefined }),
      fc.nat({ max: 9 }),
    )
    .map(([values, extra, chance]) => {
      const entries = fields.flatMap(({ name }, place): [string, Json][] => {
        const value = values[place];
        return value === undefined ? [] : [[name, value]];
      });
      return Object.fromEntries(extra && chance === 0 ? [...entries, extra] : entries);
    });
}

/** The body of a request. */
export interface Body {
  query: string;
  variables?: unknown;
  operationName?: unknown;
}

const RESULT = `{ __typename ... on UserError { code message } ... on InvalidInputError { fields { path rule message } } }`;

/** An input that is right, under a key of its own. */
const RIGHT: Record<string, (key: string) => Json> = {
  createPayment: (key) => createInput('payment', key) as Json,
  createPayout: (key) => createInput('payout', key) as Json,
  confirmPayment: (key) => ({
    channel: CHANNEL,
    transactionId: key,
    confirmation: { upi: { utr: '123456789012' } },
  }),
};

/** The value with something else at one place in it, or nothing. */
function changed(value: Json, place: number, other: Json | undefined): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return other ?? null;
  const names = Object.keys(value);
  const name = names[place % Math.max(1, names.length)] ?? 'x';
  const inner = value[name] ?? null;
  const { [name]: _old, ...rest } = value;
  const goesOn = typeof inner === 'object' && place >= names.length;
  if (goesOn) return { ...rest, [name]: changed(inner, Math.floor(place / names.length), other) };
  return other === undefined ? rest : { ...rest, [name]: other };
}

/** Inputs that are right but for a place or two. */
const nearlyRight = (name: string): fc.Arbitrary<Json> =>
  fc
    .tuple(
      fc.uuid(),
      fc.array(fc.tuple(fc.nat({ max: 200 }), fc.option(anyJson, { nil: undefined })), { maxLength: 2 }),
    )
    .map(([key, changes]) =>
      changes.reduce((input, [place, other]) => changed(input, place, other), RIGHT[name]?.(key) ?? null),
    );

/** A call of that mutation with an input at random. */
export function mutationCall(name: string): fc.Arbitrary<Body> {
  const [argument] = schema.getMutationType()?.getFields()[name]?.args ?? [];
  if (!argument) throw new Error(`There is no mutation ${name}.`);
  const query = `mutation ($input: ${String(argument.type)}) { ${name}(input: $input) ${RESULT} }`;
  return fc
    .oneof(
      { arbitrary: inputOf(argument.type), weight: 8 },
      { arbitrary: nearlyRight(name), weight: 8 },
      { arbitrary: anyJson, weight: 1 },
    )
    .map((input) => ({ query, variables: { input } }));
}

export const MUTATIONS: readonly string[] = Object.keys(schema.getMutationType()?.getFields() ?? {});

type Generate = fc.GeneratorValue;

const chance = (generate: Generate, share: number): boolean => generate(fc.nat, { max: 99 }) < share * 100;

/** A literal of GraphQL, more often right than not. */
function literal(generate: Generate, type: GraphQLInputType): string {
  const value = generate(() => inputOf(type));
  return print(value, type);
}

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
  const given = args.filter((arg) => chance(generate, isNonNullType(arg.type) ? 0.99 : 0.5));
  if (given.length === 0) return '';
  return `(${given.map((arg) => `${arg.name}: ${literal(generate, arg.type)}`).join(', ')})`;
}

const DIRECTIVES = [
  '@skip(if: false)',
  '@include(if: $v)',
  '@include(if: true)',
  '@deprecated',
  '@nosuch',
  '@skip',
];

/** A selection of a type's fields, at random. */
function selection(generate: Generate, output: GraphQLOutputType, depth: number): string {
  const type = getNamedType(output);
  if (isLeafType(type)) return chance(generate, 0.005) ? '{ __typename }' : '';
  const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const fields = isObjectType(type) || 'getFields' in type ? Object.values(type.getFields()) : [];
  const parts: string[] = ['__typename'];
  for (let count = generate(fc.integer, { min: 0, max: 5 }); count > 0; count -= 1) {
    if (depth > 4) break;
    if (members.length > 0 && chance(generate, 0.6)) {
      const member = members[generate(fc.nat, { max: members.length - 1 })]!;
      parts.push(`... on ${member.name} ${selection(generate, member, depth + 1)}`);
    } else if (fields.length > 0) {
      const field = fields[generate(fc.nat, { max: fields.length - 1 })]!;
      const alias = chance(generate, 0.2) ? `a${generate(fc.nat, { max: 30 })}: ` : '';
      const directive = chance(generate, 0.02) ? ` ${generate(fc.constantFrom, ...DIRECTIVES)}` : '';
      const args = argumentsOf(generate, field.args);
      parts.push(`${alias}${field.name}${args}${directive} ${selection(generate, field.type, depth + 1)}`);
    }
  }
  return `{ ${parts.join(' ')} }`;
}

const ROOTS = { query: schema.getQueryType()!, mutation: schema.getMutationType()! };

/** A document that is mostly right. */
export const anyDocument: fc.Arbitrary<string> = fc.gen().map((generate) => {
  const operation = chance(generate, 0.75) ? 'query' : 'mutation';
  const name = chance(generate, 0.4) ? ' Named' : '';
  const fragment = chance(generate, 0.05) ? ' fragment F on PaymentResource { id ...F }' : '';
  const selected = selection(generate, ROOTS[operation], 0);
  const variables = selected.includes('$v') ? '($v: Boolean = true)' : '';
  return `${operation}${name} ${variables} ${selected}${fragment}`;
});

const PIECES = [
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '$',
    '@',
    '!',
    ':',
    '|',
    '&',
    '=',
    '...',
    '"',
    '"""',
    '\\',
    '\\u{',
    '#',
    ',',
  ],
  ...[
    'null',
    'true',
    '-',
    '0',
    '1e999',
    '\0',
    '\ufeff',
    '\ud800',
    '__schema',
    '__type(name: "Query")',
    '...F',
  ],
  ...[
    'on',
    'fragment',
    'subscription',
    'mutation',
    'query',
    '{'.repeat(60),
    '['.repeat(60),
    'a '.repeat(500),
  ],
];

/** A document with pieces taken out, put in, and doubled. */
export const brokenDocument: fc.Arbitrary<string> = fc
  .tuple(
    anyDocument,
    fc.array(
      fc.tuple(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('cut', 'put', 'double'),
        fc.constantFrom(...PIECES),
        fc.nat({ max: 12 }),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([document, changes]) =>
    changes.reduce((text, [where, what, piece, length]) => {
      const place = Math.floor(where * text.length);
      const [before, after] = [text.slice(0, place), text.slice(place)];
      if (what === 'cut') return before + after.slice(length);
      return before + (what === 'put' ? piece : after.slice(0, length)) + after;
    }, document),
  );

/** The text of a body: JSON of any shape, or nearly JSON. */
export const anyBody: fc.Arbitrary<string> = fc.oneof(
  anyJson.map((json) => JSON.stringify(json)),
  fc
    .record(
      {
        query: fc.oneof(anyJson, fc.constant<Json>('{ __typename }')),
        operationName: anyJson,
        variables: anyJson,
        extensions: fc.oneof(
          anyJson,
          fc.record({
            persistedQuery: fc.record({ version: anyJson, sha256Hash: anyJson }, { requiredKeys: [] }),
          }),
        ),
        documentId: anyJson,
      },
      { requiredKeys: [] },
    )
    .map((json) => JSON.stringify(json)),
  fc
    .tuple(anyJson, fc.nat({ max: 200 }))
    .map(([json, length]) => JSON.stringify({ query: '{ __typename }', variables: json }).slice(0, length)),
  anyText,
  fc.constantFrom(
    '{"query":"{ __typename }","query":"{"}',
    '{"__proto__":{"query":"{ __typename }"}}',
    '1e999',
    '\ufeff{}',
  ),
);
