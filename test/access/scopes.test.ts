import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';
import { guardRootFields } from '../../src/resolvers/root-fields';
import { ALL_SCOPES, OWN_SCOPES } from '../support/credentials';
import { DOCUMENTS, redirectCall, validCall, type MoneyCall } from '../gateway/fixtures/calls';
import { askRoot } from './support/ask-root';
import { OURS, accessRig, bearer, clear, clientOf, keyOf, type Rig } from './support/rig';
import { ROOT_CALLS, type RootCall } from './support/root-calls';

/** A client for every scope, with no other. */
const SCOPES = [...ALL_SCOPES, ...OWN_SCOPES];
const SINGLE = SCOPES.map((scope) => clientOf(scope.replaceAll(':', '-'), { scopes: [scope] }));
const EVERYTHING_BUT_CARDS = ALL_SCOPES.filter((scope) => scope !== 'cards:direct');

let rig: Rig;

beforeAll(async () => {
  rig = await accessRig({
    clients: [
      ...SINGLE,
      clientOf('nothing', { scopes: [] }),
      clientOf('no-cards', { scopes: EVERYTHING_BUT_CARDS }),
      clientOf('payment-cards', { scopes: ['payments:create', 'cards:direct'] }),
      clientOf('payout-cards', { scopes: ['payouts:create', 'cards:direct'] }),
    ],
  });
});

beforeEach(() => clear(rig));

const ask = (id: string, call: RootCall) => askRoot(rig.client, call, OURS, bearer(keyOf(id)));

async function expectAllowed(id: string, call: RootCall): Promise<void> {
  const { errors, data } = await ask(id, call);
  expect(errors).toBeUndefined();
  if (call.field === 'attempt') expect(data).toEqual({ attempt: null });
  else if (call.field === 'attempts') expect(data).toEqual({ attempts: { edges: [] } });
  else expect(rig.service.seen).toHaveLength(1);
}

/** It may ask, and what it asks for does not exist for it: it has created nothing. */
async function expectNothingThere(id: string, call: RootCall): Promise<void> {
  const { errors = [] } = await ask(id, call);
  expect(errors.map(({ extensions }) => extensions['code'])).toEqual(
    call.field.endsWith('Updated') ? ['NOT_FOUND'] : [],
  );
  expect(rig.service.seen).toHaveLength(0);
}

async function expectRefused(id: string, call: RootCall): Promise<void> {
  (await ask(id, call)).expectForbidden();
  expect(rig.service.seen).toHaveLength(0);
}

const nameOf = ({ field, about }: RootCall): string => (about ? `${field} ${about}` : field);

const rootFieldsOf = (schema: GraphQLSchema) =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}),
  );

describe('The scopes of the root fields', () => {
  test('stand in the table of this test for every root field of the schema', () => {
    const fields = rootFieldsOf(gatewaySchema()).map(({ name }) => name);
    expect([...new Set(ROOT_CALLS.map(({ field }) => field))].sort()).toEqual(fields.sort());
  });

  test('are told in the description of each', () => {
    for (const { name, description } of rootFieldsOf(gatewaySchema())) {
      const scopes = new Set(ROOT_CALLS.filter(({ field }) => field === name).flatMap(({ anyOf }) => anyOf));
      for (const scope of scopes) expect(description).toContain(scope);
    }
  });

  const KINDS = ['query', 'mutation', 'subscription'] as const;

  test.each(KINDS)('have to be named: a %s without one does not build', (kind) => {
    const root = new GraphQLObjectType({ name: 'Root', fields: { open: { type: GraphQLString } } });
    expect(() => guardRootFields(new GraphQLSchema({ [kind]: root }))).toThrow(/root field open/);
  });

  test.each(KINDS)('have to be at least one: a %s with an empty list does not build', (kind) => {
    const open = { type: GraphQLString, extensions: { scopes: [] } };
    const root = new GraphQLObjectType({ name: 'Root', fields: { open } });
    expect(() => guardRootFields(new GraphQLSchema({ [kind]: root }))).toThrow(/root field open/);
  });
});

describe.each(ROOT_CALLS.map((call) => [nameOf(call), call] as const))('%s', (_name, call) => {
  const grants = (scope: string): boolean => !call.also && call.anyOf.includes(scope);
  const clientFor = (scope: string): string => scope.replaceAll(':', '-');

  test.each(OWN_SCOPES)('with the scope %s alone', async (scope) => {
    await (grants(scope) ? expectNothingThere : expectRefused)(clientFor(scope), call);
  });

  test.each(ALL_SCOPES)('with the scope %s alone', async (scope) => {
    await (grants(scope) ? expectAllowed : expectRefused)(clientFor(scope), call);
  });

  test('without any scope is refused', () => expectRefused('nothing', call));
});

