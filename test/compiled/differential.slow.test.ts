import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { gatewaySchema } from '../../src/resolvers';
import { bearer } from '../auth/support/harness';
import { WHOLE_PAYMENT, WHOLE_PAYOUT } from '../methods/selection';
import { createInput } from '../support/caller';
import { DOCUMENTS, accepted, validCall, type Mutation } from '../support/calls';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { Issuer, newKey as newSigningKey, tokenBy } from '../support/issuer';
import { apolloManifest, fileOf, sha256 } from '../support/manifests';
import type { Reply, ReceivedRequest } from '../support/payment-service/fake-payment-service';
import { until } from '../support/latch';
import { newKey } from '../support/harness';
import { asNew, DifferentialHarness, type Effects } from './support/differential';
import type { TestRequest } from './support/exchange';
import { ATTEMPT_KEYS, operationOf } from './support/generated-operations';
import { FAILING, FOUND, MISSING, nodeId, lookupReply } from './support/transactions';

/** Differential tests: Apollo Server's path is the specification of the compiled path. */

const ORIGIN = 'https://shop.example';
const clientOf = (id: string): { id: string; key: string } => ({ id, key: `pgk_${id}-0123456789abcdef0123` });
const keyed = (id: string): { authorization: string } => bearer(clientOf(id).key);

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
      { ...clientOf('reader'), scopes: ['payments:read', 'payouts:read'] },
      { ...clientOf('payouts-reader'), scopes: ['payouts:read'] },
      { ...clientOf('no-cards'), scopes: ['payments:create', 'payouts:create', 'payments:confirm'] },
      { ...clientOf('elsewhere'), channels: ['11111111-2222-4333-8444-555555555555'] },
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
  const log = effects.log.map((line: { errors?: string[] }) => ({
    ...line,
    errors: line.errors?.toSorted(),
  }));
  return { ...effects, log: [texts(log)], body: JSON.stringify([texts(errors), data]) };
};

