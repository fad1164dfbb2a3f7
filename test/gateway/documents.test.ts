import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { getIntrospectionQuery, parse, print, validate } from 'graphql';
import { checkDocument as check, MAX_DOCUMENT_TOKENS } from '../../src/http/limits/document-limits';
import { DOCUMENT_LIMITS, type DocumentLimitName } from '../../src/http/limits/limits';
import { STARTER_DOCUMENT } from '../../src/http/server/starter-document';
import {
  confirmPayment,
  createPayment,
  createPayout,
  schema,
  WHOLE_PAYMENT,
  WHOLE_PAYOUT,
} from '../methods/selection';
import { DOCUMENTS, validCall } from '../support/calls';
import { CHANNEL, type LoggedGateway } from '../support/gateway';
import { expectErrors, post } from '../support/raw';
import { startRuleHarness } from './fixtures/rig';

const times = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

const BY_ID = `(channel: "${CHANNEL}", externalId: "o")`;
const CLIENT_OPERATIONS = join(__dirname, '../../client/operations');
const clientDocuments = readdirSync(CLIENT_OPERATIONS).map((file) =>
  readFileSync(join(CLIENT_OPERATIONS, file), 'utf8'),
);

/** The largest documents of real clients. */
const REAL_DOCUMENTS: [what: string, document: string][] = [
  [
    'a page of attempts with every field',
    `{ attempts(channel: "${CHANNEL}", first: 100) { edges { node { payment ${WHOLE_PAYMENT} payout ${WHOLE_PAYOUT} } } } }`,
  ],
  ['a create of a payment, with every field of every type', createPayment()],
  ['a confirm of a payment, with every field of every type', confirmPayment()],
  ['a create of a payout, with every field of every type', createPayout()],
  [
    'twenty aliased lookups of payments and of payouts, through fragments',
    `{ ${times(20, (n) => `a${n}: payment${BY_ID} { ...In } b${n}: payout${BY_ID} { ...Out }`)} }
     fragment In on Payment ${WHOLE_PAYMENT} fragment Out on Payout ${WHOLE_PAYOUT}`,
  ],
  [
    'the standard introspection query with most options',
    getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true, oneOf: true }),
  ],
  ['the document that Apollo Sandbox shows at first', STARTER_DOCUMENT],
  ['one document with all operations of the client package', clientDocuments.join('\n')],
];

test.each(REAL_DOCUMENTS)(
  'The document limits accept %s, as written and pretty-printed',
  (_what, document) => {
    expect(validate(schema, parse(document))).toEqual([]);
    expect(check(document)).toEqual({ ok: true });
    expect(check(print(parse(document)))).toEqual({ ok: true });
  },
);

/** Rules, each with a function that creates a document with `count` of the items that the rule limits. */
const SHAPES: [rule: DocumentLimitName, shape: (count: number) => string][] = [
  ['lines', (count) => `{__typename}${'\n'.repeat(count - 1)}`],
  ['tokens', (count) => `{${'__typename '.repeat(100)}a(b: [${'1 '.repeat(count - 109)}])}`],
  ['nameLength', (count) => `{ ${'c'.repeat(count)} }`],
  ['nesting', (count) => `${'{ ... '.repeat(count - 1)} {__typename} ${'}'.repeat(count - 1)}`],
  ['nesting', (count) => `query ($a: ${'['.repeat(count - 1)}Int${']'.repeat(count - 1)}) { a }`],
  [
    'nesting',
    (count) =>
      `{ ...F1 } ${times(count - 2, (n) => `fragment F${n + 1} on Q { ...F${n + 2} }`)} fragment F${count - 1} on Q { a }`,
  ],
  [
    'nesting',
    (count) =>
      `{ ...F1 ...F2 } fragment F1 on Q { b { a } } fragment F2 on Q { ${'... { '.repeat(count - 4)} ...F1 ${'}'.repeat(count - 4)} }`,
  ],
  ['operations', (count) => times(count, (n) => `query Q${n} { __typename }`)],
  ['fragments', (count) => `{ a } ${times(count, (n) => `fragment F${n} on Query { a }`)}`],
  ['aliases', (count) => `{ ...F } fragment F on Q { b { ... { ${times(count, (n) => `a${n}: b`)} } } }`],
  [
    'selections',
    (count) =>
      `{ a { ${times(100, () => '...F')} } } fragment F on Q { ${times((count - 103) / 101, (n) => `a${n}`)} }`,
  ],
  [
    'rootFields',
    (count) => `{ a0: b ...F ... { b } } fragment F on Query { ${times(count - 2, (n) => `a${n + 1}: b`)} }`,
  ],
  [
    'mutations',
    (count) =>
      `mutation { ...F ...F } fragment F on Mutation { ${times(count, (n) => `... { a${n}: createPayment { status } }`)} }`,
  ],
  [
    'introspections',
    (count) => `{ ...F } fragment F on Query { ${times(count, (n) => `a${n}: __type(name: "A") { name }`)} }`,
  ],
  [
    'introspectionSelections',
    (count) =>
      `{ __schema { ${times(10, () => '...F')} } } fragment F on __Schema { ${times((count - 10) / 10, (n) => `a${n}`)} }`,
  ],
  [
    'introspectionLists',
    (count) =>
      `{ __type(name: "A") { ...F } } fragment F on __Type { ${'a { possibleTypes { '.repeat(count)} name ${'} }'.repeat(count)} }`,
  ],
  [
    'comparisons',
    (count) =>
      `{ a { ${times(pairing(count), () => 'b')} ${times(count - pairs(pairing(count)), (n) => `c${n} c${n}`)} } }`,
  ],
];

