import { randomUUID } from 'node:crypto';
import { DOCUMENTS, validCall } from '../gateway/fixtures/calls';
import { post } from '../gateway/fixtures/raw';
import { OURS } from '../access/support/rig';
import { AUTHORIZED } from '../support/credentials';
import { liveRig, standing, watching, type LiveRig } from './support/live-rig';
import { WireClient, words, type Heard, type Told } from './support/wire-client';

const ID = randomUUID();
const FIELD = `paymentUpdated(channel: "${OURS}", transactionId: "${ID}")`;
const PAN = '4111111111111111';

interface Asked {
  query: string;
  operationName?: string;
  variables?: object;
}

let rig: LiveRig;
let client: WireClient;
let round = 0;

beforeAll(async () => {
  rig = await liveRig();
});

beforeEach(async () => {
  rig.service.seen.length = 0;
  client = await WireClient.ready(rig.client.url, AUTHORIZED);
});

afterEach(() => client.socket.terminate());

/** The answer to a subscription that is refused. */
async function refused(payload: object, by = client): Promise<Told[]> {
  round += 1;
  by.subscribe(String(round), payload);
  const answer: Heard = await by.next();
  expect(answer).toMatchObject({ type: 'error', id: String(round) });
  return answer.payload as Told[];
}

/**
 * The same operation by POST is refused, and these are the words. Where only the variables are wrong a query takes its
 * place, as long as it is: a subscription would be refused for being one.
 */
async function byPost(payload: Asked, url = rig.client.url): Promise<object[]> {
  const query =
    'variables' in payload
      ? payload.query.replace('subscription', 'query       ').replace('paymentUpdated', 'payment')
      : payload.query;
  const { errors } = await post(url, JSON.stringify({ ...payload, query }));
  return (errors ?? []).map((error) => words(error as Told));
}