const rows = <T>(table: Record<string, T>, isPrepared: boolean): [string, T, boolean][] =>
  Object.entries(table).map(([title, row]) => [title, row, isPrepared]);

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
    persistedQuery: { version, sha256Hash: sha256(text) },
  });

  beforeAll(async () => {
    await ways.prepare(BODY);
    await ways.prepare({ query: TWO, operationName: 'A' });
    await ways.prepare({ query: UNNAMED });
    await ways.byPrepared(BODY);
  });

  const search = `?${new URLSearchParams({ query: UNNAMED })}`;
  const unpreflighted = { 'content-type': undefined };
  const preflighted = { ...unpreflighted, 'apollo-require-preflight': '1' };
  const accepting = (accept: string | string[]): TestRequest => ({ headers: { accept }, body: BODY });
  const typed = (type: string | undefined): TestRequest => ({
    headers: { 'content-type': type },
    body: BODY,
  });
  const given = (more: object): TestRequest => ({ body: { ...BODY, variables: { ...variables, ...more } } });
  const withBody = (more: object): TestRequest => ({ body: { ...BODY, ...more } });

  const PREPARED: Record<string, TestRequest> = {
    'two weighted types in Accept': accepting(
      'application/json;q=0.5, application/graphql-response+json;q=0.9',
    ),
    'HTML before any type in Accept': accepting('text/html, */*;q=0.1'),
    'multipart before JSON in Accept': accepting('multipart/mixed; deferSpec=20220824, application/json'),
    'two Accept headers': accepting(['text/html', 'application/json']),
    'a content type with a charset': typed('application/json; charset=utf-8'),
    'a content type in capitals': typed('APPLICATION/JSON'),
    'the operationName of one of two operations': { body: { query: TWO, operationName: 'A' } },
    'variables null': { body: { query: UNNAMED, variables: null } },
    'unknown variables': given({ more: { a: [1] }, toString: 1 }),
    'null for a list with a default': given({ ids: null }),
    'one value for a list': given({ ids: MISSING }),
    'a UUID in capitals': given({ c: CHANNEL.toUpperCase() }),
    'extensions null': withBody({ extensions: null }),
    'unknown keys': withBody({ more: 1, id: 'x', documentId: 'x' }),
    'the maximum number of lookups': given({ ids: missing(498) }),
    'an allowed origin': { headers: { origin: ORIGIN }, body: BODY },
    'another origin': { headers: { origin: 'https://evil.example' }, body: BODY },
    'another Host': { headers: { host: 'evil.example' }, body: BODY },
    'a key without the scope': { headers: keyed('payouts-reader'), body: BODY },
    'a key of another channel': { headers: keyed('elsewhere'), body: BODY },
  };
  const LEFT_TO_APOLLO: Record<string, TestRequest> = {
    'HTML in Accept': accepting('text/html'),
    'JSON refused in Accept': accepting('application/json;q=0, application/graphql-response+json;q=0'),
    'nonsense in Accept': accepting(';;;,,,'),
    'a content type of text that mentions JSON': typed('text/plain; application/json'),
    'a content type of a form': typed('application/x-www-form-urlencoded'),
    'no content type': typed(undefined),
    'another operationName': withBody({ operationName: 'Payout' }),
    'no operationName for two operations': { body: { query: TWO } },
    'variables null where some are required': withBody({ variables: null }),
    'variables as a list': withBody({ variables: [] }),
    'a number for a UUID': given({ id: 5 }),
    'extensions as text': withBody({ extensions: '{}' }),
    'a persisted query of version 2': withBody({ extensions: hash(QUERY, 2) }),
    'a registered persisted query': withBody({ extensions: hash(QUERY) }),
    'the hash of a persisted query': { body: { variables, extensions: hash(QUERY) } },
    'a persisted query with a wrong hash': withBody({ extensions: hash('x') }),
    'a list of operations': { body: [BODY, BODY] },
    'an empty object': { body: {} },
    'a subscription': {
      body: { query: `subscription { paymentUpdated(channel: "${CHANNEL}") { __typename } }` },
    },
    'too many lookups': given({ ids: missing(499) }),
    'an incomplete JSON object': { body: '{' },
    'a repeated JSON name': { body: '{"query":"{ __typename }","query":"{ nosuch }"}' },
    GET: { method: 'GET', search, headers: preflighted },
    'GET without apollo-require-preflight': { method: 'GET', search, headers: unpreflighted },
    OPTIONS: { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'POST' } },
    'unknown credentials': { headers: { authorization: 'Bearer nobody' }, body: BODY },
    'no credentials': { headers: { authorization: undefined }, body: BODY },
    'two Authorization headers': { headers: { authorization: ['Bearer a', 'Bearer b'] }, body: BODY },
  };

  test.each([...rows(PREPARED, true), ...rows(LEFT_TO_APOLLO, false)])(
    'gets the same response as from Apollo with %s',
    async (_what, request, isPrepared) => {
      const { headers = {} } = request;
      for (const _ of ['first', 'again']) {
        const response = await expectSame(request);
        expect(response.isPrepared).toBe(isPrepared);
        if ('authorization' in headers) expect(response.calls).toEqual([]);
        if ('authorization' in headers) expect(response.body).not.toContain('"status"');
      }
    },
  );

  test('gets a response that does not repeat an invalid value', async () => {
    const PAN = '4111111111111111';
    for (const wrong of [PAN, [PAN], { pan: PAN }, Number(PAN)])
      for (const name of ['c', 'id', 'ids', 'e', PAN]) {
        const response = await expectSame({ body: { ...BODY, variables: { ...variables, [name]: wrong } } });
        expect(JSON.stringify(response)).not.toContain(PAN);
      }
  });

  test.each([
    ['more than 100 KB', `{ __typename } # ${'x'.repeat(100 * 1024)}`],
    ['too many tokens', `{ ${'__typename '.repeat(5001)} }`],
    ['two operations without a name', TWO],
    ['an unclosed brace', '{'],
    ['introspection', '{ __schema { queryType { name } } }'],
  ])('gets the same response by both paths for a document with %s', async (_what, query) => {
    for (let count = 0; count < 3; count += 1) await expectSame({ body: { query } });
  });

  test.each([
    ['a card number as a literal', 'mutation { createPayment(input: "4111111111111111") { __typename } }'],
    ['a card number as a name', '{ a4111111111111111: __typename }'],
    ['an unknown field', '{ nosuch(token: "eyJhbGciOi") { id } }'],
  ])('is not compiled for a document with %s', async (_what, query) => {
    for (let count = 0; count < 4; count += 1) {
      const { effects, isPrepared } = await ways.send({ body: { query } });
      expect([isPrepared, effects.status]).toEqual([false, 400]);
      expect(JSON.stringify(effects)).not.toMatch(/4111111111111111|eyJhbGciOi/);
    }
  });
});

