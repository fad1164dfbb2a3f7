import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { getIntrospectionQuery, parse, print, validate } from 'graphql';
import { DocumentLimits, MAX_TOKENS } from '../../src/http/document-limits';
import { DOCUMENT_RULES, type DocumentRuleName } from '../../src/http/document-rules';
import { STARTER_DOCUMENT } from '../../src/http/starter-document';
import {
  confirmPayment,
  createPayment,
  createPayout,
  lookUpPayment,
  lookUpPayout,
  schema,
  WHOLE_PAYMENT,
  WHOLE_PAYOUT,
} from '../methods/selection';

const times = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

const check = (document: string) => new DocumentLimits().check(document);

const BY_ID = '(channel: "7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10", externalId: "o")';
const WITH_INTROSPECTION = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

const CLIENT_OPERATIONS = join(__dirname, '../clients/operations');
const clientDocuments = readdirSync(CLIENT_OPERATIONS).map((file) =>
  readFileSync(join(CLIENT_OPERATIONS, file), 'utf8'),
);

/** What clients in good faith send, at its largest. */
const HONEST: [what: string, document: string][] = [
  ['one payment with every field of every type', lookUpPayment()],
  ['one payout with every field of every type', lookUpPayout()],
  [
    'a page of attempts with every field',
    `{ attempts(channel: "7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10", first: 100) { edges { node { payment ${WHOLE_PAYMENT} payout ${WHOLE_PAYOUT} } } } }`,
  ],
  ['a payment created, with every field of every type', createPayment()],
  ['a payment confirmed, with every field of every type', confirmPayment()],
  ['a payout created, with every field of every type', createPayout()],
  [
    'twenty aliased lookups of everything, through a fragment',
    `{ ${times(20, (n) => `a${n}: payment${BY_ID} { __typename ...Whole }`)} } fragment Whole on Payment ${WHOLE_PAYMENT}`,
  ],
  [
    'twenty aliased lookups of payments and of payouts, through fragments',
    `{ ${times(20, (n) => `a${n}: payment${BY_ID} { ...In } b${n}: payout${BY_ID} { ...Out }`)} }
     fragment In on Payment ${WHOLE_PAYMENT} fragment Out on Payout ${WHOLE_PAYOUT}`,
  ],
  [
    'twenty aliased lookups, each with an id of its own',
    `query (${times(20, (n) => `$id${n}: UUID`)} $channel: UUID!) {
      ${times(20, (n) => `a${n}: payment(channel: $channel, transactionId: $id${n}) { ... on PaymentResource { status } }`)} }`,
  ],
  ['the standard introspection', getIntrospectionQuery()],
  ['the standard introspection with everything it may ask for', getIntrospectionQuery(WITH_INTROSPECTION)],
  ['the document of the landing page', STARTER_DOCUMENT],
  ["our clients' operations, all in one document", clientDocuments.join('\n')],
];

test.each(HONEST)('%s is let in, printed in one line or in many', (_what, document) => {
  expect(validate(schema, parse(document))).toEqual([]);
  expect(check(document)).toEqual({ ok: true });
  expect(check(print(parse(document)))).toEqual({ ok: true });
});

