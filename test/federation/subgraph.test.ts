import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FOUND, FAILING, MISSING, nodeId, tellTransaction } from '../prepared/support/transactions';
import { DOCUMENTS, redirectCall } from '../gateway/fixtures/calls';
import { expectForbidden, expectUnauthenticated } from '../access/support/answers';
import { bearer, clientOf, keyOf, OURS } from '../access/support/rig';
import { clientKeysFile } from '../support/credentials';
import { testGateway, type TestClient } from '../support/gateway';
import { scriptedService, type ScriptedService } from '../support/scripted-service';
import { subgraphText } from './support/samples';

const CLIENTS = [
  clientOf('payouts-only', { scopes: ['payouts:read'] }),
  clientOf('payments-only', { scopes: ['payments:read'] }),
  clientOf('creates-only', { scopes: ['payments:create'] }),
  clientOf('elsewhere', { channels: [OURS] }),
];

const ENTITIES = `query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on PaymentResource { transactionId status }
    ... on PayoutResource { transactionId }
  }
}`;

let service: ScriptedService;
let client: TestClient;
const logLines: string[] = [];

const start = (env: Record<string, string> = {}): Promise<TestClient> =>
  testGateway(service.url, {
    logLines,
    env: { SUBGRAPH: 'on', INTROSPECTION: 'off', CLIENT_KEYS_FILE: clientKeysFile(...CLIENTS), ...env },
  });

beforeAll(async () => {
  service = await scriptedService(tellTransaction);
  client = await start();
});

beforeEach(() => {
  service.seen.length = 0;
});

interface Entity {
  __typename: string;
  transactionId?: string;
}

interface Entities {
  _entities: (Entity | null)[];
}

const ask = (representations: unknown, headers?: Record<string, string>, by = client) =>
  by.ask<Entities | null>(ENTITIES, { representations }, headers);

const ofPayment = (transactionId: string, __typename = 'PaymentResource') => ({
  __typename,
  id: nodeId('payment', transactionId),
});
const ofPayout = (transactionId: string, __typename = 'PayoutResource') => ({
  __typename,
  id: nodeId('payout', transactionId),
});
const [first = '', second = ''] = FOUND.payment;
const [payout = ''] = FOUND.payout;
const [failing = ''] = FAILING;

/** Which error stands at which place. */
const faultsOf = ({ errors = [] }: Awaited<ReturnType<typeof ask>>) =>
  errors.map(({ path, extensions }) => [path?.join('.'), extensions['code']]);