describe('A persisted operation', () => {
  const FREE = 'query Free { free: __typename }';
  const hash = (text: string): object => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
  let required: DifferentialHarness;

  beforeAll(async () => {
    required = await startWith('require', 'allow');
    await required.prepare({ query: FREE });
    await required.byPrepared({ query: FREE });
  });

  test.each<[string, object]>([
    ['its text', { query: FREE }],
    ['its hash', { extensions: hash(FREE) }],
    ['its id', { documentId: sha256(FREE) }],
    ['its text and a listed id', { query: FREE, documentId: sha256(LISTED) }],
    ['its text and a listed hash', { query: FREE, extensions: hash(LISTED) }],
  ])('that is not listed is refused in mode require if a frontend sends %s', async (_how, body) => {
    const { effects, isPrepared } = await required.send({ headers: frontend, body });
    expect(isPrepared).toBe(false);
    expect(effects.body).toMatch(/PERSISTED_|BAD_REQUEST/);
    expect(effects.body).not.toContain('data');
  });

  test.each<[string, object]>([
    ['its id', { documentId: sha256(LISTED) }],
    ['its hash', { extensions: hash(LISTED) }],
    ['its text', { query: LISTED }],
    ['its text with other white space', { query: `# a comment\n${LISTED.replaceAll(' ', '  ')}` }],
  ])('that is listed is compiled in mode require for all callers that send %s', async (_how, body) => {
    const byApollo = await required.sendToApollo({ headers: frontend, body });
    await required.send({ headers: AUTHORIZED, body });
    const { effects, isPrepared } = await required.send({ headers: frontend, body });
    expect(isPrepared).toBe(true);
    expect(effects).toEqual(byApollo);
    expect(JSON.parse(effects.body)).toEqual({ data: { listed: 'Query' } });
  });

  test('that is not listed is logged each time by both paths in mode warn', async () => {
    const preferred = await startWith('warn');
    const body = { query: FREE, operationName: 'Free' };
    const byApollo = await preferred.sendToApollo({ headers: frontend, body });
    await preferred.send({ headers: frontend, body });
    const { effects, isPrepared } = await preferred.send({ headers: frontend, body });
    expect(isPrepared).toBe(true);
    expect(effects).toEqual(byApollo);
    expect(effects.log).toContainEqual(expect.objectContaining({ level: 40, name: 'Free' }));
  });

  test('is not executed with invalid credentials', async () => {
    await ways.prepare({ query: FREE });
    const [token, key] = [frontend.authorization, AUTHORIZED.authorization];
    for (const authorization of [undefined, 'Bearer x', 'Basic eDp5', `${token}x`, key.slice(0, -1)]) {
      const { effects, isPrepared } = await ways.send({
        headers: { authorization },
        body: { query: FREE },
      });
      expect([isPrepared, effects.status]).toEqual([false, 401]);
    }
  });
});

