import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { buildGatewaySchema } from '../../src/resolvers';
import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { WHOLE_PAYMENT, WHOLE_PAYOUT } from '../methods/selection';
import { createInput } from '../support/caller';
import { DOCUMENTS, accepted, validCall, type Json, type Mutation } from '../support/calls';
import { clientKeysFile } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { newKey } from '../support/harness';
import { Issuer, newKey as newSigningKey, tokenBy } from '../support/issuer';
import { apolloManifest, fileOf, sha256 } from '../support/manifests';
import type { Reply, ReceivedRequest } from '../support/payment-service/fake-payment-service';
import { asNew, DifferentialHarness, type Effects, type TestRequest } from './support/differential';
import { ATTEMPT_KEYS, operationOf } from './support/generated-operations';
import { FAILING, FOUND, MISSING, nodeId, lookupReply } from './support/transactions';

/** Differential tests: a compiled operation must have the effects that it has when Apollo Server executes it. */

const ORIGIN = 'https://shop.example';
const keyed = (id: string): { authorization: string } => bearer(keyOf(id));

const LISTED = 'query Listed { listed: __typename }';
const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';

let issuer: Issuer;
let frontend: { authorization: string };
let ways: DifferentialHarness;

const startWith = (mode: string, services = mode): Promise<DifferentialHarness> =>
  DifferentialHarness.start({
    ...issuer.settings,
    // The recovery of a lost response takes nearly this long.
    SERVICE_TIMEOUT_MS: '1000',
    CORS_ORIGINS: ORIGIN,
    CLIENT_KEYS_FILE: clientKeysFile(
      clientOf('reader', { scopes: ['payments:read', 'payouts:read'] }),
      clientOf('payouts-reader', { scopes: ['payouts:read'] }),
      clientOf('no-cards', { scopes: ['payments:create', 'payouts:create', 'payments:confirm'] }),
      clientOf('elsewhere', { channels: ['11111111-2222-4333-8444-555555555555'] }),
    ),
    PERSISTED_OPERATIONS: fileOf(apolloManifest({ body: LISTED, name: 'Listed' })),
    PERSISTED_OPERATIONS_FRONTENDS: mode,
    PERSISTED_OPERATIONS_SERVICES: services,
  });

beforeAll(async () => {
  const key = await newSigningKey('RS256');
  issuer = await Issuer.start(key);
  frontend = bearer(await tokenBy(key, { claims: { channels: [CHANNEL] } }));
  ways = await startWith('allow');
});

/** Sends a request by both paths, Apollo first, and expects the same effects. */
async function expectSame(request: TestRequest): Promise<Effects & { isPrepared: boolean }> {
  const byApollo = await ways.sendToApollo(request);
  const { effects, isPrepared } = await ways.send(request);
  expect(effects).toEqual(byApollo);
  return { ...effects, isPrepared };
}

/** Sorts errors and log lines of effects, because their order depends on which lookup fails first. */
const withSortedErrors = (effects: Effects): Effects => {
  const { errors = [], data } = JSON.parse(effects.body) as { errors?: unknown[]; data: unknown };
  const texts = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).sort();
  const log = effects.log.map((row: { errors?: string[] }) => ({ ...row, errors: row.errors?.toSorted() }));
  return { ...effects, log: [texts(log)], body: JSON.stringify([texts(errors), data]) };
};