const pairs = (things: number): number => (things * (things - 1)) / 2;

/** Returns the largest number of items that form at most `count` pairs. */
const pairing = (count: number): number => Math.floor((1 + Math.sqrt(1 + 8 * count)) / 2);

/** Step between the counts that a shape can have, if it is not 1. */
const STEPS: Partial<Record<DocumentLimitName, number>> = { selections: 101, introspectionSelections: 10 };

test.each(SHAPES)(
  'The document limit %s accepts a document at the limit, and refuses a larger document',
  (rule, shape) => {
    const { maxCount: limit } = DOCUMENT_LIMITS[rule];
    const within = rule === 'selections' ? limit - ((limit - 103) % 101) : limit;
    expect(check(shape(within))).toEqual({ ok: true });
    const refused = check(shape(within + (STEPS[rule] ?? 1)));
    expect(refused).toMatchObject({ ok: false, limitName: rule });
    expect('message' in refused && refused.message).toContain(String(limit));
  },
);

const NEVER: [what: string, rule: DocumentLimitName, document: string][] = [
  ['a card number as an alias', 'cardNumbers', '{ a4111111111111111: __typename }'],
  ['a card number in groups as the name of an operation', 'cardNumbers', 'query Q_4111_1111_1111_1111 { a }'],
  ['a fragment that spreads itself', 'nesting', '{ ...F } fragment F on Query { a { ...F } }'],
  [
    'fragments that spread each other',
    'nesting',
    '{ a } fragment F on Q { ...G } fragment G on Q { ...H } fragment H on Q { ... { ...F } }',
  ],
  ['an alias within introspection', 'introspectionAliases', '{ __schema { types { a: name } } }'],
  [
    'an alias in a fragment within introspection',
    'introspectionAliases',
    '{ __type(name: "A") { ...F } } fragment F on __Type { fields { a: name } }',
  ],
];

test.each(NEVER)('A document with %s is refused', (_what, rule, document) => {
  expect(check(document)).toMatchObject({ ok: false, limitName: rule });
  expect(JSON.stringify(check(document))).not.toContain('4111');
});

test('Every rule in DOCUMENT_LIMITS is tested with a refused document', () => {
  const refused = new Set([...SHAPES.map(([rule]) => rule), ...NEVER.map(([, rule]) => rule)]);
  expect([...refused].sort()).toEqual(Object.keys(DOCUMENT_LIMITS).sort());
});

test('A lookup that occurs in several fragments counts as one root field', () => {
  const document = `{ ${times(60, (n) => `...F${n}`)} } ${times(60, (n) => `fragment F${n} on Query { payment${BY_ID} { __typename } }`)}`;
  expect(check(document)).toEqual({ ok: true });
});

test.each(['', '{', '{ a(b: "', '}', 'type A { a: Int } extend schema @a', 'fragment', '{ \u0000 }'])(
  'The document limits do not refuse a document for a syntax or validation error: %j',
  (document) => {
    expect(check(document)).toEqual({ ok: true });
  },
);

test('The token limit counts tokens as the parser of graphql-js does', () => {
  for (const [, document] of REAL_DOCUMENTS) {
    const { tokenCount = 0 } = parse(document);
    const filler = (count: number) => `{ a(b: [${'1 '.repeat(count)}]) } #`.replace('1 1', '1,1');
    const left = MAX_DOCUMENT_TOKENS - tokenCount;
    expect(check(document + filler(left - 9))).not.toMatchObject({ limitName: 'tokens' });
    expect(check(document + filler(left - 8))).toMatchObject({ limitName: 'tokens' });
  }
});