describe('A random operation', () => {
  const schema = gatewaySchema();
  let plain: DifferentialHarness;

  beforeAll(async () => {
    plain = await DifferentialHarness.start();
    const unused = [...FOUND.payment];
    plain.service.respond((request) =>
      request.method === 'POST'
        ? { status: 201, json: { status: 'pending', transaction_id: unused.pop() } }
        : lookupReply(request),
    );
    for (const key of ATTEMPT_KEYS.slice(0, 2)) {
      const variables = { input: createInput('payment', key) };
      expect((await plain.send({ body: { query: CREATE, variables } })).effects.body).toContain('Success');
    }
    await until(statesByFeedAndLookup, ({ recorded, shown }) => isDeepStrictEqual(recorded, shown));
  });

  /** Looks up two created payments, which records changes. Returns the last recorded and the looked-up statuses. */
  async function statesByFeedAndLookup(): Promise<{ recorded: object; shown: object }> {
    const query = `query States($c: UUID!, $ids: [UUID!]!) {
      payments(channel: $c, transactionIds: $ids) { ... on PaymentResource { transactionId status } }
      changes(channel: $c) { changes { ... on PaymentChange { transactionId changed: status } } } }`;
    const variables = { c: CHANNEL, ids: FOUND.payment.slice(-2) };
    const { effects } = await plain.send({ body: { query: asNew(query), variables } });
    const { payments, changes } = (
      JSON.parse(effects.body) as {
        data: {
          payments: ({ transactionId: string; status: string } | null)[];
          changes: { changes: { transactionId: string; changed: string }[] };
        };
      }
    ).data;
    const last = new Map(changes.changes.map((each) => [each.transactionId, each.changed]));
    // The service does not show one of them on this channel: its lookup returns null.
    const shown = payments.filter((each) => each !== null);
    return {
      recorded: shown.map(({ transactionId }) => last.get(transactionId)),
      shown: shown.map(({ status }) => status),
    };
  }

  test.each([
    ['lookups succeed', { fails: false, directives: false }],
    ['lookups fail', { fails: true, directives: false }],
    ['it has directives', { fails: true, directives: true }],
  ])(
    'gets the same response by both paths if %s',
    async (_when, options) => {
      const property = fc.asyncProperty(fc.gen(), async (g) => {
        const operation = operationOf(schema, g, options);
        const { effects: byApollo } = await plain.send({
          body: { ...operation, query: asNew(operation.query) },
        });
        // Operations that Apollo refuses are never compiled, for example those beyond the limits.
        if (byApollo.status !== 200) return;
        await plain.prepare(operation);
        expect(withSortedErrors(await plain.byPrepared(operation))).toEqual(withSortedErrors(byApollo));
      });
      await fc.assert(property, { numRuns: 20, maxSkipsPerRun: 200, endOnFailure: true });
    },
    120_000,
  );

  test.each([
    ['payment', WHOLE_PAYMENT],
    ['payout', WHOLE_PAYOUT],
  ] as const)('gets the same %s by both paths, for every field, method and state', async (kind, whole) => {
    const ids = [...FOUND[kind], MISSING];
    const type = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
    const query = `query All($c: UUID!, $ids: [UUID!]!, $id: UUID!, $node: ID!) {
      ${kind}s(channel: $c, transactionIds: $ids) ${whole} ${kind}(channel: $c, transactionId: $id) ${whole}
      node(id: $node) { id ... on ${type} { status } } }`;
    const [id = ''] = ids;
    const effects = await plain.expectSame({
      query,
      variables: { c: CHANNEL, ids, id, node: nodeId(kind, id) },
    });
    expect(effects.calls).toHaveLength(ids.length);
  });
});

