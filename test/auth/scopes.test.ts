import { readFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import { clear, type LoggedGateway } from '../support/gateway';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';
import { guardRootFields } from '../../src/resolvers/root-fields';
import { ALL_SCOPES, OWN_SCOPES } from '../support/credentials';
import { DOCUMENTS, redirectCall, validCall, type MutationCall } from '../support/calls';
import { OURS, startAuthHarness, bearer, clientOf, keyOf } from './support/harness';
import {
  GATEWAY_CALLS,
  pathOf,
  rootFieldsOf,
  sendRootCall,
  byName,
  unusedNames,
  type RootCall,
} from './support/root-calls';

const SCOPES = [...ALL_SCOPES, ...OWN_SCOPES];
const SINGLE = SCOPES.map((scope) => clientOf(`only-${scope.replaceAll(':', '-')}`, { scopes: [scope] }));
const EVERYTHING_BUT_CARDS = ALL_SCOPES.filter((scope) => scope !== 'cards:direct');

/** Scopes of a client key, and the kinds of attempts that the client sees. */
const ATTEMPT_READERS: [string[], ('payment' | 'payout')[]][] = [
  [['payouts:read'], ['payout']],
  [['payments:read:own'], ['payment']],
  [['payouts:create'], ['payout']],
  [
    ['payments:read', 'payouts:create'],
    ['payment', 'payout'],
  ],
];

const readerKey = (scopes: readonly string[]): string => keyOf(scopes.join('-').replaceAll(':', '-'));

const AUDIT_LOG_FILE = path.join(temporaryFolder(), 'audit.log');
let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startAuthHarness({
    env: { AUDIT_LOG_FILE },
    clients: [
      ...SINGLE,
      ...ATTEMPT_READERS.map(([scopes]) => ({ ...clientOf('reader', { scopes }), key: readerKey(scopes) })),
      clientOf('reader', {}),
      clientOf('nothing', { scopes: [] }),
      clientOf('no-cards', { scopes: EVERYTHING_BUT_CARDS }),
      clientOf('payment-cards', { scopes: ['payments:create', 'cards:direct'] }),
      clientOf('payout-cards', { scopes: ['payouts:create', 'cards:direct'] }),
    ],
  });
});

beforeEach(() => clear(harness));

const ask = (id: string, call: RootCall) =>
  sendRootCall(harness.client, call, unusedNames(), bearer(keyOf(id)));

async function expectAllowed(id: string, call: RootCall): Promise<void> {
  const { errors, data } = await ask(id, call);
  expect(errors).toBeUndefined();
  if (call.field === 'attempt') expect(data).toEqual({ attempt: null });
  else if (call.field === 'attempts') expect(data).toEqual({ attempts: { edges: [] } });
  else if (call.field === 'changes') expect(harness.service.requests).toHaveLength(0);
  else expect(harness.service.requests).toHaveLength(1);
}

/** Expects that the scope is sufficient, and that nothing is found, because the caller created no transaction. */
async function expectNothingFound(id: string, call: RootCall): Promise<void> {
  const { errors = [] } = await ask(id, call);
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(
    call.field.endsWith('Updated') ? ['NOT_FOUND'] : [],
  );
  expect(harness.service.requests).toHaveLength(0);
}

async function expectRefused(id: string, call: RootCall): Promise<void> {
  (await ask(id, call)).expectForbidden();
  expect(harness.service.requests).toHaveLength(0);
}

describe('The scopes of the root fields', () => {
  test('are in the description of each field', () => {
    for (const { path, description } of rootFieldsOf(gatewaySchema())) {
      const scopes = new Set(
        GATEWAY_CALLS.filter((call) => pathOf(call) === path).flatMap(({ anyOf }) => anyOf),
      );
      for (const scope of scopes) expect(description).toContain(scope);
    }
  });

  const KINDS = ['query', 'mutation', 'subscription'] as const;

  test.each(KINDS)('are required: the gateway refuses a schema with a %s that has none', (kind) => {
    for (const extensions of [undefined, { scopes: [] }]) {
      const open = { type: GraphQLString, extensions };
      const root = new GraphQLObjectType({ name: 'Root', fields: { open } });
      expect(() => guardRootFields(new GraphQLSchema({ [kind]: root }))).toThrow(/root field open/);
    }
  });
});

