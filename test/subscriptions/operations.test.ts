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
    'with two root fields',
    'GRAPHQL_VALIDATION_FAILED',
    { query: `subscription S { a: ${FIELD} { __typename } b: ${FIELD} { __typename } }` },
  ],
  [
    'with a card number as its name',
    'GRAPHQL_VALIDATION_FAILED',
    { query: `subscription Q_${PAN} { ${FIELD} { __typename } }`, operationName: `Q_${PAN}` },
  ],
  [
    'that is one of two, without a name',
    'OPERATION_RESOLUTION_FAILURE',
    { query: `subscription S { ${FIELD} { __typename } } subscription T { ${FIELD} { __typename } }` },
  ],
  [
    'with too many aliases',
    'OPERATION_TOO_LARGE',
    { query: `subscription { ${FIELD} { ${aliases(101)} } }` },
  ],
  [
    'with a card number as a variable',
    'BAD_USER_INPUT',
    { query: WATCH, variables: { channel: PAN, transactionId: {} } },
  ],
  [
    'of an unknown hash',
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

  test.each(WRONG)('%s is refused with %s, as by POST', async (_what, code, payload) => {
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
    ['is a mutation', 'BAD_REQUEST', { query: DOCUMENTS.createPayment, variables: { input } }],
    [
      'is a mutation beside a subscription',
      'BAD_REQUEST',
      { query: `${WATCH} ${DOCUMENTS.createPayment}`, operationName: 'Call', variables: { input } },
    ],
    [
      'has a single field, which is skipped,',
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

test('A subscription by POST to /graphql is refused, and the error names the URL of streams', async () => {
  const { errors } = await post(harness.url, JSON.stringify(subscription(id)));
  expect(errors).toMatchObject([
    { message: expect.stringContaining('/graphql/stream') as unknown, extensions: { code: 'BAD_REQUEST' } },
  ]);
});

describe('With PERSISTED_OPERATIONS,', () => {
  const FREE = WATCH.replace('Watch', 'Free');
  const MUTATION = 'mutation Pay { __typename }';
  const MANIFEST = fileOf(apolloManifest(...[WATCH, MUTATION].map((body) => ({ body, name: 'Watch' }))));
  const hash = (text: string) => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } },
  });
  const byId = (documentId: string): SubscribePayload => ({ query: '', ...{ documentId } });

  /** A harness in each mode for internal services. */
  let [allow, warn, required]: SubscriptionHarness[] = [];

  beforeAll(async () => {
    const start = (PERSISTED_OPERATIONS_SERVICES: string): Promise<SubscriptionHarness> =>
      startHarness({ env: { PERSISTED_OPERATIONS: MANIFEST, PERSISTED_OPERATIONS_SERVICES } });
    [allow, warn, required] = await Promise.all(['allow', 'warn', 'require'].map(start));
  });

  const withVariables = (of: SubscriptionHarness, payload: SubscribePayload): SubscribePayload => ({
    ...payload,
    variables: subscription(of.addPayment()).variables,
  });

  describe.each(TRANSPORTS)('operations over %s', (_name, connect) => {
    const send = (of: SubscriptionHarness, payload: SubscribePayload): Promise<Watching> =>
      firstOf(connect(of), withVariables(of, payload));

    test.each<[string, SubscribePayload]>([
      ['a hash', { query: '', ...hash(WATCH) }],
      ['a documentId', byId(sha256(WATCH))],
      ['a documentId with its prefix', byId(`sha256:${sha256(WATCH)}`)],
      ['text without an id', { query: WATCH }],
    ])('of the manifest are executed when they are sent as %s', async (_how, payload) => {
      expect((await send(required!, payload)).outcome).toMatchObject({ statuses: ['PENDING'], codes: [] });
    });

    test.each<[string, SubscribePayload]>([
      ['an unknown documentId', byId('nosuch')],
      ['the hash of one operation with the text of another', { query: FREE, ...hash(WATCH) }],
      ['the id of a mutation', byId(sha256(MUTATION))],
    ])('are refused when they are sent as %s', async (_what, payload) => {
      const { codes } = await send(allow!, payload);
      expect(codes.join()).toMatch(/^(PERSISTED_QUERY_NOT_FOUND|BAD_REQUEST)$/);
    });

    test('outside the manifest are executed in the mode allow', async () => {
      expect((await send(allow!, { query: FREE })).statuses).toEqual(['PENDING']);
      expect(allow!.logLines.join('')).not.toContain('PERSISTED_OPERATIONS');
    });

    test('outside the manifest are executed and logged by name in the mode warn', async () => {
      const before = warn!.logLines.length;
      expect((await send(warn!, { query: FREE, operationName: 'Free' })).statuses).toEqual(['PENDING']);
      const lines = warn!.logLines.slice(before).filter((line) => line.includes('PERSISTED_OPERATIONS'));
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 40, name: 'Free' }]);
      expect(lines.join('')).not.toContain('paymentUpdated');
    });

    test.each([
      ['another text', { query: FREE }],
      ['a listed operation beside another one', { query: `${WATCH} ${FREE}`, operationName: 'Watch' }],
      ['a text with its hash', { query: FREE, ...hash(FREE) }],
    ])('outside the manifest are refused in the mode require: %s', async (_what, payload) => {
      const before = required!.service.requests.length;
      const { codes, errors } = await send(required!, payload);
      expect(codes).toEqual(['PERSISTED_OPERATION_REQUIRED']);
      expect(required!.service.requests.length).toBe(before);
      expect(known(errors)).toEqual(await byPost(withVariables(required!, payload), required!.url));
    });

    test('of frontends only are restricted to the manifest by default', async () => {
      const key = await newKey('ES256');
      const issuer = await Issuer.start(key);
      const persisted = await startHarness({ env: { ...issuer.settings, PERSISTED_OPERATIONS: MANIFEST } });
      const claims = { ...goodClaims(persisted.clock.now()), channels: [CHANNEL] };
      const frontend = connect(persisted, bearer(await tokenBy(key, { claims })));
      const free = withVariables(persisted, { query: FREE });
      expect((await firstOf(connect(persisted), free)).statuses).toEqual(['PENDING']);
      expect((await firstOf(frontend, free)).codes).toEqual(['PERSISTED_OPERATION_REQUIRED']);
      const listed = withVariables(persisted, byId(sha256(WATCH)));
      expect((await firstOf(frontend, listed)).statuses).toEqual(['PENDING']);
    });
  });
});