describe('An HTTP request for a compiled operation', () => {
  const QUERY = `query Payment($c: UUID!, $id: UUID!, $ids: [UUID!] = [], $e: String = "order-1") {
    payment(channel: $c, transactionId: $id) { __typename ... on PaymentResource { status amount { value } } }
    payments(channel: $c, transactionIds: $ids) { ... on PaymentResource { status } }
    other: payment(channel: $c, externalId: $e) { ... on Node { id } }
  }`;
  const TWO = 'query A { a: __typename } query B { b: __typename }';
  const UNNAMED = '{ __typename }';
  const variables = { c: CHANNEL, id: FOUND.payment[0] };
  const BODY = { query: QUERY, variables };
  const missing = (count: number): string[] => Array.from({ length: count }, () => MISSING);
  const hash = (text: string, version = 1): object => ({
    extensions: { persistedQuery: { version, sha256Hash: sha256(text) } },
  });

  beforeAll(async () => {
    await ways.prepare(BODY);
    await ways.prepare({ query: TWO, operationName: 'A' });
    await ways.prepare({ query: UNNAMED });
    await ways.byPrepared(BODY);
  });

  const search = `?${new URLSearchParams({ query: UNNAMED })}`;
  const unpreflighted = { 'content-type': undefined };
  const headed = (headers: TestRequest['headers']): TestRequest => ({ headers, body: BODY });
  const given = (more: object): TestRequest => ({ body: { ...BODY, variables: { ...variables, ...more } } });
  const withBody = (more: object): TestRequest => ({ body: { ...BODY, ...more } });

  const CASES: [what: string, request: TestRequest, isPrepared?: boolean][] = [
    ['two weighted types in Accept', headed({ accept: 'application/json;q=0.5, text/html;q=0.1' }), true],
    ['two Accept headers', headed({ accept: ['text/html', 'application/json'] }), true],
    ['a content type with a charset', headed({ 'content-type': 'application/json; charset=utf-8' }), true],
    ['the operationName of one of two operations', { body: { query: TWO, operationName: 'A' } }, true],
    ['null as variables', { body: { query: UNNAMED, variables: null } }, true],
    ['variables that the operation does not declare', given({ more: { a: [1] }, toString: 1 }), true],
    ['a single value for a list variable', given({ ids: MISSING }), true],
    ['null as extensions', withBody({ extensions: null }), true],
    ['unknown JSON names', withBody({ more: 1, id: 'x', documentId: 'x' }), true],
    ['the maximum number of lookups', given({ ids: missing(498) }), true],
    ['an allowed origin', headed({ origin: ORIGIN }), true],
    ['a key without the scope', headed(keyed('payouts-reader')), true],
    ['a key of another channel', headed(keyed('elsewhere')), true],
    ['HTML in Accept', headed({ accept: 'text/html' })],
    ['a content type of text that mentions JSON', headed({ 'content-type': 'text/plain; application/json' })],
    ['no content type', headed(unpreflighted)],
    ['another operationName', withBody({ operationName: 'Payout' })],
    ['no operationName for two operations', { body: { query: TWO } }],
    ['null as variables, although some are required', withBody({ variables: null })],
    ['a number for a UUID', given({ id: 5 })],
    ['a string as extensions', withBody({ extensions: '{}' })],
    ['a persisted query of version 2', withBody(hash(QUERY, 2))],
    ['a registered persisted query', withBody(hash(QUERY))],
    ['the hash of a persisted query', { body: { variables, ...hash(QUERY) } }],
    ['a persisted query with a wrong hash', withBody(hash('x'))],
    ['a batch of operations', { body: [BODY, BODY] }],
    ['a subscription', { body: { query: `subscription { paymentUpdated(channel: "${CHANNEL}") { id } }` } }],
    ['too many lookups', given({ ids: missing(499) })],
    ['an incomplete JSON object', { body: '{' }],
    ['a repeated JSON name', { body: '{"query":"{ __typename }","query":"{ nosuch }"}' }],
    ['method GET', { method: 'GET', search, headers: { ...unpreflighted, 'apollo-require-preflight': '1' } }],
    ['unknown credentials', headed({ authorization: 'Bearer nobody' })],
    ['no credentials', headed({ authorization: undefined })],
    ['two Authorization headers', headed({ authorization: ['Bearer a', 'Bearer b'] })],
  ];

  test.each(CASES)(
    'gets the same response as from Apollo Server when it has %s',
    async (_what, request, isPrepared = false) => {
      for (const _ of ['first', 'again']) {
        const response = await expectSame(request);
        expect(response.isPrepared).toBe(isPrepared);
        if (!('authorization' in (request.headers ?? {}))) continue;
        expect(response.calls).toEqual([]);
        expect(response.body).not.toContain('"status"');
      }
    },
  );

  test('gets the same response as from Apollo Server when it is an introspection query', async () => {
    await ways.expectSame({ query: '{ __schema { queryType { name } } }' });
  });
});

