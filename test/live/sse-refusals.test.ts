import { randomUUID } from 'node:crypto';
import { OURS, THEIRS, bearer, clientOf, keyOf } from '../access/support/rig';
import { post, type RawResult } from '../gateway/fixtures/raw';
import { EventStream, type SeenResult } from './support/event-stream';
import { liveRig, watching, type LiveRig } from './support/live-rig';

let rig: LiveRig;
let url: string;

beforeAll(async () => {
  rig = await liveRig({
    clients: [
      clientOf('payouts', { scopes: ['payouts:read'], channels: [OURS] }),
      clientOf('payments', { scopes: ['payments:read'], channels: [OURS] }),
    ],
  });
  url = `${rig.client.url}/stream`;
});

const { query: WATCH } = watching();

const KEY = keyOf('payments');

const codesOf = ({ errors = [] }: Pick<RawResult, 'errors'>): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);

/** The one result of a subscription that does not begin. */
async function refusal(
  asked: object,
  headers?: Record<string, string>,
): Promise<SeenResult & { requestId: unknown }> {
  const stream = await EventStream.open(url, asked, { method: 'POST', headers });
  const first = await stream.next();
  if (first.event !== 'next' || !first.data.errors) {
    stream.leave();
    throw new Error(`Not refused: ${JSON.stringify(first)}`);
  }
  expect(await stream.rest()).toEqual([{ event: 'complete' }]);
  return { ...first.data, requestId: stream.headers['x-request-id'] };
}

describe('In the stream, followed by its completion', () => {
  const own = bearer(KEY);
  const others = bearer(keyOf('payouts'));
  const field = `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}")`;
  const deep = `subscription { ${field} ${'{ ... on PaymentResource { nextAction '.repeat(20)} { __typename }${' }}'.repeat(20)} }`;
  const aliases = Array.from({ length: 400 }, (_, count) => `a${count}: __typename`).join(' ');

  const REFUSED: [what: string, code: string, asked: object, headers: Record<string, string>][] = [
    ['a document that cannot be read', 'GRAPHQL_PARSE_FAILED', { query: 'subscription {' }, own],
    ['a field that there is not', 'GRAPHQL_VALIDATION_FAILED', { query: 'subscription { nothing }' }, own],
    [
      'an argument that is no UUID',
      'GRAPHQL_VALIDATION_FAILED',
      { query: 'subscription { paymentUpdated(channel: "x", transactionId: "y") { __typename } }' },
      own,
    ],
    [
      'two fields',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { a: __typename b: __typename }` },
      own,
    ],
    [
      'introspection',
      'GRAPHQL_VALIDATION_FAILED',
      { query: 'subscription { __schema { __typename } }' },
      own,
    ],
    [
      'an operation that there is not',
      'OPERATION_RESOLUTION_FAILURE',
      { ...watching(), operationName: 'Other' },
      own,
    ],
    [
      'one of two operations, not said which',
      'OPERATION_RESOLUTION_FAILURE',
      {
        ...watching(),
        query: `${WATCH} subscription B { __typename }`.replace(
          '__typename',
          `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}") { __typename }`,
        ),
      },
      own,
    ],
    ['variables that are missing', 'BAD_USER_INPUT', { query: WATCH }, own],
    ['variables of the wrong type', 'BAD_USER_INPUT', { query: WATCH, variables: { c: 'x', t: 5 } }, own],
    ['a document too deep', 'OPERATION_TOO_LARGE', { query: deep }, own],
    [
      'a document with too many aliases',
      'OPERATION_TOO_LARGE',
      { query: `subscription { ${field} { ${aliases} } }` },
      own,
    ],
    ['no scope for payments', 'FORBIDDEN', watching(), others],
    ['a channel of somebody else', 'FORBIDDEN', watching(randomUUID(), 'payout', THEIRS), others],
    [
      'an id of an operation that nobody has registered',
      'PERSISTED_QUERY_NOT_FOUND',
      { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } },
      own,
    ],
    ['no document', 'BAD_REQUEST', { variables: {} }, own],
  ];

  test.each(REFUSED)(
    '%s: the code is %s, and the message the one of POST /graphql',
    async (_what, code, asked, headers) => {
      const { errors = [], data } = await refusal(asked, headers);
      expect(data).toBeUndefined();
      for (const { extensions } of errors)
        expect(extensions).toMatchObject({
          code,
          retryable: code === 'PERSISTED_QUERY_NOT_FOUND',
          requestId: expect.any(String),
        });
      expect(errors.length).toBeGreaterThan(0);
      const answer = await post(
        rig.client.url,
        JSON.stringify(AS_QUERY.has(code) ? asQuery(asked) : asked),
        headers,
      );
      expect(codesOf(answer)).toEqual(errors.map(() => code));
      if (SAME_WORDS.has(code))
        expect(errors.map(({ message }) => message)).toEqual(answer.errors?.map(({ message }) => message));
    },
  );
});

