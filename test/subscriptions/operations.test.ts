import type { SubscribePayload } from 'graphql-ws';
import { bearer } from '../auth/support/harness';
import { DOCUMENTS, validCall } from '../support/calls';
import { CHANNEL } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy } from '../support/issuer';
import { apolloManifest, fileOf, sha256 } from '../support/manifests';
import { post } from '../support/raw';
import { startHarness, subscription, type SubscriptionHarness } from './support/harness';
import { TRANSPORTS, firstOf, type Watching } from './support/subscriptions';
import { stablePart, type WireError } from './support/wire-client';

const PAN = '4111111111111111';

let harness: SubscriptionHarness;
/** A harness whose gateway has introspection switched off. */
let quiet: SubscriptionHarness;
let id: string;

beforeAll(async () => {
  harness = await startHarness();
  quiet = await startHarness({ env: { INTROSPECTION: 'off' } });
  id = harness.addPayment();
});

const FIELD = `paymentUpdated(channel: "${CHANNEL}", transactionId: "${CHANNEL}")`;
const WATCH = subscription(CHANNEL).query;
const aliases = (count: number): string =>
  Array.from({ length: count }, (_, place) => `a${place}: __typename`).join(' ');

const known = (errors: readonly unknown[] | undefined): object[] =>
  (errors ?? []).map((error) => stablePart(error as WireError));

/** Returns the errors of the same operation as a query by POST, because POST refuses every subscription. */
async function byPost(payload: SubscribePayload, url: string): Promise<object[]> {
  const query = payload.variables
    ? payload.query.replace('subscription', 'query       ').replace('paymentUpdated', 'payment')
    : payload.query;
  return known((await post(url, JSON.stringify({ ...payload, query: query || undefined }))).errors);
}

const WRONG: [what: string, code: string, payload: SubscribePayload][] = [
  ['that cannot be parsed', 'GRAPHQL_PARSE_FAILED', { query: `subscription { ${FIELD} {` }],
  [
    'with a misspelt field',
    'GRAPHQL_VALIDATION_FAILED',
    { query: `subscription { paymentUpdate(channel: "${CHANNEL}") { __typename } }` },
  ],
  [
    'with a card number as an argument',
    'GRAPHQL_VALIDATION_FAILED',
    { query: `subscription { paymentUpdated(channel: "${PAN}x", transactionId: "${PAN}") { __typename } }` },
  ],
  [
    'that is one of two, without operationName',
    'OPERATION_RESOLUTION_FAILURE',
    { query: `subscription S { ${FIELD} { __typename } } subscription T { ${FIELD} { __typename } }` },
  ],
  ['with 101 aliases', 'OPERATION_TOO_LARGE', { query: `subscription { ${FIELD} { ${aliases(101)} } }` }],
  [
    'with a card number as a variable',
    'BAD_USER_INPUT',
    { query: WATCH, variables: { channel: PAN, transactionId: {} } },
  ],
  [
    'with an unknown persisted-query hash',
    'PERSISTED_QUERY_NOT_FOUND',
    { query: '', extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } },
  ],
];