describe('A compiled operation that is not in the manifest', () => {
  const FREE = 'query Free { free: __typename }';
  const hash = (text: string): object => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
  let required: DifferentialHarness;

  beforeAll(async () => {
    required = await startWith('require', 'allow');
  });

  test('is refused to frontends with PERSISTED_OPERATIONS_FRONTENDS=require, in whatever form it is sent', async () => {
    await required.prepare({ query: FREE });
    await required.byPrepared({ query: FREE });
    for (const body of [
      { query: FREE },
      { extensions: hash(FREE) },
      { documentId: sha256(FREE) },
      { query: FREE, documentId: sha256(LISTED) },
      { query: FREE, extensions: hash(LISTED) },
    ]) {
      const { effects, isPrepared } = await required.send({ headers: frontend, body });
      expect(isPrepared).toBe(false);
      expect(effects.body).toMatch(/PERSISTED_|BAD_REQUEST/);
      expect(effects.body).not.toContain('data');
    }
  });
});

describe('The response of a compiled operation', () => {
  const schema = buildGatewaySchema();
  let plain: DifferentialHarness;

  beforeAll(async () => {
    plain = await DifferentialHarness.start();
    // Lookups of these two transactions return the status of the create, so that the gateway records no change.
    const unused = [FOUND.payment.at(-13), FOUND.payment.at(-5)];
    plain.service.respond((request) =>
      request.method === 'POST'
        ? { status: 201, json: { status: 'pending', transaction_id: unused.pop() } }
        : lookupReply(request),
    );
    for (const key of ATTEMPT_KEYS.slice(0, 2)) {
      const variables = { input: createInput('payment', key) };
      expect((await plain.send({ body: { query: CREATE, variables } })).effects.body).toContain('Success');
    }
  });

  test.each([
    ['lookups succeed', { fails: false, directives: false }],
    ['lookups fail', { fails: true, directives: false }],
    ['they have directives', { fails: true, directives: true }],
  ])('equals the response of Apollo Server for random operations if %s', async (_when, options) => {
    let compared = 0;
    const property = fc.asyncProperty(fc.gen(), async (g) => {
      const operation = operationOf(schema, g, options);
      const body = { ...operation, query: asNew(operation.query) };
      const { effects: byApollo } = await plain.send({ body });
      // Operations that Apollo refuses are never compiled, for example those beyond the limits.
      if (byApollo.status !== 200) return;
      await plain.prepare(operation);
      expect(withSortedErrors(await plain.byPrepared(operation))).toEqual(withSortedErrors(byApollo));
      compared += 1;
    });
    await fc.assert(property, { numRuns: 20, maxSkipsPerRun: 200, endOnFailure: true });
    expect(compared).toBeGreaterThan(0);
  });

  test.each([
    ['payment', WHOLE_PAYMENT],
    ['payout', WHOLE_PAYOUT],
  ] as const)('equals the response of Apollo Server for every %s method and state', async (kind, whole) => {
    const ids = [...FOUND[kind], MISSING];
    const type = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
    const query = `query All($c: UUID!, $ids: [UUID!]!, $id: UUID!, $node: ID!) {
      ${kind}s(channel: $c, transactionIds: $ids) ${whole} ${kind}(channel: $c, transactionId: $id) ${whole}
      node(id: $node) { id ... on ${type} { status } } }`;
    const [id = ''] = ids;
    const variables = { c: CHANNEL, ids, id, node: nodeId(kind, id) };
    const { calls } = await plain.expectSame({ query, variables });
    expect(calls).toHaveLength(ids.length);
  });
});

