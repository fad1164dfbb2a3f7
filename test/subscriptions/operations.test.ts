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
  const OTHERS: [string, SubscribePayload][] = [
    ['query', { query: '{ __typename }' }],
    ['mutation', { query: DOCUMENTS.createPayment, variables: { input } }],
    [
      'mutation beside a subscription',
      { query: `${WATCH} ${DOCUMENTS.createPayment}`, operationName: 'Call', variables: { input } },
    ],
  ];

  test.each(OTHERS)('that is a %s is refused', async (_what, payload) => {
    const { errors } = await refused(payload);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST', retryable: false } }]);
  });

  test('whose only field is skipped is refused', async () => {
    const { codes } = await refused({ query: `subscription { ${FIELD} @skip(if: true) { __typename } }` });
    expect(codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
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
  const TEXTS = [WATCH, MUTATION];
  const MANIFESTS = {
    Apollo: apolloManifest(...TEXTS.map((body) => ({ body, name: 'Watch' }))),
    codegen: JSON.stringify(Object.fromEntries(TEXTS.map((body) => [`sha256:${sha256(body)}`, body]))),
  };
  const hash = (text: string) => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } },
  });
  const byId = (documentId: string): SubscribePayload => ({ query: '', ...{ documentId } });

  const GATEWAYS = {
    'the mode allow': ['allow', MANIFESTS.Apollo],
    'the mode warn': ['warn', MANIFESTS.Apollo],
    'the mode require': ['require', MANIFESTS.Apollo],
    'a manifest by codegen': ['require', MANIFESTS.codegen],
  } as const;
  const harnesses = new Map<string, SubscriptionHarness>();
  const rigIn = (name: keyof typeof GATEWAYS): SubscriptionHarness => harnesses.get(name)!;

  beforeAll(async () => {
    for (const [name, [mode, manifest]] of Object.entries(GATEWAYS)) {
      const env = { PERSISTED_OPERATIONS: fileOf(manifest), PERSISTED_OPERATIONS_SERVICES: mode };
      harnesses.set(name, await startHarness({ env }));
    }
  });

  const withVariables = (of: SubscriptionHarness, payload: SubscribePayload): SubscribePayload => ({
    ...payload,
    variables: subscription(of.addPayment()).variables,
  });

  const LISTED: [string, SubscribePayload][] = [
    ['a hash', { query: '', ...hash(WATCH) }],
    ['a documentId', byId(sha256(WATCH))],
    ['a documentId with its prefix', byId(`sha256:${sha256(WATCH)}`)],
    ['text without an id', { query: WATCH }],
  ];
  const UNKNOWN: [string, SubscribePayload][] = [
    ['an unknown documentId', byId('nosuch')],
    ['the hash of one operation with the text of another', { query: FREE, ...hash(WATCH) }],
    ['the id of a mutation', byId(sha256(MUTATION))],
  ];

  describe.each(TRANSPORTS)('operations over %s', (_name, connect) => {
    test.each(LISTED)('of the manifest are executed when they are sent as %s', async (_how, payload) => {
      for (const persisted of [rigIn('the mode require'), rigIn('a manifest by codegen')]) {
        const { outcome } = await firstOf(connect(persisted), withVariables(persisted, payload));
        expect(outcome).toMatchObject({ statuses: ['PENDING'], codes: [] });
      }
    });

    test.each(UNKNOWN)('are refused when they are sent as %s', async (_what, payload) => {
      const persisted = rigIn('the mode allow');
      const { codes } = await firstOf(connect(persisted), withVariables(persisted, payload));
      expect(codes.join()).toMatch(/^(PERSISTED_QUERY_NOT_FOUND|BAD_REQUEST)$/);
    });
  });

  describe.each(TRANSPORTS)('operations outside the manifest over %s', (_name, connect) => {
    test('are executed in the mode allow', async () => {
      const persisted = rigIn('the mode allow');
      const payload = withVariables(persisted, { query: FREE });
      expect((await firstOf(connect(persisted), payload)).statuses).toEqual(['PENDING']);
      expect(persisted.logLines.join('')).not.toContain('PERSISTED_OPERATIONS');
    });

    test('are executed and logged by name in the mode warn', async () => {
      const persisted = rigIn('the mode warn');
      const before = persisted.logLines.length;
      const payload = withVariables(persisted, { query: FREE, operationName: 'Free' });
      expect((await firstOf(connect(persisted), payload)).statuses).toEqual(['PENDING']);
      const warnings = persisted.logLines
        .slice(before)
        .filter((line) => line.includes('PERSISTED_OPERATIONS'));
      expect(warnings.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 40, name: 'Free' }]);
      expect(warnings.join('')).not.toContain('paymentUpdated');
    });

    test.each([
      ['another text', { query: FREE }],
      ['a listed operation beside another one', { query: `${WATCH} ${FREE}`, operationName: 'Watch' }],
      ['a text with its hash', { query: FREE, ...hash(FREE) }],
    ])('are refused in the mode require: %s', async (_what, payload) => {
      const persisted = rigIn('the mode require');
      const before = persisted.service.requests.length;
      const { codes, errors } = await firstOf(connect(persisted), withVariables(persisted, payload));
      expect(codes).toEqual(['PERSISTED_OPERATION_REQUIRED']);
      expect(persisted.service.requests.length).toBe(before);
      expect(known(errors)).toEqual(await byPost(withVariables(persisted, payload), persisted.url));
    });
  });

  test.each(TRANSPORTS)('only frontends are restricted to the manifest (%s)', async (_name, connect) => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    const env = { ...issuer.settings, PERSISTED_OPERATIONS: fileOf(MANIFESTS.Apollo) };
    const persisted = await startHarness({ env });
    const claims = { ...goodClaims(persisted.clock.now()), channels: [CHANNEL] };
    const frontend = connect(persisted, bearer(await tokenBy(key, { claims })));
    const free = withVariables(persisted, { query: FREE });
    expect((await firstOf(connect(persisted), free)).statuses).toEqual(['PENDING']);
    expect((await firstOf(frontend, free)).codes).toEqual(['PERSISTED_OPERATION_REQUIRED']);
    const listed = withVariables(persisted, byId(sha256(WATCH)));
    expect((await firstOf(frontend, listed)).statuses).toEqual(['PENDING']);
  });
});
