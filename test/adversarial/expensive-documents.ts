import { OURS } from './target';

const times = (count: number, text: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => text(place)).join(' ');

const ids = times(100, () => `"${OURS}"`);
const CREATE = `createPayment(input: { idempotencyKey: "bomb", channel: "${OURS}", amount: { currency: INR, value: "1.00" }, method: { upi: { email: "a@example.com" } } })`;

/** Documents that are small and expensive to process. All must be refused. */
export const BOMBS: readonly (readonly [string, string])[] = [
  [
    '101 aliased lookups',
    `{ ${times(101, (n) => `a${n}: payment(channel: "${OURS}", externalId: "${n}") { __typename }`)} }`,
  ],
  [
    '600 lookups in batches',
    `{ ${times(6, (n) => `a${n}: payments(channel: "${OURS}", transactionIds: [${ids}]) { __typename }`)} }`,
  ],
  ['200 aliases', `{ ${times(200, (n) => `a${n}: __typename`)} }`],
  ['one field, thousands of times', `{ ${'__typename '.repeat(4900)} }`],
  ['fields that overlap, quadratically', `{ ${times(600, (n) => `node(id: "${n}") { id }`)} }`],
  [
    'fragments that double',
    `{ ...F0 } ${times(25, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F25 on Query { __typename }`,
  ],
  ['fragments in circles', `{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }`],
  [
    'fragments, each in every other',
    times(100, (n) => `fragment F${n} on Query { __typename ${times(60, (m) => `...F${m}`)} }`),
  ],
  ['a deep selection without end', '{a'.repeat(20_000)],
  [
    'a deep list',
    `{ payments(channel: "${OURS}", transactionIds: ${'['.repeat(4000)}${']'.repeat(4000)}) { __typename } }`,
  ],
  ['a deep type', `query ($a: ${'['.repeat(4000)}Int${']'.repeat(4000)}) { __typename }`],
  ['thousands of directives', `{ __typename ${'@include(if: true) '.repeat(2000)} }`],
  ['thousands of variables', `query (${times(2000, (n) => `$v${n}: Int`)}) { __typename }`],
  ['thousands of operations', times(2000, (n) => `query Q${n} { __typename }`)],
  ['a name of 50 KB', `{ ${'z'.repeat(50_000)} }`],
  ['many errors far down', `${'\n'.repeat(90_000)}{ ${times(100, (n) => `unknown${n}`)} }`],
  [
    'the schema, over and over',
    `{ ${times(50, (n) => `a${n}: __schema { types { fields { args { type { ofType { name } } } } } }`)} }`,
  ],
  ['strings of 90 KB', `{ node(id: "${'\\u0041'.repeat(15_000)}") { id } }`],
  ['block strings without end', `{ node(id: """${'\\"""'.repeat(20_000)}`],
  ['several calls that move money', `mutation { ${times(20, (n) => `a${n}: ${CREATE} { __typename }`)} }`],
];