describe('A failing lookup of a compiled operation', () => {
  const c = CHANNEL;
  let failing: DifferentialHarness;

  beforeAll(async () => {
    failing = await DifferentialHarness.start();
  });

  const [first = '', second = ''] = FAILING;
  const LOOKUP = `a: payment(channel: "${c}", transactionId: "${first}") { __typename }`;
  const listOf = (...ids: string[]): string =>
    `b: payments(channel: "${c}", transactionIds: ${JSON.stringify(ids)}) { __typename }`;

  test.each([
    ['two of several ids in a list', `{ ${listOf(first, FOUND.payment[0] ?? '', second, MISSING)} }`],
    ['one id in a lookup and a list', `{ ${LOOKUP} ${listOf(first)} }`],
    ['a lookup beside invalid arguments', `{ ${LOOKUP} d: node(id: "x") { __typename } }`],
  ])('is sent once, and causes the same errors as with Apollo Server: %s', async (_what, query) => {
    const byApollo = await failing.byApollo({ query });
    await failing.prepare({ query });
    const byPrepared = await failing.byPrepared({ query });
    expect(withSortedErrors(byPrepared)).toEqual(withSortedErrors(byApollo));
    // With one failing lookup the errors have the order of the fields.
    if (new Set(byPrepared.calls).size === 1) expect(byPrepared.body).toBe(byApollo.body);
    expect(new Set(byPrepared.calls).size).toBe(byPrepared.calls.length);
  });
});

