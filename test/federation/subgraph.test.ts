import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { DifferentialHarness } from '../compiled/support/differential';
import { FOUND, FAILING, MISSING, nodeId, lookupReply } from '../compiled/support/transactions';
import { expectForbidden, expectUnauthenticated } from '../auth/support/responses';
import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { clientKeysFile } from '../support/credentials';
import { testGateway, type TestClient, testService } from '../support/gateway';
import { type FakePaymentService } from '../support/payment-service/fake-payment-service';
import { sample, subgraphText } from './support';

const ENTITIES = `query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on PaymentResource { transactionId status }
    ... on PayoutResource { transactionId }
  }
}`;

let service: FakePaymentService;
let client: TestClient;
const logLines: string[] = [];

const start = (env: Record<string, string> = {}): Promise<TestClient> => {
  const CLIENT_KEYS_FILE = clientKeysFile(
    clientOf('payouts-only', { scopes: ['payouts:read'] }),
    clientOf('creates-only', { scopes: ['payments:create'] }),
  );
  const settings = { SUBGRAPH: 'on', INTROSPECTION: 'off', CLIENT_KEYS_FILE, ...env };
  return testGateway(service.url, { logLines, env: settings });
};

beforeAll(async () => {
  service = await testService(lookupReply);
  client = await start();
});

beforeEach(() => {
  service.requests.length = 0;
});

interface Entities {
  _entities: ({ __typename: string; transactionId?: string } | null)[];
}

const ask = (representations: unknown, headers?: Record<string, string>, by = client) =>
  by.request<Entities | null>(ENTITIES, { representations }, headers);

const ofPayment = (transactionId: string, __typename = 'PaymentResource') => ({
  __typename,
  id: nodeId('payment', transactionId),
});
const ofPayout = (id: string) => ({ __typename: 'PayoutResource', id: nodeId('payout', id) });
const [first = '', second = ''] = FOUND.payment;
const [payout = ''] = FOUND.payout;
const [failing = ''] = FAILING;

/** Returns path and code of each error. */
const faultsOf = ({ errors = [] }: Awaited<ReturnType<typeof ask>>) =>
  errors.map(({ path, extensions }) => [path?.join('.'), extensions['code']]);

const idsIn = ({ data }: Awaited<ReturnType<typeof ask>>) =>
  data?._entities.map((entity) => entity?.transactionId);

describe('The federation field _service', () => {
  const SERVICE = '{ _service { sdl } }';

  test('returns subgraph.graphql to every authenticated caller, even when introspection is off', async () => {
    const creator = bearer(keyOf('creates-only'));
    const { data } = await client.request<{ _service: { sdl: string } }>(SERVICE, {}, creator);
    // The SDL lists methods in the order of the module's exports, which the test compiler sorts.
    const wordsOf = (sdl: string): string[] => sdl.split(/\s+/).sort();
    expect(wordsOf(data._service.sdl)).toEqual(wordsOf(subgraphText()));
    expect((await client.request('{ __schema { queryType { name } } }')).status).toBe(400);
    expectUnauthenticated(await client.request(SERVICE, {}, {}));
  });

  test('is refused if an operation selects it three times, or gives its subfield sdl an alias', async () => {
    for (const query of [
      '{ a: _service { sdl } b: _service { sdl } c: _service { sdl } }',
      '{ _service { sdl text: sdl } }',
    ]) {
      const { status, errors } = await client.request(query);
      expect(status).toBe(400);
      expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_TOO_LARGE' } }]);
    }
  });

  test('exists, like _entities, only if SUBGRAPH is on', async () => {
    const off = await start({ SUBGRAPH: 'off' });
    for (const query of [SERVICE, '{ _entities(representations: []) { __typename } }']) {
      const { errors } = await off.request(query);
      expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
    }
  });
});