describe.each(TRANSPORTS)('An operation over %s', (_name, connect) => {
  const refused = async (payload: SubscribePayload, of = harness): Promise<Watching> => {
    const before = of.service.requests.length;
    const watching = await firstOf(connect(of), payload);
    expect(watching.data).toEqual([]);
    expect(watching.errors?.length).toBeGreaterThan(0);
    expect(of.service.requests.length).toBe(before);
    return watching;
  };

  test.each(WRONG)('%s is refused with %s, as over HTTP POST', async (_what, code, payload) => {
    const { codes, errors } = await refused(payload);
    expect(new Set(codes)).toEqual(new Set([code]));
    expect(known(errors)).toEqual(await byPost(payload, harness.url));
    expect(JSON.stringify(errors) + harness.logLines.join('')).not.toContain(PAN);
    const silent = await refused(payload, quiet);
    expect(known(silent.errors)).toEqual(await byPost(payload, quiet.url));
    expect(JSON.stringify(silent.errors)).not.toMatch(/did you mean/i);
  });

  const { input } = validCall('createPayment', 'upi');
  const OTHERS: [string, string, SubscribePayload][] = [
    ['is a query', 'BAD_REQUEST', { query: '{ __typename }' }],
    [
      'is a mutation beside a subscription',
      'BAD_REQUEST',
      { query: `${WATCH} ${DOCUMENTS.createPayment}`, operationName: 'Call', variables: { input } },
    ],
    [
      'skips its only field',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { ${FIELD} @skip(if: true) { __typename } }` },
    ],
  ];

  test.each(OTHERS)('that %s is refused with %s', async (_what, code, payload) => {
    const { errors } = await refused(payload);
    expect(errors).toMatchObject([{ extensions: { code, retryable: false } }]);
  });

  test('is executed with fragments, directives, aliases, other operations, variables and extensions', async () => {
    const { data } = await firstOf(connect(harness), {
      query: `query Other { __typename } subscription S($id: UUID!, $yes: Boolean!) {
        mine: paymentUpdated(channel: "${CHANNEL}", transactionId: $id) { ...F @include(if: $yes) } }
        fragment F on PaymentResource { state: status }`,
      operationName: 'S',
      variables: { id, yes: true, other: 1 },
      extensions: { trace: 'x' },
    });
    expect(data).toEqual([{ mine: { state: 'PENDING' } }]);
  });
});

test('A subscription by POST to /graphql is refused with an error that names /graphql/stream', async () => {
  const { errors } = await post(harness.url, JSON.stringify(subscription(id)));
  expect(errors).toMatchObject([
    { message: expect.stringContaining('/graphql/stream') as unknown, extensions: { code: 'BAD_REQUEST' } },
  ]);
});

describe('A manifest of persisted operations', () => {
  const MUTATION = 'mutation Pay { __typename }';
  const MANIFEST = fileOf(apolloManifest(...[WATCH, MUTATION].map((body) => ({ body, name: 'Watch' }))));
  const persistedQuery = { version: 1, sha256Hash: sha256(WATCH) };
  const byId = (text: string): SubscribePayload => ({ query: '', ...{ documentId: sha256(text) } });

  let persisted: SubscriptionHarness;
  let frontend: { authorization: string };

  beforeAll(async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    persisted = await startHarness({ env: { ...issuer.settings, PERSISTED_OPERATIONS: MANIFEST } });
    const claims = { ...goodClaims(persisted.clock.now()), channels: [CHANNEL] };
    frontend = bearer(await tokenBy(key, { claims }));
  });

  describe.each(TRANSPORTS)('over %s', (_name, connect) => {
    const send = (payload: SubscribePayload, credentials?: typeof frontend): Promise<Watching> => {
      const { variables } = subscription(persisted.addPayment());
      return firstOf(connect(persisted, credentials), { ...payload, variables });
    };

    test.each<[string, SubscribePayload]>([
      ['a hash', { query: '', extensions: { persistedQuery } }],
      ['a documentId', byId(WATCH)],
      ['text without an id', { query: WATCH }],
    ])('allows its subscriptions when they are sent as %s', async (_how, payload) => {
      expect((await send(payload, frontend)).statuses).toEqual(['PENDING']);
    });

    test('restricts frontends, but not internal services, to its subscriptions', async () => {
      const free = { query: WATCH.replace('Watch', 'Free') };
      expect((await send(free)).statuses).toEqual(['PENDING']);
      expect((await send(free, frontend)).codes).toEqual(['PERSISTED_OPERATION_REQUIRED']);
      const withHash = { ...free, extensions: { persistedQuery } };
      expect((await send(withHash, frontend)).codes).toEqual(['BAD_REQUEST']);
    });

    test('does not allow its mutations', async () => {
      expect((await send(byId(MUTATION), frontend)).codes).toEqual(['BAD_REQUEST']);
    });
  });
});