describe('_service', () => {
  const SERVICE = '{ _service { sdl } }';

  test('is what subgraph.graphql holds, though introspection is off', async () => {
    const { data } = await client.ask(SERVICE);
    expect(data).toEqual({ _service: { sdl: subgraphText() } });
    expect((await client.ask('{ __schema { queryType { name } } }')).status).toBe(400);
  });

  test('is for every caller that proves who it is, whatever its scopes, and for nobody else', async () => {
    const { data } = await client.ask(SERVICE, {}, bearer(keyOf('creates-only')));
    expect(data).toMatchObject({ _service: { sdl: expect.any(String) } });
    expectUnauthenticated(await client.ask(SERVICE, {}, {}));
  });

  test('is not there unless SUBGRAPH is on', async () => {
    const off = await start({ SUBGRAPH: 'off' });
    for (const query of [SERVICE, '{ _entities(representations: []) { __typename } }']) {
      const { status, errors } = await off.ask(query);
      expect(status).toBe(400);
      expect(errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });
});

describe('_entities', () => {
  test('answers in the order asked, by interface and by type, null where the service has nothing', async () => {
    const { data: known } = await ask([ofPayment(first)]);
    const typename = known?._entities[0]?.__typename ?? '';
    const { data, errors } = await ask([
      ofPayout(payout),
      ofPayment(MISSING),
      ofPayment(second),
      ofPayment(first, typename),
    ]);
    expect(errors).toBeUndefined();
    expect(data?._entities.map((entity) => entity?.transactionId)).toEqual([
      payout,
      undefined,
      second,
      first,
    ]);
  });

  test('looks each distinct transaction up once', async () => {
    await ask([ofPayment(first), ofPayment(second), ofPayment(first), ofPayment(first)]);
    expect(service.seen).toHaveLength(2);
  });

  test('one that fails is one null and one error with its path', async () => {
    const answer = await ask([ofPayment(first), ofPayment(failing), ofPayment(second)]);
    expect(answer.data?._entities.map((entity) => entity?.transactionId)).toEqual([first, undefined, second]);
    expect(faultsOf(answer)).toEqual([['_entities.1', 'SERVICE_AUTH_FAILED']]);
  });

  test.each([
    ['a type that is no entity', { __typename: 'Attempt', id: nodeId('payment', first) }],
    ['an interface that has no key', { __typename: 'Node', id: nodeId('payment', first) }],
    ['a type of no name', { __typename: 'constructor', id: nodeId('payment', first) }],
    ['an id that is garbage', { __typename: 'PaymentResource', id: 'GARBAGE-4111111111111111' }],
    ['an id that is an object', { __typename: 'PaymentResource', id: { toString: 1, toJSON: 1 } }],
    ['no id', { __typename: 'PaymentResource' }],
    ['a payment as a payout', { __typename: 'PayoutResource', id: nodeId('payment', first) }],
    ['a payment of another method', { __typename: 'HavalePayment', id: nodeId('payment', first) }],
  ])('%s is an error of that one, and is not quoted', async (_about, representation) => {
    const answer = await ask([ofPayment(second), representation]);
    expect(faultsOf(answer)).toEqual([['_entities.1', 'BAD_USER_INPUT']]);
    expect(answer.data?._entities).toEqual([expect.objectContaining({ transactionId: second }), null]);
    expect(answer.text + logLines.join('')).not.toMatch(/GARBAGE|4111111111111111|unexpected error/);
  });

  test.each([
    ['no object', 'CANARY-4111111111111111'],
    ['an object without __typename', { id: 'CANARY-4111111111111111', pan: '4111111111111111' }],
    ['an object with another __typename', { __typename: { CANARY: '4111111111111111' } }],
    ['null', null],
  ])('a representation that is %s does not fit, and is not quoted', async (_about, representation) => {
    const answer = await ask([ofPayment(first), representation]);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(answer.text + logLines.join('')).not.toMatch(/CANARY|4111111111111111/);
    expect(service.seen).toHaveLength(0);
  });

  test('a representation in the document is read as one in a variable is', async () => {
    const { __typename, id } = ofPayment(first);
    const literal = ENTITIES.replace('($representations: [_Any!]!)', '').replace(
      '$representations',
      `[{ __typename: "${__typename}", id: "${id}" }]`,
    );
    const { data } = await client.ask<Entities>(literal);
    expect(data._entities).toMatchObject([{ transactionId: first }]);
    const bad = await client.ask(literal.replace('__typename: ', 'kind: ').replace(id, 'CANARY'));
    expect(bad.errors).toMatchObject([
      { extensions: { code: expect.stringMatching(/BAD_USER_INPUT|INVALID|FAILED/) } },
    ]);
    expect(bad.text).not.toContain('CANARY');
  });

  test('more than 100 are refused, and nothing is looked up', async () => {
    const answer = await ask(Array.from({ length: 101 }, () => ofPayment(first)));
    expect(faultsOf(answer)).toEqual([['_entities', 'BAD_USER_INPUT']]);
    expect(service.seen).toHaveLength(0);
  });
});

describe('what the gateway promises holds for entities', () => {
  test('scopes: an entity of the other kind is refused beside the own', async () => {
    const answer = await ask([ofPayment(first), ofPayout(payout)], bearer(keyOf('payouts-only')));
    expect(faultsOf(answer)).toEqual([['_entities.0', 'FORBIDDEN']]);
    expect(answer.data?._entities).toEqual([null, expect.objectContaining({ transactionId: payout })]);
    expectForbidden(await ask([ofPayment(first)], bearer(keyOf('creates-only'))), '_entities');
  });

  test("channels: another merchant's transaction is refused, whether it is there or not", async () => {
    const representations = [ofPayment(first), ofPayment(MISSING), ofPayout(payout)];
    const answer = await ask(representations, bearer(keyOf('elsewhere')));
    expect(faultsOf(answer)).toEqual([0, 1, 2].map((place) => [`_entities.${place}`, 'FORBIDDEN']));
    expect(service.seen).toHaveLength(0);
  });

  test('rate limit: every representation counts as a lookup', async () => {
    const limited = await start({ RATE_LIMIT_PER_MINUTE: '10' });
    const six = Array.from({ length: 6 }, () => ofPayment(first));
    expect((await ask(six, undefined, limited)).errors).toBeUndefined();
    const answer = await ask(six, undefined, limited);
    expect({ status: answer.status, code: answer.errors?.[0]?.extensions['code'] }).toEqual({
      status: 429,
      code: 'RATE_LIMITED',
    });
  });

  test('cost: what all aliases of an operation look up is bounded', async () => {
    const aliased = Array.from(
      { length: 6 },
      (_, place) => `e${place}: _entities(representations: $r) { __typename }`,
    );
    const r = Array.from({ length: 100 }, () => ofPayment(first));
    const { status, errors } = await client.ask(`query Q($r: [_Any!]!) { ${aliased.join(' ')} }`, { r });
    expect({ status, code: errors?.[0]?.extensions['code'] }).toEqual({
      status: 400,
      code: 'OPERATION_TOO_LARGE',
    });
    expect(service.seen).toHaveLength(0);
  });

  test('persisted operations: who is bound to a manifest asks no entities that are not in it', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'paygraph-manifest-')), 'manifest.json');
    const operation = { id: 'entities', name: 'Entities', type: 'query', body: ENTITIES };
    const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations: [operation] };
    writeFileSync(file, JSON.stringify(manifest));
    const bound = await start({ PERSISTED_OPERATIONS: file, PERSISTED_OPERATIONS_SERVICES: 'require' });
    expect((await ask([ofPayment(first)], undefined, bound)).data?._entities).toHaveLength(1);
    const { errors } = await bound.ask('{ _service { sdl } }');
    expect(errors).toMatchObject([{ extensions: { code: 'PERSISTED_OPERATION_REQUIRED' } }]);
  });

  test('inputs: two arms of a @oneOf input and a card number in the document are refused as ever', async () => {
    const { input } = redirectCall('CARD');
    const both = { ...input, method: { redirect: 'CARD', upi: { email: 'ann@example.com' } } };
    const { errors } = await client.ask(DOCUMENTS.createPayment, { input: both });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    const literal =
      'pan: "4111111111111111", expiryMonth: "12", expiryYear: "2099", cvc: "737", cardholder: "A"';
    const answer = await client.ask(
      `mutation { createPayment(input: { idempotencyKey: "k", channel: "${OURS}", amount: { currency: "EUR", value: "1.00" }, method: { card: { ${literal} } } }) { __typename } }`,
    );
    expect(answer.status).toBe(400);
    expect(answer.text).not.toMatch(/4111111111111111|737/);
    expect(service.seen).toHaveLength(0);
  });
});