describe('A failing lookup', () => {
  const TEN = Array.from({ length: 10 }, (_, place) => `40000000-0000-4000-8000-00000000000${place}`);
  const BAD = 4;
  const MANY = `query Many($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) {
    ... on PaymentResource { transactionId status amount { value } } } }`;
  const c = CHANNEL;
  /** Its timeout allows every retry, so that both paths send the same number of requests. */
  let failing: DifferentialHarness;

  beforeAll(async () => {
    failing = await DifferentialHarness.start({ SERVICE_TIMEOUT_MS: '20000' });
  });

  test.each<[string, Reply, string, 'patient' | 'short']>([
    ['500', { status: 500, json: {} }, 'SERVICE_UNAVAILABLE', 'patient'],
    ['no response', () => undefined, 'SERVICE_TIMEOUT', 'short'],
    ['a body that is not JSON', { status: 200, body: '<html>' }, 'SERVICE_RESPONSE_INVALID', 'patient'],
    ['403', { status: 403, json: {} }, 'SERVICE_AUTH_FAILED', 'patient'],
  ])('among ten gives one null and one error by both paths: %s', async (_fault, reply, code, timeout) => {
    const gateway =
      timeout === 'short' ? await DifferentialHarness.start({ SERVICE_TIMEOUT_MS: '800' }) : failing;
    gateway.service.respond(({ query }) => {
      const id = /transaction_id=([^&]*)/.exec(query)?.[1];
      return id === TEN[BAD] ? reply : { status: 200, json: { status: 'pending', transaction_id: id } };
    });
    const operation = { query: MANY, variables: { c, ids: TEN } };
    await gateway.prepare({ ...operation, variables: { c, ids: TEN.slice(0, 2) } });
    const byApollo = await gateway.byApollo(operation);
    const byPrepared = await gateway.byPrepared(operation);
    expect(byPrepared).toEqual(byApollo);
    const { data, errors } = JSON.parse(byPrepared.body) as {
      data: { payments: unknown[] };
      errors: object[];
    };
    expect(data.payments.flatMap((found, place) => (found === null ? [place] : []))).toEqual([BAD]);
    expect(errors).toMatchObject([{ path: ['payments', BAD], extensions: { code } }]);
  });

  const [first = '', second = ''] = FAILING;
  const LOOKUP = `a: payment(channel: "${c}", transactionId: "${first}") { __typename }`;
  const listOf = (...ids: string[]): string =>
    `b: payments(channel: "${c}", transactionIds: ${JSON.stringify(ids)}) { __typename }`;

  test.each([
    ['two of several ids in a list', `{ ${listOf(first, FOUND.payment[0] ?? '', second, MISSING)} }`],
    ['one id in a lookup and a list', `{ ${LOOKUP} ${listOf(first)} }`],
    ['a lookup beside invalid arguments', `{ ${LOOKUP} d: node(id: "x") { __typename } }`],
    [
      'a lookup beside a list that is too long',
      `{ ${LOOKUP} ${listOf(...TEN.flatMap(() => [...TEN, second]))} }`,
    ],
  ])('is sent once, with the same errors by both paths: %s', async (_what, query) => {
    failing.service.respond(lookupReply);
    const byApollo = await failing.byApollo({ query });
    await failing.prepare({ query });
    const byPrepared = await failing.byPrepared({ query });
    expect(withSortedErrors(byPrepared)).toEqual(withSortedErrors(byApollo));
    // With one failing lookup the errors have the order of the fields.
    if (new Set(byPrepared.calls).size === 1) expect(byPrepared.body).toBe(byApollo.body);
    expect(new Set(byPrepared.calls).size).toBe(byPrepared.calls.length);
  });

  test('of the payment of an attempt, selected twice, is sent once, by each path', async () => {
    const id = FOUND.payment[0];
    failing.service.respond(() => ({ status: 201, json: { status: 'pending', transaction_id: id } }));
    await failing.send({ body: { query: CREATE, variables: { input: createInput('payment', 'key-1') } } });
    failing.service.respond(() => ({ status: 403, json: {} }));
    const effects = await failing.expectSame({
      query:
        '{ attempt(idempotencyKey: "key-1") { payment { __typename } again: payment { ... on Node { id } } } }',
    });
    expect(effects.calls).toHaveLength(1);
  });
});

test('The rate limit admits no more concurrent compiled operations than points are left', async () => {
  const limited = await DifferentialHarness.start({ RATE_LIMIT_PER_MINUTE: '44' });
  const query =
    'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
  const idsOf = (count: number) => ({ c: CHANNEL, ids: Array<string>(count).fill(MISSING) });
  await limited.prepare({ query, variables: idsOf(2) });
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => limited.client.request(query, idsOf(4))),
  );
  expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(10);
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]));
});

