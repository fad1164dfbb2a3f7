import { readFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import { clear, type LoggedGateway } from '../support/gateway';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { guardRootFields } from '../../src/resolvers/root-fields';
import { ALL_SCOPES, OWN_SCOPES } from '../support/credentials';
import { DOCUMENTS, validCall } from '../support/calls';
import type { Kind } from '../support/caller';
import { codesOf, expectForbidden } from './support/responses';
import { OURS, startAuthHarness, bearer, clientOf, keyOf } from './support/harness';
import { GATEWAY_CALLS, sendRootCall, byName, unusedNames, type RootCall } from './support/root-calls';

const SCOPES = [...ALL_SCOPES, ...OWN_SCOPES];
const EVERYTHING_BUT_CARDS = ALL_SCOPES.filter((scope) => scope !== 'cards:direct');
const PAYMENT_CARDS = ['payments:create', 'cards:direct'];
const PAYOUT_CARDS = ['payouts:create', 'cards:direct'];

/** Scopes of a client key, and the kinds of attempts that the client sees. */
const ATTEMPT_READERS: [string[], Kind[]][] = [
  [['payouts:read'], ['payout']],
  [['payments:read:own'], ['payment']],
  [
    ['payments:read', 'payouts:create'],
    ['payment', 'payout'],
  ],
];

/** Returns the key of a client that has exactly these scopes. */
const keyWith = (id: string, scopes: readonly string[]): string => keyOf(`${id}-${scopes.join()}`);
const clientWith = (id: string, scopes: string[]) => ({ id, scopes, key: keyWith(id, scopes) });

const AUDIT_LOG_FILE = path.join(temporaryFolder(), 'audit.log');
let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startAuthHarness({
    env: { AUDIT_LOG_FILE },
    clients: [
      ...[[], ...SCOPES.map((scope) => [scope]), EVERYTHING_BUT_CARDS, PAYMENT_CARDS, PAYOUT_CARDS].map(
        (scopes) => clientWith('shop', scopes),
      ),
      ...ATTEMPT_READERS.map(([scopes]) => clientWith('reader', scopes)),
      clientOf('reader', {}),
    ],
  });
});

beforeEach(() => clear(harness));

const ask = (scopes: string[], call: RootCall) =>
  sendRootCall(harness.client, call, unusedNames(), bearer(keyWith('shop', scopes)));

async function expectAllowed(scopes: string[], call: RootCall): Promise<void> {
  const { errors, data } = await ask(scopes, call);
  expect(errors).toBeUndefined();
  if (call.field === 'attempt') expect(data).toEqual({ attempt: null });
  else if (call.field === 'attempts') expect(data).toEqual({ attempts: { edges: [] } });
  else if (call.field === 'changes') expect(harness.service.requests).toHaveLength(0);
  else expect(harness.service.requests).toHaveLength(1);
}

/** Expects that the scope is sufficient, and that nothing is found, because the caller created no transaction. */
async function expectNothingFound(scopes: string[], call: RootCall): Promise<void> {
  const { errors = [] } = await ask(scopes, call);
  expect(codesOf({ errors })).toEqual(call.field.endsWith('Updated') ? ['NOT_FOUND'] : []);
  expect(harness.service.requests).toHaveLength(0);
}

async function expectRefused(scopes: string[], call: RootCall): Promise<void> {
  expectForbidden(await ask(scopes, call), call.field);
  expect(harness.service.requests).toHaveLength(0);
}

test.each(['query', 'mutation', 'subscription'])(
  'The gateway refuses a schema in which the root field of a %s declares no scope',
  (kind) => {
    for (const extensions of [undefined, { scopes: [] }]) {
      const open = { type: GraphQLString, extensions };
      const root = new GraphQLObjectType({ name: 'Root', fields: { open } });
      expect(() => guardRootFields(new GraphQLSchema({ [kind]: root }))).toThrow(/root field open/);
    }
  },
);

describe.each(byName(GATEWAY_CALLS))('The call "%s"', (_name, call) => {
  const isGranted = (scope: string): boolean => !call.also && call.anyOf.includes(scope);
  test.each(SCOPES.map((scope) => [isGranted(scope) ? 'allowed' : 'refused', scope] as const))(
    'is %s for a caller with only the scope %s',
    async (_outcome, scope) => {
      const expectGranted = OWN_SCOPES.includes(scope) ? expectNothingFound : expectAllowed;
      await (isGranted(scope) ? expectGranted : expectRefused)([scope], call);
    },
  );

  test('is refused for a caller without any scope', () => expectRefused([], call));
});

describe('Full card numbers', () => {
  test.each([
    ['createPayment', PAYMENT_CARDS],
    ['createPayout', PAYOUT_CARDS],
  ])('in the input of %s also require the scope cards:direct', async (field, scopes) => {
    const call = GATEWAY_CALLS.find((each) => each.field === field && each.also)!;
    await expectAllowed(scopes, call);
    harness.service.requests.length = 0;
    await expectRefused(EVERYTHING_BUT_CARDS, call);
    expect(harness.logLines.join('')).not.toContain('4111111111111111');
  });

  test('do not reach the audit log: if cards:direct is missing, the entry has no idempotency key', async () => {
    const { input } = validCall('createPayment', 'card');
    for (const idempotencyKey of ['4111x1111x1111x1111', '123']) {
      const refused = await harness.client.request(
        DOCUMENTS.createPayment,
        { input: { ...input, idempotencyKey } },
        bearer(keyWith('shop', EVERYTHING_BUT_CARDS)),
      );
      expect(codesOf(refused)).toEqual(['FORBIDDEN']);
      const line = readFileSync(AUDIT_LOG_FILE, 'utf8').trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(line)).toMatchObject({ outcome: 'FORBIDDEN', key: null });
    }
  });
});

describe('A client', () => {
  const keys = { payment: '', payout: '' };

  beforeAll(async () => {
    for (const [kind, { mutation, input }] of [
      ['payment', validCall('createPayment', 'upi')],
      ['payout', validCall('createPayout', 'jazzCash')],
    ] as const) {
      const variables = { input: { ...input, channel: OURS } };
      await harness.client.request(DOCUMENTS[mutation], variables, bearer(keyOf('reader')));
      keys[kind] = String(input['idempotencyKey']);
    }
  });

  test.each(ATTEMPT_READERS)(
    'with the scopes %s sees only its attempts of kind %s',
    async (scopes, kinds) => {
      const { data } = await harness.client.request(
        `query Q($c: UUID!, $payment: ID!, $payout: ID!) {
        payment: attempt(idempotencyKey: $payment) { channel }
        payout: attempt(idempotencyKey: $payout) { channel }
        attempts(channel: $c) { edges { node { idempotencyKey } } } }`,
        { c: OURS, ...keys },
        bearer(keyWith('reader', scopes)),
      );
      const seen = (kind: Kind) => (kinds.includes(kind) ? { channel: OURS } : null);
      // The newest attempt, the payout, comes first.
      const edges = kinds.map((kind) => ({ node: { idempotencyKey: keys[kind] } })).reverse();
      expect(data).toEqual({ payment: seen('payment'), payout: seen('payout'), attempts: { edges } });
    },
  );
});
