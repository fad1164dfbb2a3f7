import fc from 'fast-check';
import { createInput } from '../exactly-once/support/caller';
import { WHOLE_PAYMENT, WHOLE_PAYOUT } from '../methods/selection';
import { gatewaySchema } from '../../src/resolvers';
import { CHANNEL } from '../support/gateway';
import { asNew, BothWays, type Told } from './support/both-ways';
import { ATTEMPT_KEYS, operationOf } from './support/generated-operations';
import { FOUND, MISSING, nodeId, tellTransaction } from './support/transactions';

/** The same operation over the socket, as one that Apollo has never seen and as a prepared one. */

// Shrinking a counterexample takes its time, on a busy machine too.
jest.setTimeout(180_000);

const schema = gatewaySchema();

let ways: BothWays;

beforeAll(async () => {
  ways = await BothWays.start();
  // Two attempts that a journal remembers, for attempt and attempts.
  const unused = [...FOUND.payment];
  ways.service.answer((request) =>
    request.method === 'POST'
      ? { status: 201, json: { status: 'pending', transaction_id: unused.pop() } }
      : tellTransaction(request),
  );
  for (const key of ATTEMPT_KEYS.slice(0, 2)) {
    const query = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
    const { told } = await ways.ask({ body: { query, variables: { input: createInput('payment', key) } } });
    expect(told.body).toContain('Success');
  }
});

/** Which of several lookups failed first is left to the service: in the answer, and in the line of the log. */
const withSortedErrors = (told: Told): Told => {
  const { errors = [], data } = JSON.parse(told.body) as { errors?: unknown[]; data: unknown };
  const log = told.log.map((line: { errors?: string[] }) => ({ ...line, errors: line.errors?.toSorted() }));
  return { ...told, log, body: JSON.stringify([errors.map((error) => JSON.stringify(error)).sort(), data]) };
};

test.each([
  ['lookups succeed', { fails: false, directives: false }],
  ['lookups fail', { fails: true, directives: false }],
  ['directives decide', { fails: true, directives: true }],
])('nobody can tell the ways of operations at random apart, where %s', async (_what, options) => {
  const property = fc.asyncProperty(fc.gen(), async (g) => {
    const question = operationOf(schema, g, options);
    const { told: byApollo } = await ways.ask({ body: { ...question, query: asNew(question.query) } });
    // What Apollo refuses it never teaches: a document beyond the limits, say.
    if (byApollo.status !== 200) return;
    await ways.prepare(question);
    const byPrepared = await ways.byPrepared(question);
    expect(withSortedErrors(byPrepared)).toEqual(withSortedErrors(byApollo));
  });
  await fc.assert(property, { numRuns: 30, maxSkipsPerRun: 200 });
});

const KINDS = [
  ['payment', WHOLE_PAYMENT],
  ['payout', WHOLE_PAYOUT],
] as const;

test.each(KINDS)('every %s, whatever its method and state, has every field of it', async (kind, whole) => {
  const query = `query One($c: UUID!, $id: UUID!) { ${kind}(channel: $c, transactionId: $id) ${whole} }`;
  await ways.prepare({ query, variables: { c: CHANNEL, id: MISSING } });
  for (const id of [...FOUND[kind], MISSING]) {
    const question = { query, variables: { c: CHANNEL, id } };
    expect(await ways.byPrepared(question)).toEqual(await ways.byApollo(question));
  }
});

test.each(KINDS)('all of them in one list, and by their global ids, as %s', async (kind, whole) => {
  const ids = [...FOUND[kind], MISSING];
  const query = `query All($c: UUID!, $ids: [UUID!]!, $node: ID!) {
    ${kind}s(channel: $c, transactionIds: $ids) ${whole} node(id: $node) { id ... on ${kind === 'payment' ? 'PaymentResource' : 'PayoutResource'} { status } } }`;
  const told = await ways.expectSame({
    query,
    variables: { c: CHANNEL, ids, node: nodeId(kind, ids[0] ?? '') },
  });
  expect(told.calls).toHaveLength(ids.length);
});

const UNUSUAL: [string, string][] = [
  [
    'an alias __proto__',
    `{ __proto__: payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { ... on PaymentResource { __proto__: status } } }`,
  ],
  [
    'an alias __typename',
    `{ __typename: payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { ... on Node { __typename: id } } }`,
  ],
  [
    'an alias then',
    `{ then: payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { then: __typename } }`,
  ],
  [
    'an alias toJSON',
    `{ toJSON: payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { toJSON: __typename } }`,
  ],
  ['nothing but its own type', '{ __typename }'],
  [
    'its own type through fragments',
    '{ ... on Query { ...Q } a: __typename } fragment Q on Query { b: __typename ...R } fragment R on Query { a: __typename }',
  ],
  [
    'the schema',
    '{ __schema { queryType { name } types { name kind } } __type(name: "Payment") { possibleTypes { name } } }',
  ],
  [
    'the schema beside a lookup',
    `{ __schema { queryType { name } } payments(channel: "${CHANNEL}", transactionIds: []) { __typename } }`,
  ],
  [
    'a fragment that fits no type there',
    `{ payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { ... on CardPayment { status ... on Node { ... on CardPayment { id } } } } }`,
  ],
  [
    'one field many times',
    `{ payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { ... on PaymentResource { amount { value } } ... on PaymentResource { amount { currency value } } ... on Node { id } } payment(channel: "${CHANNEL}", transactionId: "${FOUND.payment[0]}") { __typename ... on PaymentResource { amount { received } } } }`,
  ],
];

test.each(UNUSUAL)('an operation that asks for %s', async (_what, query) => {
  const told = await ways.expectSame({ query });
  expect(told.body).not.toContain('errors');
});