/** A document with so many of what a limit counts. */
const SHAPES: [rule: DocumentRuleName, shape: (count: number) => string][] = [
  ['characters', (count) => `{__typename}#${'5'.repeat(count - 13)}`],
  ['lines', (count) => `{__typename}${'\n'.repeat(count - 1)}`],
  ['lines', (count) => `{__typename}${'#\r\n'.repeat(count - 1)}`],
  ['tokens', (count) => `{${'__typename '.repeat(100)}a(b: [${'1 '.repeat(count - 109)}])}`],
  ['name', (count) => `{ ${'c'.repeat(count)} }`],
  ['name', (count) => `query ${'c'.repeat(count)} { __typename }`],
  ['nesting', (count) => `${'{ ... '.repeat(count - 1)} {__typename} ${'}'.repeat(count - 1)}`],
  ['nesting', (count) => `{ a(b: ${'['.repeat(count - 2)}${']'.repeat(count - 2)}) }`],
  ['nesting', (count) => `query ($a: ${'['.repeat(count - 1)}Int${']'.repeat(count - 1)}) { a }`],
  [
    'nesting',
    (count) =>
      `{ ...F1 } ${times(count - 2, (n) => `fragment F${n + 1} on Q { ...F${n + 2} }`)} fragment F${count - 1} on Q { a }`,
  ],
  ['operations', (count) => times(count, (n) => `query Q${n} { __typename }`)],
  ['fragments', (count) => `{ a } ${times(count, (n) => `fragment F${n} on Query { a }`)}`],
  ['spreads', (count) => `{ ${times(count, (n) => `...F${n}`)} }`],
  ['aliases', (count) => `{ a { ${times(count, (n) => `a${n}: b`)} } }`],
  ['aliases', (count) => `{ ...F } fragment F on Q { b { ... { ${times(count, (n) => `a${n}: b`)} } } }`],
  ['directives', (count) => `{ a ${'@include(if: true) '.repeat(count)} }`],
  [
    'directives',
    (count) =>
      `query Q($v: Int @a) @a { ... @a { b @a } ...F @a } fragment F on Q @a { b ${'@a '.repeat(count - 6)} }`,
  ],
  ['variables', (count) => `query Q(${times(count - 1, (n) => `$v${n}: Int`)}) { a } query R($v: Int) { a }`],
  ['depth', (count) => `${'{ a '.repeat(count)} ${'}'.repeat(count)}`],
  [
    'depth',
    (count) =>
      `${'{ a '.repeat(count - 4)} { ...F } ${'}'.repeat(count - 4)} fragment F on Q { b { b { ... { b { b } } } } }`,
  ],
  [
    'selections',
    (count) =>
      `{ a { ${times(100, () => '...F')} } } fragment F on Q { ${times((count - 103) / 101, (n) => `a${n}`)} }`,
  ],
  ['rootFields', (count) => `{ ${times(count, (n) => `a${n}: payment${BY_ID} { status }`)} }`],
  [
    'rootFields',
    (count) => `{ a0: b ...F ... { b } } fragment F on Query { ${times(count - 2, (n) => `a${n + 1}: b`)} }`,
  ],
  [
    'mutations',
    (count) => `mutation { __typename ${times(count, (n) => `a${n}: createPayment { status }`)} }`,
  ],
  ['mutations', (count) => `mutation { __typename ${times(count, () => 'createPayment { status }')} }`],
  [
    'mutations',
    (count) =>
      `mutation { ...F ...F } fragment F on Mutation { ${times(count, (n) => `... { a${n}: createPayment { status } }`)} }`,
  ],
  ['introspections', (count) => `{ ${times(count, (n) => `a${n}: __schema { description }`)} }`],
  [
    'introspections',
    (count) => `{ ...F } fragment F on Query { ${times(count, (n) => `a${n}: __type(name: "A") { name }`)} }`,
  ],
  [
    'introspected',
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

/** The most things that make no more pairs than these. */
const pairing = (count: number): number => Math.floor((1 + Math.sqrt(1 + 8 * count)) / 2);

/** The next count that a shape can be made with. */
const STEPS: Partial<Record<DocumentRuleName, number>> = { selections: 101, introspected: 10 };

/** The last count within the limit that a shape can be made with. */
function lastWithin(rule: DocumentRuleName): number {
  const { limit } = DOCUMENT_RULES[rule];
  return rule === 'selections' ? limit - ((limit - 103) % 101) : limit;
}

describe.each(SHAPES)('a document full of %s', (rule, shape) => {
  const within = lastWithin(rule);

  test('is let in at the limit', () => {
    expect(check(shape(within))).toEqual({ ok: true });
  });

  test('is refused beyond it, in words made of the limit alone', () => {
    const refused = check(shape(within + (STEPS[rule] ?? 1)));
    const { limit, counts } = DOCUMENT_RULES[rule];
    expect(refused).toEqual({
      ok: false,
      rule,
      message: `The document has more than ${limit} ${counts}.`,
    });
  });
});

const NEVER: [what: string, rule: DocumentRuleName, document: string][] = [
  ['a card number as an alias', 'cardNumbers', '{ a4111111111111111: __typename }'],
  ['a card number in groups as the name of an operation', 'cardNumbers', 'query Q_4111_1111_1111_1111 { a }'],
  ['a fragment that spreads itself', 'cycles', '{ ...F } fragment F on Query { a { ...F } }'],
  [
    'fragments that spread each other',
    'cycles',
    '{ a } fragment F on Q { ...G } fragment G on Q { ...H } fragment H on Q { ... { ...F } }',
  ],
  ['an alias within introspection', 'introspectionAliases', '{ __schema { types { a: name } } }'],
  [
    'an alias in a fragment within introspection',
    'introspectionAliases',
    '{ __type(name: "A") { ...F } } fragment F on __Type { fields { a: name } }',
  ],
];

test.each(NEVER)('%s is refused', (_what, rule, document) => {
  const { counts } = DOCUMENT_RULES[rule];
  expect(check(document)).toEqual({ ok: false, rule, message: `The document has ${counts}.` });
});

test('every limit is the reason of at least one refusal here', () => {
  const refused = new Set([...SHAPES.map(([rule]) => rule), ...NEVER.map(([, rule]) => rule)]);
  expect([...refused].sort()).toEqual(Object.keys(DOCUMENT_RULES).sort());
});

test('101 aliased lookups are refused', () => {
  expect(check(`{ ${times(101, (n) => `a${n}: payment${BY_ID} { __typename }`)} }`)).toMatchObject({
    ok: false,
  });
});

test('one lookup that several components select of counts as one', () => {
  const document = `{ ${times(60, (n) => `...F${n}`)} } ${times(60, (n) => `fragment F${n} on Query { payment${BY_ID} { __typename } }`)}`;
  expect(check(document)).toEqual({ ok: true });
});

test('a mutation that is written twice is refused, though it would be merged into one', () => {
  expect(check('mutation { createPayment { a } createPayment { a } }')).toMatchObject({ rule: 'mutations' });
});

test.each(['', '{', '{ a(b: "', '}', 'type A { a: Int } extend schema @a', 'fragment', '{ \u0000 }'])(
  'a document that is wrong in another way is left to the parser and to validation: %j',
  (document) => {
    expect(check(document)).toEqual({ ok: true });
  },
);

test('what is counted as a token is what the parser counts', () => {
  for (const [, document] of HONEST) {
    const { tokenCount = 0 } = parse(document);
    const filler = (count: number) => `{ a(b: [${'1 '.repeat(count)}]) } #`.replace('1 1', '1,1');
    expect(check(document + filler(MAX_TOKENS - tokenCount - 9))).not.toMatchObject({ rule: 'tokens' });
    expect(check(document + filler(MAX_TOKENS - tokenCount - 8))).toMatchObject({ rule: 'tokens' });
  }
});

test('a document that was seen lately is answered from memory, and the memory does not grow without end', () => {
  const limits = new DocumentLimits();
  const refused = (n: number) => limits.check(`mutation { a${n} b${n} }`);
  const first = refused(0);
  const second = refused(1);
  for (let n = 2; n < 2000; n += 1) refused(n);
  expect(refused(0)).toBe(first);
  refused(2000);
  expect(refused(0)).toBe(first);
  expect(refused(1)).not.toBe(second);
  expect(refused(1)).toEqual(second);
});

const PIECES = [
  ...'{}[]()!$@:=&|,."#'.split(''),
  '...',
  '"""',
  '\n',
  '\\u',
  'query',
  'mutation',
  'fragment F on Q',
  '...F',
  'fragment',
  'on',
  'type',
  '__schema',
  'a',
  'a: b',
  '1',
  '-0.5e7',
  '{ a',
  '}',
];

test('whatever the text, there is an answer', () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join(' '));
  const repeated = fc.tuple(text, fc.integer({ min: 1, max: 400 }), text).map(([a, n, b]) => a.repeat(n) + b);
  fc.assert(
    fc.property(fc.oneof(text, repeated, fc.string({ unit: 'binary' })), (document) => {
      const checked = check(document);
      expect(checked.ok || checked.message.startsWith('The document has ')).toBe(true);
    }),
  );
});