const PIECES =
  '{ } [ ] ( ) ! $ @ : = & | , . " # ... """ \\u query fragment ...F on type __schema a 1 -0.5e7'.split(' ');

test('The check of the document limits never throws, whatever the text', () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join(' '));
  const repeated = fc.tuple(text, fc.integer({ min: 1, max: 400 }), text).map(([a, n, b]) => a.repeat(n) + b);
  fc.assert(
    fc.property(fc.oneof(text, repeated, fc.string({ unit: 'binary' })), (document) => {
      const checked = check(document);
      expect(checked.ok || checked.limitName in DOCUMENT_LIMITS).toBe(true);
    }),
  );
});

const doubling = (levels: number): string =>
  times(levels, (n) => `fragment F${n} on Query { a { ...F${n + 1} ...F${n + 1} } }`);

/** Small documents that are expensive to parse or to validate. */
const EXPENSIVE_DOCUMENTS: [what: string, document: string][] = [
  ['a repeated field with a repeated subfield', `{ ${`a { ${'b '.repeat(48)} } `.repeat(96)} }`],
  ['a repeated inline fragment with a subfield', `{ ${'... on Query { a { b } } '.repeat(450)} }`],
  ['one field with many different arguments', `{ ${times(600, (n) => `a(b: ${n})`)} }`],
  [
    'many fragments with the same fields',
    `{ ${times(80, (n) => `...F${n}`)} } ${times(80, (n) => `fragment F${n} on Query { a { b c d } e f }`)}`,
  ],
  [
    'fragments that each spread the next one twice',
    `{ ...F0 } ${doubling(15)} fragment F15 on Query { ...F16 a } fragment F16 on Query { ${'a '.repeat(50)} }`,
  ],
  ['unused fragments that each spread the next twice', `{ a } ${doubling(20)} fragment F20 on Query { a }`],
  [
    'fragments that spread each other in cycles',
    `{ ...F0 } ${times(90, (n) => `fragment F${n} on Query { ...F${(n + 1) % 90} ...F0 }`)}`,
  ],
  ['many unknown fields far down', `${'\n'.repeat(90_000)}{ ${times(100, (n) => `unknown${n}`)} }`],
  ['a deeply nested selection without closing braces', '{a'.repeat(2400)],
];

test.each(EXPENSIVE_DOCUMENTS)(
  'The document limits refuse a small document that is expensive to parse or validate: %s',
  (_what, document) => {
    expect(check(document)).toMatchObject({ ok: false });
  },
);

// Several depths, because the depth at which the stack overflows differs by function and by optimization.
const DEPTHS = [14_650, 11_150, 7_650, 4_150, 1_000];

/** Deeply nested documents and variables within the body limit. */
const BODIES: [what: string, body: (depth: number) => string][] = [
  [
    'a custom field in a variable',
    (depth) => {
      const input = { ...validCall('createPayment', 'other').input, method: { other: { fields: 'HERE' } } };
      const marked = JSON.stringify({ query: DOCUMENTS.createPayment, variables: { input } });
      return marked.replace('"HERE"', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    },
  ],
  [
    'a custom field in a literal',
    (depth) => {
      const fields = `${'{a:'.repeat(depth)}1${'}'.repeat(depth)}`;
      const query = `mutation { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}",
        amount: { currency: "USD", value: "1" }, method: { other: { fields: ${fields} } } }) {
        __typename ... on InvalidInputError { fields { rule } } } }`;
      return JSON.stringify({ query });
    },
  ],
  [
    'a list in a variable',
    (depth) =>
      `{"query":"query Q($c: UUID!) { payment(channel: $c, externalId: \\"o\\") { __typename } }","variables":{"c":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
  ],
  ['selections', (depth) => JSON.stringify({ query: `${'{a'.repeat(depth)}${'}'.repeat(depth)}` })],
];

async function expectClientError(body: string): Promise<void> {
  const response = await post(harness.client.url, body);
  expect(response.status).toBeLessThan(500);
  if (response.errors)
    expectErrors(response, /^(BAD_|GRAPHQL_(VALIDATION|PARSE)_FAILED|OPERATION_TOO_LARGE)/);
  else expect(response.text).toContain('InvalidInputError');
}

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

test.each(BODIES)('Deep nesting of %s causes a client error, not an internal error', async (_what, body) => {
  for (const depth of DEPTHS) await expectClientError(body(depth));
  expect(harness.service.requests).toHaveLength(0);
  expect(harness.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
  const alive = await harness.client.request('{ __typename }');
  expect(alive.data).toEqual({ __typename: 'Query' });
});