describe('Full card numbers', () => {
  const CARDS: [string, string, RootCall][] = ROOT_CALLS.filter(({ also }) => also).map((call) => [
    call.field,
    call.field === 'createPayment' ? 'payment-cards' : 'payout-cards',
    call,
  ]);

  test('are what two calls of the table hold', () => expect(CARDS).toHaveLength(2));

  test.each(CARDS)(
    'in %s are taken from a client with cards:direct beside the other scope',
    (_field, id, call) => expectAllowed(id, call),
  );

  test.each(CARDS)('in %s are refused from one that has every scope but cards:direct', (_field, _id, call) =>
    expectRefused('no-cards', call),
  );

  test('leave no trace where they are refused', async () => {
    for (const [, , call] of CARDS) {
      const { errors } = await ask('no-cards', call);
      expect(JSON.stringify(errors) + rig.logLines.join('')).not.toContain('4111111111111111');
    }
  });

  const OTHERS: [string, () => MoneyCall][] = [
    ['a redirect to a page for cards', () => redirectCall('CARD')],
    ['UPI', () => validCall('createPayment', 'upi')],
    ['a transfer from card to card', () => validCall('createPayment', 'c2c')],
    ['a custom method', () => validCall('createPayment', 'other')],
    ['a payout to a bank', () => validCall('createPayout', 'bankTransfer')],
    ['a payout by a custom method', () => validCall('createPayout', 'other')],
  ];

  test.each(OTHERS)('are not in %s, which needs no cards:direct', async (_what, make) => {
    const { mutation, input } = make();
    const { errors } = await rig.client.ask(DOCUMENTS[mutation], { input }, bearer(keyOf('no-cards')));
    expect(errors).toBeUndefined();
    expect(rig.service.seen).toHaveLength(1);
  });

  const HIDDEN: [string, MoneyCall['mutation'], object][] = [
    ['as the type of a custom payout', 'createPayout', { other: { type: 'card', fields: { token: 'x' } } }],
    ['in capitals', 'createPayout', { other: { type: 'CARD', fields: { token: 'x' } } }],
    [
      'beside the type of a custom payout',
      'createPayout',
      { other: { type: 'x', fields: { type: 'card' } } },
    ],
    ['beside the type of a custom payment', 'createPayment', { other: { fields: { type: 'card' } } }],
    ['as a field of a custom payment', 'createPayment', { other: { fields: { pan: '4111111111111111' } } }],
    [
      'deep in a custom payment',
      'createPayment',
      { other: { fields: { a: { b: ['4111 1111 1111 1111'] } } } },
    ],
    ['as a number', 'createPayout', { other: { type: 'x', fields: { number: 4111111111111111 } } }],
    ['in the mask of a card', 'createPayment', { c2c: { firstName: 'Ann', cardMask: '4111111111111111' } }],
  ];

  test.each(HIDDEN)('do not get through %s', async (_how, mutation, method) => {
    const arm = mutation === 'createPayment' ? 'upi' : 'bankTransfer';
    const input = { ...validCall(mutation, arm).input, method };
    const { data } = await rig.client.ask<Record<string, { __typename: string }>>(
      DOCUMENTS[mutation],
      { input },
      bearer(keyOf('no-cards')),
    );
    expect(data[mutation]?.__typename).toBe('InvalidInputError');
    expect(rig.service.seen).toHaveLength(0);
  });

  test('beside another method are no way around: one method is given', async () => {
    const card = validCall('createPayment', 'card').input['method'] as object;
    const input = { ...redirectCall('CARD').input, method: { ...card, redirect: 'CARD' } };
    const { errors } = await rig.client.ask(DOCUMENTS.createPayment, { input }, bearer(keyOf('no-cards')));
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(rig.service.seen).toHaveLength(0);
  });
});

describe('The record of creates', () => {
  const READERS: [string[], ('payment' | 'payout')[]][] = [
    [['payments:read'], ['payment']],
    [['payouts:read'], ['payout']],
    [['payments:read:own'], ['payment']],
    [['payouts:read:own'], ['payout']],
    [['payments:create'], ['payment']],
    [['payouts:create'], ['payout']],
    [
      ['payments:read', 'payouts:create'],
      ['payment', 'payout'],
    ],
    [ALL_SCOPES, ['payment', 'payout']],
  ];

  test.each(READERS)('shows to a client with %s what is %s', async (scopes, kinds) => {
    // Two keys of one id are one client: here its rights change between writing and reading.
    const { client } = await accessRig({
      clients: [
        { ...clientOf('reader', {}), key: keyOf('writes') },
        { ...clientOf('reader', { scopes }), key: keyOf('reads') },
      ],
    });
    const keys = { payment: '', payout: '' };
    for (const [kind, mutation, arm] of [
      ['payment', 'createPayment', 'upi'],
      ['payout', 'createPayout', 'jazzCash'],
    ] as const) {
      const { input } = validCall(mutation, arm);
      keys[kind] = String(input['idempotencyKey']);
      const { errors } = await client.ask(
        DOCUMENTS[mutation],
        { input: { ...input, channel: OURS } },
        bearer(keyOf('writes')),
      );
      expect(errors).toBeUndefined();
    }
    const asReader = bearer(keyOf('reads'));
    const seen = (kind: 'payment' | 'payout'): boolean => kinds.includes(kind);
    for (const kind of ['payment', 'payout'] as const) {
      const one = await client.ask(
        'query Q($k: ID!) { attempt(idempotencyKey: $k) { idempotencyKey } }',
        { k: keys[kind] },
        asReader,
      );
      expect(one.errors).toBeUndefined();
      expect(one.data).toEqual({ attempt: seen(kind) ? { idempotencyKey: keys[kind] } : null });
    }
    const all = await client.ask<{ attempts: { edges: { node: { idempotencyKey: string } }[] } }>(
      'query Q($c: UUID!) { attempts(channel: $c) { edges { node { idempotencyKey } } } }',
      { c: OURS },
      asReader,
    );
    expect(all.data.attempts.edges.map(({ node }) => node.idempotencyKey).sort()).toEqual(
      (['payment', 'payout'] as const)
        .filter(seen)
        .map((kind) => keys[kind])
        .sort(),
    );
  });
});