describe('Mutations', () => {
  const CREATES = ['createPayment', 'createPayout'] as const;
  const MUTATIONS = [...CREATES, 'confirmPayment'] as const;
  type Input = Record<string, unknown>;

  /** Responds to every transaction id with a payment that waits for its UTR, and to external ids with 404. */
  function transactionReply({ query }: ReceivedRequest): Reply {
    const [, id] = /transaction_id=([^&]*)/.exec(query) ?? [];
    const payment_method = { type: 'upi', state: 'waiting_for_utr' };
    if (!id) return { status: 404, json: {} };
    return { status: 200, json: { status: 'processing', transaction_id: id, payment_method } };
  }

  const byLedger = (request: ReceivedRequest): Reply =>
    request.method === 'POST' ? accepted(request) : transactionReply(request);

  const inputOf = (mutation: Mutation): { input: Input } =>
    mutation === 'confirmPayment'
      ? { input: { ...validCall(mutation, 'upi').input, transactionId: randomUUID() } }
      : { input: validCall(mutation, 'other').input };

  beforeAll(async () => {
    ways.service.respond(byLedger);
    for (const mutation of MUTATIONS)
      for (let count = 0; count < 2; count += 1)
        await ways.send({ body: { query: DOCUMENTS[mutation], variables: inputOf(mutation) } });
  });

  beforeEach(() => ways.service.respond(byLedger));

  /** Returns effects without keys, ids, lengths, lookups of earlier calls, and the random number of retries. */
  function comparable(effects: Effects, input: Input): unknown {
    const headers = effects.headers.filter(([name]) => !/content-length/i.test(name));
    const own = [input['idempotencyKey'], input['externalId']].map(String).filter((text) => text !== '');
    const calls = effects.calls.filter((call) => !/external_id=/.test(call) || call.includes(`=${own[1]} `));
    // On a busy machine, lookups for earlier creates may exceed their time limit.
    const log = effects.log.filter((line) => !('code' in line && line.code === 'DEADLINE'));
    const hidden = own.reduce(
      (text, value) => text.replaceAll(value, '(own)'),
      JSON.stringify({ ...effects, headers, log, calls: [...new Set(calls)] }),
    );
    return JSON.parse(
      hidden.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '(id)'),
    );
  }

  interface Case {
    mutation: Mutation;
    input?: (input: Input) => Input;
    reply?: (request: ReceivedRequest) => Reply;
    headers?: Record<string, string>;
  }

  type Row = [what: string, one: Case, expected: RegExp];

  const forbidden = (mutation: Mutation, how: string, client: string): Row => [
    `${mutation} ${how}`,
    { mutation, headers: keyed(client) },
    /FORBIDDEN/,
  ];

  async function expectSameCall({ mutation, input = (given) => given, reply, headers }: Case) {
    if (reply)
      ways.service.respond((request) =>
        request.method === 'POST' ? reply(request) : transactionReply(request),
      );
    const first = { input: input(inputOf(mutation).input) };
    const second = { input: input(inputOf(mutation).input) };
    const body = { query: DOCUMENTS[mutation] };
    const byApollo = await ways.sendToApollo({ headers, body: { ...body, variables: first } });
    const byPrepared = await ways.byPrepared({ ...body, variables: second }, headers);
    expect(comparable(byPrepared, second.input)).toEqual(comparable(byApollo, first.input));
    return byPrepared;
  }

  const posts = (calls: readonly string[]): string[] => calls.filter((call) => call.startsWith('POST'));

  const declined = ({ json }: ReceivedRequest): Reply => ({
    status: 201,
    json: {
      status: 'failed',
      transaction_id: json['id'] ?? randomUUID(),
      error: { code: 'DECLINED_GENERIC', message: 'No.' },
    },
  });
  const refused = (): Reply => ({ status: 400, json: { amount: ['Too much.'] } });
  const fault = (): Reply => ({ status: 500, json: {} });

  const replied = (mutation: Mutation, what: string, reply: Case['reply'], expected: RegExp): Row => [
    `${mutation} to which the service responds with ${what}`,
    { mutation, reply },
    expected,
  ];

  const CASES: Row[] = [
    ...MUTATIONS.map((mutation): Row => [mutation, { mutation }, /Pay(ment|out)Success/]),
    replied('createPayment', 'a decline', declined, /Success/),
    replied('createPayment', 'status 400', refused, /RejectedByServiceError/),
    replied('createPayment', 'status 500', fault, /OutcomeUnknownError/),
    replied('createPayment', 'status 401', () => ({ status: 401, json: {} }), /SERVICE_AUTH_FAILED/),
    replied('createPayout', 'status 500', fault, /OutcomeUnknownError/),
    replied('confirmPayment', 'status 400', refused, /RejectedByServiceError/),
    replied('confirmPayment', 'status 500', fault, /OutcomeUnknownError/),
    ...MUTATIONS.flatMap((mutation) => [
      forbidden(mutation, 'without the scope', 'reader'),
      forbidden(mutation, 'on another channel', 'elsewhere'),
    ]),
    ...CREATES.map((mutation): Row => {
      const input = (given: Input): Input => ({ ...given, externalId: '' });
      return [`${mutation} with invalid fields`, { mutation, input }, /InvalidInputError/];
    }),
  ];

  test.each(CASES)(
    '%s has the same result and one audit line by both paths',
    async (_what, one, expected) => {
      const { body, audit, calls } = await expectSameCall(one);
      expect(body).toMatch(expected);
      expect(audit).toHaveLength(1);
      const isSent = !/FORBIDDEN|InvalidInputError/.test(body);
      expect(posts(calls)).toHaveLength(isSent ? 1 : 0);
      if (!isSent) expect(calls).toEqual([]);
    },
  );

  test.each(MUTATIONS)(
    '%s is refused by both paths for a malformed input, which is not repeated',
    async (mutation) => {
      const secret = '4111 1111 1111 1111';
      for (const name of ['channel', 'amount', 'transactionId', 'nosuch']) {
        const input = { ...inputOf(mutation).input, [name]: secret };
        const body = { query: DOCUMENTS[mutation], variables: { input } };
        const byApollo = await ways.sendToApollo({ body });
        const { effects } = await ways.send({ body });
        expect(effects).toEqual(byApollo);
        expect(JSON.stringify(effects)).not.toContain(secret);
        expect(effects.calls).toEqual([]);
      }
    },
  );

  test('createPayment with a full card number requires cards:direct, and the number appears nowhere', async () => {
    const input = (given: Input): Input => ({
      ...given,
      amount: { currency: 'EUR', value: '10.00' },
      method: validCall('createPayment', 'card').input['method'],
    });
    const refusal = await expectSameCall({ mutation: 'createPayment', input, headers: keyed('no-cards') });
    expect(refusal.body).toContain('FORBIDDEN');
    const done = await expectSameCall({ mutation: 'createPayment', input });
    expect(done.body).toContain('PaymentSuccess');
    for (const { body, log, audit } of [refusal, done])
      expect(JSON.stringify({ body, log, audit })).not.toMatch(/4111111111111111|"737"/);
  });

  test.each(CREATES)('%s replays a repeated key, and refuses it with another input', async (mutation) => {
    const { input } = inputOf(mutation);
    const ask = (variables: object) => ways.byPrepared({ query: DOCUMENTS[mutation], variables });
    expect((await ask({ input })).body).toContain('"replayed":false');
    const again = await ask({ input });
    expect(again.body).toContain('"replayed":true');
    expect(posts(again.calls)).toEqual([]);
    const other = { ...input, amount: { currency: 'USD', value: '11.00' } };
    expect((await ask({ input: other })).body).toContain('IdempotencyConflictError');
  });

  test('are refused if an operation contains two of them', async () => {
    const query = `mutation Two($input: CreatePaymentInput!) {
      a: createPayment(input: $input) { __typename } b: createPayment(input: $input) { __typename } }`;
    const variables = { input: createInput('payment', newKey()) };
    for (let count = 0; count < 4; count += 1) {
      const { effects, isPrepared } = await ways.send({ body: { query, variables } });
      expect([isPrepared, effects.status, effects.calls, effects.audit]).toEqual([false, 400, [], []]);
    }
  });

  test('are executed only if operationName selects them, if their document contains several', async () => {
    const query = `mutation Pay($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }
      mutation Confirm($confirm: ConfirmPaymentInput!) { confirmPayment(input: $confirm) { __typename } }`;
    const ask = (operationName: string, variables: object) =>
      ways.send({ body: { query, variables, operationName } });
    for (let count = 0; count < 3; count += 1) {
      const pay = await ask('Pay', { input: createInput('payment', newKey()) });
      const confirm = await ask('Confirm', { confirm: inputOf('confirmPayment').input });
      expect([pay.isPrepared, confirm.isPrepared]).toEqual([count === 2, count === 2]);
      const paths = [pay, confirm].map(({ effects }) =>
        posts(effects.calls).map((call) => call.split(' ')[1]),
      );
      expect(paths).toEqual([['/api/v1/payment/'], ['/api/v1/payment/confirm/']]);
    }
  });

  test('are not executed by GET requests, even if compiled', async () => {
    const variables = JSON.stringify(inputOf('createPayment'));
    const search = `?${new URLSearchParams({ query: DOCUMENTS.createPayment, variables })}`;
    const headers = { 'apollo-require-preflight': '1', 'content-type': undefined };
    const { effects } = await ways.send({ method: 'GET', search, headers });
    expect([effects.status, effects.calls, effects.audit]).toEqual([405, [], []]);
  });
});