describe.each(byName(GATEWAY_CALLS))('%s', (_name, call) => {
  const grants = (scope: string): boolean => !call.also && call.anyOf.includes(scope);
  const clientFor = (scope: string): string => `only-${scope.replaceAll(':', '-')}`;

  test.each(SCOPES)(
    'with only the scope %s is allowed if that scope is declared for it, otherwise refused',
    async (scope) => {
      const expectGranted = OWN_SCOPES.includes(scope) ? expectNothingFound : expectAllowed;
      await (grants(scope) ? expectGranted : expectRefused)(clientFor(scope), call);
    },
  );

  test('is refused without any scope', () => expectRefused('nothing', call));
});

describe('Full card numbers', () => {
  const CARDS: [string, string, RootCall][] = GATEWAY_CALLS.filter(({ also }) => also).map((call) => [
    call.field,
    call.field === 'createPayment' ? 'payment-cards' : 'payout-cards',
    call,
  ]);

  test('can be sent in two of the tested calls', () => expect(CARDS).toHaveLength(2));

  test.each(CARDS)('in %s require cards:direct in addition to the other scope', async (_field, id, call) => {
    await expectAllowed(id, call);
    harness.service.requests.length = 0;
    await expectRefused('no-cards', call);
    expect(harness.logLines.join('')).not.toContain('4111111111111111');
  });

  test('are not in the audit line of a refused create, whose key may repeat them', async () => {
    const { input } = validCall('createPayment', 'card');
    for (const idempotencyKey of ['4111x1111x1111x1111', '123']) {
      const refused = await createAs('createPayment', { ...input, idempotencyKey });
      expect(refused.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
      const line = readFileSync(AUDIT_LOG_FILE, 'utf8').trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(line)).toMatchObject({ outcome: 'FORBIDDEN', key: null });
    }
  });

  const createAs = async (mutation: MutationCall['mutation'], input: object) =>
    harness.client.request<Record<string, { __typename: string }>>(
      DOCUMENTS[mutation],
      { input },
      bearer(keyOf('no-cards')),
    );

  test.each([
    ['a redirect to a page for cards', () => redirectCall('CARD')],
    ['a transfer from card to card', () => validCall('createPayment', 'c2c')],
    ['a custom method', () => validCall('createPayment', 'other')],
  ])('are not in %s, which is accepted without cards:direct', async (_what, make) => {
    const { mutation, input } = make();
    expect((await createAs(mutation, input)).errors).toBeUndefined();
    expect(harness.service.requests).toHaveLength(1);
  });
});

describe('The attempts of a client', () => {
  const keys = { payment: '', payout: '' };

  beforeAll(async () => {
    for (const { mutation, input } of [
      validCall('createPayment', 'upi'),
      validCall('createPayout', 'jazzCash'),
    ]) {
      const variables = { input: { ...input, channel: OURS } };
      const { errors } = await harness.client.request(
        DOCUMENTS[mutation],
        variables,
        bearer(keyOf('reader')),
      );
      expect(errors).toBeUndefined();
      keys[mutation === 'createPayment' ? 'payment' : 'payout'] = String(input['idempotencyKey']);
    }
  });

  test.each(ATTEMPT_READERS)('with the scopes %s are shown if their kind is %s', async (scopes, kinds) => {
    const { data } = await harness.client.request<{
      payment: object | null;
      payout: object | null;
      attempts: { edges: { node: { idempotencyKey: string } }[] };
    }>(
      `query Q($c: UUID!, $payment: ID!, $payout: ID!) {
        payment: attempt(idempotencyKey: $payment) { channel }
        payout: attempt(idempotencyKey: $payout) { channel }
        attempts(channel: $c) { edges { node { idempotencyKey } } } }`,
      { c: OURS, ...keys },
      bearer(readerKey(scopes)),
    );
    for (const kind of ['payment', 'payout'] as const)
      expect(data[kind]).toEqual(kinds.includes(kind) ? { channel: OURS } : null);
    expect(data.attempts.edges.map(({ node }) => node.idempotencyKey).sort()).toEqual(
      kinds.map((kind) => keys[kind]).sort(),
    );
  });
});