describe('A mutation', () => {
  const MUTATIONS = ['createPayment', 'createPayout', 'confirmPayment'] as const;

  /** Responds to every transaction id with a payment that waits for its UTR, and to external ids with 404. */
  function transactionReply({ parameters }: ReceivedRequest): Reply {
    const id = parameters.get('transaction_id');
    const payment_method = { type: 'upi', state: 'waiting_for_utr' };
    if (!id) return { status: 404, json: {} };
    return { status: 200, json: { status: 'processing', transaction_id: id, payment_method } };
  }

  const repliesTo =
    (reply: (request: ReceivedRequest) => Reply) =>
    (request: ReceivedRequest): Reply =>
      request.method === 'POST' ? reply(request) : transactionReply(request);

  const inputOf = (mutation: Mutation): Json =>
    mutation === 'confirmPayment'
      ? { ...validCall(mutation, 'upi').input, transactionId: randomUUID() }
      : validCall(mutation, 'other').input;

  beforeAll(async () => {
    ways.service.respond(repliesTo(accepted));
    for (const mutation of MUTATIONS)
      for (const query of [DOCUMENTS[mutation], DOCUMENTS[mutation]])
        await ways.send({ body: { query, variables: { input: inputOf(mutation) } } });
  });

  /** Returns effects without keys, ids, lengths, lookups of earlier calls, and the random number of retries. */
  function comparable(effects: Effects, input: Json): unknown {
    const own = [input['idempotencyKey'], input['externalId']].map(String).filter((text) => text !== '');
    const calls = effects.calls.filter((call) => !/external_id=/.test(call) || call.includes(`=${own[1]} `));
    // On a busy machine, lookups for earlier creates may exceed their time limit.
    const log = effects.log.filter((line) => !('code' in line && line.code === 'DEADLINE'));
    return own
      .reduce(
        (text, value) => text.replaceAll(value, '(own)'),
        JSON.stringify({ ...effects, log, calls: [...new Set(calls)] }),
      )
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)')
      .replace(/"content-length","\d+"/i, '');
  }

  interface Case {
    input?: (input: Json) => Json;
    reply?: (request: ReceivedRequest) => Reply;
    headers?: Record<string, string>;
  }

  const byCard = (input: Json): Json => ({
    ...input,
    amount: { currency: 'EUR', value: '10.00' },
    method: validCall('createPayment', 'card').input['method'],
  });
  const declined = ({ json }: ReceivedRequest): Reply => ({
    status: 201,
    json: {
      status: 'failed',
      transaction_id: json['id'] ?? randomUUID(),
      error: { code: 'DECLINED_GENERIC', message: 'No.' },
    },
  });
  const refused = { reply: (): Reply => ({ status: 400, json: { amount: ['Too much.'] } }) };
  const unauthorized = { reply: (): Reply => ({ status: 401, json: {} }) };
  const fault = { reply: (): Reply => ({ status: 500, json: {} }) };
  const invalid = { input: (input: Json): Json => ({ ...input, externalId: '' }) };

  const CASES: [mutation: Mutation, how: string, Case, expected: RegExp][] = [
    ...MUTATIONS.flatMap((mutation): typeof CASES => [
      [mutation, 'that succeeds', {}, /Pay(ment|out)Success/],
      [mutation, 'without the scope', { headers: keyed('reader') }, /FORBIDDEN/],
      [mutation, 'on another channel', { headers: keyed('elsewhere') }, /FORBIDDEN/],
      [mutation, 'to which the service responds with 500', fault, /OutcomeUnknownError/],
    ]),
    ['createPayment', 'that is declined', { reply: declined }, /Success/],
    ['createPayment', 'to which the service responds with 400', refused, /RejectedByServiceError/],
    ['createPayment', 'to which the service responds with 401', unauthorized, /SERVICE_AUTH_FAILED/],
    ['confirmPayment', 'to which the service responds with 400', refused, /RejectedByServiceError/],
    ['createPayment', 'with invalid fields', invalid, /InvalidInputError/],
    ['createPayout', 'with invalid fields', invalid, /InvalidInputError/],
    ['createPayment', 'with a card', { input: byCard }, /PaymentSuccess/],
    [
      'createPayment',
      'with a card and without cards:direct',
      { input: byCard, headers: keyed('no-cards') },
      /FORBIDDEN/,
    ],
  ];

  const posts = (calls: readonly string[]): string[] => calls.filter((call) => call.startsWith('POST'));

  test.each(CASES)(
    '%s %s has the same result and audit entry when it is compiled as when Apollo Server executes it',
    async (mutation, _how, { input = (given) => given, reply = accepted, headers }, expected) => {
      ways.service.respond(repliesTo(reply));
      const [first, second] = [input(inputOf(mutation)), input(inputOf(mutation))];
      const query = DOCUMENTS[mutation];
      const byApollo = await ways.sendToApollo({ headers, body: { query, variables: { input: first } } });
      const byPrepared = await ways.byPrepared({ query, variables: { input: second } }, headers);
      expect(comparable(byPrepared, second)).toEqual(comparable(byApollo, first));
      const { body, audit, calls, log } = byPrepared;
      expect(body).toMatch(expected);
      expect(audit).toHaveLength(1);
      const isSent = !/FORBIDDEN|InvalidInputError/.test(body);
      expect(posts(calls)).toHaveLength(isSent ? 1 : 0);
      if (!isSent) expect(calls).toEqual([]);
      expect(JSON.stringify({ body, log, audit })).not.toMatch(/4111111111111111|"737"/);
    },
  );

  test('is refused if its operation contains a second mutation', async () => {
    const query = `mutation Two($input: CreatePaymentInput!) {
      a: createPayment(input: $input) { __typename } b: createPayment(input: $input) { __typename } }`;
    const variables = { input: createInput('payment', newKey()) };
    for (let count = 0; count < 4; count += 1) {
      const { effects, isPrepared } = await ways.send({ body: { query, variables } });
      expect([isPrepared, effects.status, effects.calls, effects.audit]).toEqual([false, 400, [], []]);
    }
  });
});