describe('The federation field _entities', () => {
  test('returns entities in the requested order, null for missing ones, with one lookup per id', async () => {
    const { data: known } = await ask([ofPayment(first)]);
    service.requests.length = 0;
    const request = [
      ofPayout(payout),
      ofPayment(MISSING),
      ofPayment(second),
      ofPayment(first, known?._entities[0]?.__typename),
      ofPayment(first),
    ];
    const response = await ask(request);
    expect(response.errors).toBeUndefined();
    expect(idsIn(response)).toEqual([payout, undefined, second, first, first]);
    expect(service.requests).toHaveLength(4);
  });

  test('returns null and one error with its path for an entity whose lookup fails', async () => {
    const response = await ask([ofPayment(first), ofPayment(failing), ofPayment(second)]);
    expect(idsIn(response)).toEqual([first, undefined, second]);
    expect(faultsOf(response)).toEqual([['_entities.1', 'SERVICE_AUTH_FAILED']]);
  });

  test('returns an error for each representation that is not an entity, without repeating its value', async () => {
    const id = nodeId('payment', first);
    const response = await ask([
      ofPayment(second),
      { __typename: 'Attempt', id },
      { __typename: 'PaymentResource', id: 'GARBAGE-4111111111111111' },
      { __typename: 'PaymentResource', id: { toString: 1, toJSON: 1 } },
      { __typename: 'PayoutResource', id },
      { __typename: 'HavalePayment', id },
    ]);
    expect(faultsOf(response)).toEqual([1, 2, 3, 4, 5].map((at) => [`_entities.${at}`, 'BAD_USER_INPUT']));
    expect(idsIn(response)?.[0]).toBe(second);
    expect(response.text + logLines.join('')).not.toMatch(/GARBAGE|4111111111111111|unexpected error/);
  });

  test('refuses a representation whose __typename is not a string, without repeating its value', async () => {
    for (const representation of [
      { id: 'CANARY-4111111111111111', pan: '4111111111111111' },
      { __typename: { CANARY: '4111111111111111' } },
      null,
    ]) {
      const response = await ask([ofPayment(first), representation]);
      expect(response.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(response.text + logLines.join('')).not.toMatch(/CANARY|4111111111111111/);
      expect(service.requests).toHaveLength(0);
    }
  });

  test('accepts a representation as a literal in the document', async () => {
    const literal = `[{ __typename: "PaymentResource", id: "${nodeId('payment', first)}" }]`;
    const { data } = await client.request<Entities>(
      `{ _entities(representations: ${literal}) { ... on PaymentResource { transactionId } } }`,
    );
    expect(data._entities).toEqual([{ transactionId: first }]);
  });

  test('refuses more than 100 representations, without lookups', async () => {
    const response = await ask(Array.from({ length: 101 }, () => ofPayment(first)));
    expect(faultsOf(response)).toEqual([['_entities', 'BAD_USER_INPUT']]);
    expect(service.requests).toHaveLength(0);
  });
});

describe('An _entities query', () => {
  test('returns the error FORBIDDEN for an entity that the caller has no scope to read', async () => {
    const response = await ask([ofPayment(first), ofPayout(payout)], bearer(keyOf('payouts-only')));
    expect(faultsOf(response)).toEqual([['_entities.0', 'FORBIDDEN']]);
    expect(idsIn(response)).toEqual([undefined, payout]);
    expectForbidden(await ask([ofPayment(first)], bearer(keyOf('creates-only'))), '_entities');
  });

  test('counts each representation as a lookup for the rate limit', async () => {
    const limited = await start({ RATE_LIMIT_PER_MINUTE: '10' });
    const six = Array.from({ length: 6 }, () => ofPayment(first));
    expect((await ask(six, undefined, limited)).errors).toBeUndefined();
    const response = await ask(six, undefined, limited);
    expect(response.status).toBe(429);
    expect(response.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
  });

  test('is refused if its aliases together cause too many lookups', async () => {
    const aliases = [...'abcdef'].map((name) => `${name}: _entities(representations: $r) { __typename }`);
    const r = Array.from({ length: 100 }, () => ofPayment(first));
    const { status, errors } = await client.request(`query Q($r: [_Any!]!) { ${aliases.join(' ')} }`, { r });
    expect(status).toBe(400);
    expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_TOO_LARGE' } }]);
    expect(service.requests).toHaveLength(0);
  });
});

describe('The composition of a supergraph with subgraph.graphql', () => {
  const composed = (orders: string) =>
    composeServices(
      Object.entries({ payments: subgraphText(), orders }).map(([name, text]) => ({
        name,
        url: `http://${name}.example`,
        typeDefs: parse(text),
      })),
    );

  const LINK =
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

  test('succeeds without hints for a subgraph that refers to payments by interface', () => {
    const { errors, hints, supergraphSdl } = composed(sample('orders.graphql'));
    expect({ errors, hints }).toEqual({ errors: undefined, hints: [] });
    // Routers do not know @oneOf.
    expect(subgraphText()).not.toContain('@oneOf');
    expect(supergraphSdl).toMatch(/type UpiPayment implements PaymentResource & Node[^}]*\border: Order\b/);
  });

  test('succeeds for a subgraph that declares every payment type', () => {
    const [, names = ''] = /^union Payment = (.*)$/m.exec(subgraphText()) ?? [];
    expect(names).toContain('OtherPayment');
    const types = names
      .split(' | ')
      .map((name) => `type ${name} @key(fields: "id", resolvable: false) { id: ID! }`);
    const { errors } = composed(
      `${LINK}\ntype Query { paid: Payment }\nunion Payment = ${names}\n${types.join('\n')}`,
    );
    expect(errors).toBeUndefined();
  });

  test('succeeds for a subgraph with its own Node and PageInfo types', () => {
    const { errors } = composed(`${LINK}
      type Query { customers: [Customer!]! page: PageInfo! }
      interface Node { id: ID! }
      type Customer implements Node @key(fields: "id") { id: ID! }
      type PageInfo @shareable { hasNextPage: Boolean! endCursor: String }`);
    expect(errors).toBeUndefined();
  });
});

describe('A compiled operation with _entities', () => {
  const PREPARED_ENTITIES = `query Entities__payments__1($representations: [_Any!]!) {
    _entities(representations: $representations) {
      ... on PaymentResource { __typename id status amount { currency value } nextAction { __typename } }
      ... on UpiPayment { upiLink state }
      ... on PayoutResource { id outcome: status error { code } }
    }
  }`;

  let prepared: DifferentialHarness;

  beforeAll(async () => {
    prepared = await DifferentialHarness.start({ SUBGRAPH: 'on' });
  });

  test.each([
    ['every payment', FOUND.payment.slice(0, 100).map((id) => ofPayment(id))],
    ['every payout', FOUND.payout.slice(0, 100).map((id) => ofPayout(id))],
    ['missing and existing payments', [MISSING, first, second].map((id) => ofPayment(id))],
    ['failing and existing payments', [...FAILING, first, second].map((id) => ofPayment(id))],
    ['a type that is not an entity', [{ __typename: 'Query', id: 'x' }]],
  ])('returns the same response as Apollo Server for %s', async (_about, representations) => {
    const { body } = await prepared.expectSame({ query: PREPARED_ENTITIES, variables: { representations } });
    expect(body).toContain('"_entities":[');
  });
});