describe('What is no subscription', () => {
  const { input } = validCall('createPayment', 'upi');
  const OTHERS: [string, object][] = [
    ['a query', { query: '{ __typename }' }],
    ['a lookup', { query: `{ payment(channel: "${OURS}", transactionId: "${ID}") { __typename } }` }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
    ['a mutation', { query: DOCUMENTS.createPayment, variables: { input } }],
    [
      'a mutation beside a subscription',
      {
        query: `subscription S { ${FIELD} { __typename } } ${DOCUMENTS.createPayment}`,
        operationName: 'Call',
        variables: { input },
      },
    ],
  ];

  test.each(OTHERS)('is refused, and nothing is sent to the service: %s', async (_what, payload) => {
    const errors = await refused(payload);
    expect(errors.map(words)).toEqual([
      {
        message: 'Only subscriptions are served here: send queries and mutations to /graphql by POST.',
        extensions: { code: 'BAD_REQUEST', retryable: false },
      },
    ]);
    await client.settled();
    expect(rig.service.seen).toHaveLength(0);
  });
});

describe('What is wrong is told as to a POST', () => {
  const WRONG: [string, string, Asked][] = [
    ['a document that cannot be parsed', 'GRAPHQL_PARSE_FAILED', { query: `subscription { ${FIELD} {` }],
    ['no document', 'GRAPHQL_PARSE_FAILED', { query: '# nothing' }],
    ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', { query: `subscription { ${FIELD} { nosuch } }` }],
    [
      'a name that is nearly right',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { paymentUpdate(channel: "${OURS}") { __typename } }` },
    ],
    [
      'a missing argument',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { paymentUpdated(channel: "${OURS}") { __typename } }` },
    ],
    [
      'a value that does not fit',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { paymentUpdated(channel: "${PAN}x", transactionId: "${ID}") { __typename } }` },
    ],
    [
      'an unused variable',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription Q($unused: Int) { ${FIELD} { __typename } }` },
    ],
    [
      'two root fields',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription S { a: ${FIELD} { __typename } b: ${FIELD} { __typename } }` },
    ],
    ['introspection in it', 'GRAPHQL_VALIDATION_FAILED', { query: 'subscription { __typename }' }],
    [
      'many mistakes',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { ${FIELD} { ${Array.from({ length: 30 }, (_, n) => `no${n}`).join(' ')} } }` },
    ],
    [
      'a card number as a name',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { a${PAN}: ${FIELD} { __typename } }` },
    ],
    [
      'a card number as the name of an operation',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription Q_${PAN} { ${FIELD} { __typename } }`, operationName: `Q_${PAN}` },
    ],
    [
      'a card number as the name of no operation',
      'OPERATION_RESOLUTION_FAILURE',
      { query: `subscription S { ${FIELD} { __typename } }`, operationName: `Q_${PAN}` },
    ],
    [
      'a document that is too large',
      'OPERATION_TOO_LARGE',
      {
        query: `subscription { ${FIELD} { ${Array.from({ length: 101 }, (_, n) => `a${n}: __typename`).join(' ')} } }`,
      },
    ],
    [
      'a document that is too deep',
      'OPERATION_TOO_LARGE',
      { query: `subscription { ${'a { '.repeat(60)} b ${'}'.repeat(60)} }` },
    ],
    [
      'an operation of no such name',
      'OPERATION_RESOLUTION_FAILURE',
      { query: `subscription S { ${FIELD} { __typename } }`, operationName: 'Nosuch' },
    ],
    [
      'several operations and no name',
      'OPERATION_RESOLUTION_FAILURE',
      { query: `subscription S { ${FIELD} { __typename } } subscription T { ${FIELD} { __typename } }` },
    ],
    ['fragments alone', 'GRAPHQL_VALIDATION_FAILED', { query: 'fragment F on Query { __typename }' }],
    ['a variable that is missing', 'BAD_USER_INPUT', { ...watching(), variables: { c: OURS } }],
    ['a variable that does not fit', 'BAD_USER_INPUT', { ...watching(), variables: { c: PAN, t: ID } }],
    ['two variables that do not fit', 'BAD_USER_INPUT', { ...watching(), variables: { c: PAN, t: {} } }],
    ['no variables', 'BAD_USER_INPUT', { query: watching().query, variables: {} }],
  ];

  test.each(WRONG)('%s', async (_what, code, payload) => {
    const errors = await refused(payload);
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(errors.map(() => code));
    expect(errors.map(words)).toEqual(await byPost(payload));
    expect(JSON.stringify(errors) + rig.logLines.join('')).not.toContain(PAN);
    expect(rig.service.seen).toHaveLength(0);
  });

  test.each(WRONG)('also where introspection is off: %s', async (_what, _code, payload) => {
    const url = closed.client.url;
    const quiet = await WireClient.ready(url, AUTHORIZED);
    expect((await refused(payload, quiet)).map(words)).toEqual(await byPost(payload, url));
  });

  let closed: LiveRig;
  beforeAll(async () => {
    closed = await liveRig({ env: { INTROSPECTION: 'off' } });
  });

  test('the schema cannot be guessed where introspection is off', async () => {
    const quiet = await WireClient.ready(closed.client.url, AUTHORIZED);
    for (const query of [
      `subscription { paymentUpdate(channel: "${OURS}") { __typename } }`,
      `subscription { paymentUpdated(chanel: "${OURS}") { __typename } }`,
      `subscription { ${FIELD} { ... on PaymentResourc { status } } }`,
      `subscription { ${FIELD} { ... on PaymentResource { statu } } }`,
    ])
      expect(JSON.stringify(await refused({ query }, quiet))).not.toMatch(/did you mean/i);
  });

  test.each([
    ['is left out', `subscription { ${FIELD} @skip(if: true) { __typename } }`],
    ['is not taken in', `subscription { ${FIELD} @include(if: false) { __typename } }`],
    ['is left out in a fragment', `subscription { ... @skip(if: true) { ${FIELD} { __typename } } }`],
  ])('a subscription whose only field %s is a mistake of the caller, no bug', async (_what, query) => {
    const [error] = await refused({ query });
    expect(error?.extensions['code']).not.toBe('INTERNAL_SERVER_ERROR');
    expect(rig.logLines.join('')).not.toContain('unexpected error');
  });
});

describe('What is right', () => {
  test('may be written with fragments, directives, an alias and beside other operations', async () => {
    client.subscribe('a', {
      query: `query Other { __typename } subscription S($yes: Boolean!) { mine: ${FIELD} { ...F @include(if: $yes) } }
        fragment F on PaymentResource { state: status }`,
      operationName: 'S',
      variables: { yes: true },
    });
    expect((await client.next()).payload).toEqual({ data: { mine: { state: 'PENDING' } } });
  });

  test('may have variables that are not asked for, and extensions', async () => {
    const { query, variables } = watching();
    client.subscribe('a', { query, variables: { ...variables, other: 1 }, extensions: { trace: 'x' } });
    expect((await client.next()).payload).toEqual(standing('PENDING'));
  });
});

test('A subscription by POST is refused as a mistake of the caller, and nothing is sent to the service', async () => {
  const { errors, text } = await post(rig.client.url, JSON.stringify(watching()));
  expect({ text, codes: errors?.map(({ extensions }) => extensions['code']) }).toMatchObject({
    codes: ['BAD_REQUEST'],
  });
  expect(rig.service.seen).toHaveLength(0);
});
