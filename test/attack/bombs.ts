import { OURS } from './target';

const times = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

/** Documents that are cheap to send and dear to serve. None of them may be carried out. */
export const BOMBS: readonly (readonly [string, string])[] = [
  [
    '101 aliased lookups',
    `{ ${times(101, (n) => `a${n}: payment(channel: "${OURS}", externalId: "${n}") { __typename }`)} }`,
  ],
  [
    '600 lookups in batches',
    `{ ${times(6, (n) => `a${n}: payments(channel: "${OURS}", transactionIds: [${times(100, () => `"${OURS}"`)}]) { __typename }`)} }`,
  ],
  ['200 aliases', `{ ${times(200, (n) => `a${n}: __typename`)} }`],
  ['a thousand aliases', `{ ${times(1000, (n) => `a${n}: __typename`)} }`],
  ['one field, thousands of times', `{ ${'__typename '.repeat(4900)} }`],
  ['fields that overlap, quadratically', `{ ${times(600, (n) => `node(id: "${n}") { id }`)} }`],
  [
    'fields that overlap, three levels deep',
    `{ ${`node(id: "x") { ${`... on PaymentResource { amount { ${'value '.repeat(9)} } } `.repeat(16)} } `.repeat(20)} }`,
  ],
  [
    'fragments that double',
    `{ ...F0 } ${times(25, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F25 on Query { __typename }`,
  ],
  ['fragments in circles', `{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`],
  [
    'fragments, each in every other',
    times(100, (n) => `fragment F${n} on Query { __typename ${times(60, (m) => `...F${m}`)} }`),
  ],
  ['a deep selection', `${'{node(id:"x")'.repeat(1500)}${'}'.repeat(1500)}`],
  ['a deep selection without end', '{a'.repeat(20_000)],
  [
    'a deep list',
    `{ payments(channel: "${OURS}", transactionIds: ${'['.repeat(4000)}${']'.repeat(4000)}) { __typename } }`,
  ],
  [
    'a deep object',
    `mutation { createPayment(input: ${'{method:'.repeat(4000)}1${'}'.repeat(4000)}) { __typename } }`,
  ],
  ['a deep type', `query ($a: ${'['.repeat(4000)}Int${']'.repeat(4000)}) { __typename }`],
  ['thousands of directives', `{ __typename ${'@include(if: true) '.repeat(2000)} }`],
  ['thousands of variables', `query (${times(2000, (n) => `$v${n}: Int`)}) { __typename }`],
  ['thousands of operations', times(2000, (n) => `query Q${n} { __typename }`)],
  ['thousands of unknown fields', `{ ${times(2000, (n) => `unknown${n}`)} }`],
  ['a name of 50 KB', `{ ${'z'.repeat(50_000)} }`],
  ['many errors far down', `${'\n'.repeat(90_000)}{ ${times(100, (n) => `unknown${n}`)} }`],
  [
    'the schema, over and over',
    `{ ${times(50, (n) => `a${n}: __schema { types { fields { args { type { ofType { name } } } } } }`)} }`,
  ],
  [
    'the schema in circles',
    `{ __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }`,
  ],
  ['a comment of 100 KB', `#${'x'.repeat(100_000)}\n{ nosuch }`],
  ['strings of 90 KB', `{ node(id: "${'\\u0041'.repeat(15_000)}") { id } }`],
  ['block strings without end', `{ node(id: """${'\\"""'.repeat(20_000)}`],
  [
    'several calls that move money',
    `mutation { ${times(20, (n) => `a${n}: createPayment(input: { idempotencyKey: "bomb-${n}", channel: "${OURS}", amount: { currency: INR, value: "1.00" }, method: { upi: { email: "a@example.com" } } }) { __typename }`)} }`,
  ],
];