test("an error in a stream names the request by the id of the answer's header, as everywhere", async () => {
  for (const asked of [
    { query: 'subscription {' },
    { query: WATCH },
    watching(randomUUID(), 'payout', THEIRS),
  ]) {
    const { errors = [], requestId } = await refusal(asked, bearer(KEY));
    expect(errors.map(({ extensions }) => extensions['requestId'])).toEqual(errors.map(() => requestId));
  }
});

/** The codes that a subscription shares with the query of the same; by POST a subscription itself is refused before. */
const AS_QUERY: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'FORBIDDEN']);

const asQuery = (asked: { query?: string }): object => ({
  ...asked,
  query: asked.query?.replace('subscription', 'query').replace(/(pay\w+)Updated/, '$1'),
});

/** What protocols and libraries say in words of their own may differ. */
const SAME_WORDS: ReadonlySet<string> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'FORBIDDEN',
  'OPERATION_TOO_LARGE',
]);

test('a payment that the service does not have: NOT_FOUND, then the completion', async () => {
  const alone = await liveRig();
  alone.service.absent = true;
  const stream = await EventStream.open(`${alone.client.url}/stream`, watching());
  expect(await stream.rest()).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'NOT_FOUND', retryable: false } }] } },
    { event: 'complete' },
  ]);
});

test('who has asked too much in its minute hears RATE_LIMITED, and when to ask again', async () => {
  const { client } = await liveRig({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
  const first = await EventStream.open(`${client.url}/stream`, watching());
  expect(await first.nextData()).toEqual({ status: 'PENDING' });
  const second = await EventStream.open(`${client.url}/stream`, watching());
  expect(await second.rest()).toMatchObject([
    {
      event: 'next',
      data: {
        errors: [
          {
            extensions: {
              code: 'RATE_LIMITED',
              retryable: true,
              retryAfterMs: expect.any(Number) as unknown,
            },
          },
        ],
      },
    },
    { event: 'complete' },
  ]);
  first.leave();
});

test.each(['@include(if: $w)', '@include(if: false)', '@skip(if: true)'])(
  'a subscription that selects nothing (%s) is the mistake of who asks, and no fault of the gateway',
  async (directive) => {
    const field = `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}") ${directive} { __typename }`;
    const query = directive.includes('$')
      ? `subscription ($w: Boolean!) { ${field} }`
      : `subscription { ${field} }`;
    const { errors } = await refusal({ query, variables: { w: false } });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions['code']).toMatch(
      /^(BAD_REQUEST|BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/,
    );
  },
);

test('no log line and no error holds what was sent: neither a card number nor a key', async () => {
  const number = '4111111111111111';
  for (const asked of [
    {
      query: `subscription { paymentUpdated(channel: "${number}", transactionId: "${number}") { __typename } }`,
    },
    { query: WATCH, variables: { c: number, t: number } },
    { query: WATCH, operationName: number },
    { query: `subscription { a${number} }` },
  ]) {
    const { requestId: _, ...result } = await refusal(asked, bearer(KEY));
    expect(JSON.stringify(result)).not.toContain(number);
  }
  const logged = rig.logLines.join('');
  expect(logged).toContain('"operation":"subscription"');
  for (const secret of [number, KEY, 'CANARY']) expect(logged).not.toContain(secret);
});
