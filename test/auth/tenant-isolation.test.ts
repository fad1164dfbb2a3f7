import { randomUUID } from 'node:crypto';
import { buildSubgraphSchema } from '../../src/resolvers';
import type { Kind } from '../support/caller';
import { DOCUMENTS, newIds, validCall, type Json, type MutationResult } from '../support/calls';
import { testGateway, clear, type LoggedGateway } from '../support/gateway';
import { Issuer } from '../support/issuer';
import { codesOf, comparable, expectForbidden } from './support/responses';
import {
  as,
  describeOwnership,
  outcomeOf,
  startIsolation,
  type Credentials,
  type IsolationHarness,
} from './support/isolation-harness';
import { OURS, THEIRS, startAuthHarness, clientOf } from './support/harness';
import {
  CALLS_OF_EXISTING,
  GATEWAY_CALLS,
  ROOT_CALLS,
  sendRootCall,
  byName,
  isSubscription,
  pathOf,
  rootFieldsOf,
  unusedNames,
  type Names,
} from './support/root-calls';

test('The tests of access control cover every root field of the schema', () => {
  const fields = rootFieldsOf(buildSubgraphSchema()).map(({ path }) => path);
  expect([...new Set(ROOT_CALLS.map(pathOf)), 'query _service'].sort()).toEqual(fields.sort());
});

describeOwnership('SQLite');

const FIELDS = '... on PaymentResource { transactionId externalId } ... on UpiPayment { upiLink }';
const LOOKUP = `query Q($c: UUID!, $t: UUID, $e: String) { payment(channel: $c, transactionId: $t, externalId: $e) { ${FIELDS} } }`;
const ATTEMPTS = `query Q($c: UUID!, $after: String) { attempts(channel: $c, first: 100, after: $after) {
  edges { node { idempotencyKey } } } }`;
const OWNER = as('user-1');
const OTHER = as('user-2');

interface Found {
  payment: { transactionId: string; externalId: string | null } | null;
}

let harness: IsolationHarness;
let order: Names;

beforeAll(async () => {
  harness = await startIsolation('SQLite');
  order = await harness.create('payment', OWNER, { externalId: 'Order-caf\u00e9-1001' });
});

const lookUp = (variables: object, client: Credentials) =>
  harness.client.request<Found>(LOOKUP, { c: OURS, ...variables }, client);

const confirm = (variant: string, client: Credentials, { channel, transactionId }: Names) =>
  harness.client.request(
    DOCUMENTS.confirmPayment,
    { input: { ...validCall('confirmPayment', variant).input, channel, transactionId } },
    client,
  );

async function keysOf(client: Credentials, after?: string): Promise<string[]> {
  type Page = { attempts: { edges: { node: { idempotencyKey: string } }[] } };
  const { data } = await harness.client.request<Page>(ATTEMPTS, { c: OURS, after }, client);
  return data.attempts.edges.map(({ node }) => node.idempotencyKey);
}

describe('A user with scopes for its own transactions (:own)', () => {
  test('finds its own payment by an external id that another user has used too', async () => {
    const { externalId: e } = order;
    const same = await harness.create('payment', OTHER, { externalId: e });
    const before = harness.service.requests.length;
    for (const [client, { transactionId }, foreign] of [
      [OTHER, same, order],
      [OWNER, order, same],
    ] as const) {
      const { data } = await lookUp({ e }, client);
      expect(data).toMatchObject({ payment: { transactionId, externalId: e } });
      expect((await lookUp({ t: foreign.transactionId, e }, client)).data).toEqual({ payment: null });
    }
    const lookups = harness.service.requests.slice(before);
    expect(lookups.map(({ parameters }) => parameters.get('external_id'))).toEqual([null, null]);
  });

  test('gets the payments of a list lookup in the requested order, with null for those of other users', async () => {
    const { transactionId } = await harness.create('payment', OTHER);
    const query = `query Q($c: UUID!, $t: [UUID!]!) { payments(channel: $c, transactionIds: $t) { ${FIELDS} } }`;
    const variables = { c: OURS, t: [transactionId, order.transactionId, transactionId] };
    const calls = await harness.countRequests(async () => {
      const { data } = await harness.client.request(query, variables, OTHER);
      const mine = expect.objectContaining({ transactionId }) as unknown;
      expect(data).toEqual({ payments: [mine, null, mine] });
    });
    expect(calls).toBe(1);
  });

  test('does not get the result of a concurrent lookup by the owner of a payment', async () => {
    const { transactionId: t } = order;
    const [mine, foreign] = await Promise.all([lookUp({ t }, OWNER), lookUp({ t }, OTHER)]);
    expect(mine.data.payment?.transactionId).toBe(t);
    expect(foreign.data).toEqual({ payment: null });
  });

  test('cannot confirm the payment of another user, and does not learn its method', async () => {
    const refusedBy = (rule: string) => ({
      confirmPayment: { __typename: 'InvalidInputError', fields: [{ rule }] },
    });
    expect((await confirm('dcb', OWNER, order)).data).toMatchObject(refusedBy('methodOfPayment'));
    expect((await confirm('dcb', OTHER, order)).data).toMatchObject(refusedBy('paymentOnChannel'));
  });

  test('is not the same caller as a user with the same subject of another issuer', async () => {
    const iss = 'https://login.other.example/';
    const issuer = await Issuer.start(harness.signingKey);
    const { store, keysFile } = harness;
    const env = { DATABASE_URL: store.url, CLIENT_KEYS_FILE: keysFile, ...issuer.settings, AUTH_ISSUER: iss };
    const client = await testGateway(harness.service.url, { env });
    const scope = 'payments:create payments:read:own';
    const subject = await harness.subject('ann', { scope });
    const namesake = await harness.subject('ann', { scope, iss });
    const { transactionId } = await harness.create('payment', subject);
    const variables = { c: OURS, t: transactionId };
    expect((await lookUp(variables, subject)).data.payment).toMatchObject({ transactionId });
    expect((await client.request(LOOKUP, variables, namesake)).data).toEqual({ payment: null });
    expect(codesOf(await client.request(LOOKUP, variables, subject))).toEqual(['UNAUTHENTICATED']);
  });

  test('sees all payments of its channels if it also has the scope payments:read', async () => {
    const both = await harness.subject('agent-2', { scope: 'payments:read payments:read:own' });
    expect((await lookUp({ t: order.transactionId }, both)).data.payment).not.toBeNull();
  });
});

const CHANNEL_CALLS = GATEWAY_CALLS.filter(({ field }) => field !== 'attempt');

describe('Access by channel:', () => {
  let open: LoggedGateway;

  beforeAll(async () => {
    open = await startAuthHarness({
      clients: [
        clientOf('ours', { channels: [OURS] }),
        clientOf('both', { channels: [OURS, THEIRS] }),
        clientOf('all', { channels: ['*'] }),
        clientOf('none', { channels: [] }),
        clientOf('capitals', { channels: [OURS.toUpperCase()] }),
      ],
    });
  });

  beforeEach(() => clear(open));

  describe.each(byName(CHANNEL_CALLS))('the call "%s"', (_name, call) => {
    const ask = (id: string, channel: string) =>
      sendRootCall(open.client, call, unusedNames(channel), as(id));

    test.each([
      ["on the caller's only channel", 'ours', OURS],
      ["on the caller's only channel, written in capital letters", 'ours', OURS.toUpperCase()],
      ['on a channel that CLIENT_KEYS_FILE has in capital letters', 'capitals', OURS],
      ["on the second of the caller's two channels", 'both', THEIRS],
      ['on any channel if the caller has the channel "*"', 'all', THEIRS],
    ])('is allowed %s', async (_where, id, channel) => {
      expect((await ask(id, channel)).errors).toBeUndefined();
      const sent = open.service.requests.map(({ query, body }) => query + body).join('\n');
      if (!/^(attempts|changes)$/.test(call.field)) expect(sent).not.toBe('');
      expect(sent).not.toContain(OURS.toUpperCase());
    });

    test.each([
      ["on another merchant's channel", 'ours', THEIRS],
      ["on another merchant's channel, written in capital letters", 'ours', THEIRS.toUpperCase()],
      ['if the caller has no channel', 'none', OURS],
      ['on an unknown channel', 'both', randomUUID()],
    ])('is refused %s', async (_where, id, channel) => {
      expectForbidden(await ask(id, channel), call.field);
      expect(open.service.requests).toHaveLength(0);
    });
  });

  test('an attempt on a channel that its client no longer has is not shown', async () => {
    const { idempotencyKey: k } = await harness.create('payment', as('shop-next'), { channel: THEIRS });
    const attemptAs = (id: string) =>
      harness.client.request('query Q($k: ID!) { attempt(idempotencyKey: $k) { channel } }', { k }, as(id));
    expect((await attemptAs('shop-next')).data).toEqual({ attempt: { channel: THEIRS } });
    expect((await attemptAs('shop')).data).toEqual({ attempt: null });
  });
});

describe('Isolation of channels:', () => {
  let their: Record<Kind, Names>;

  beforeAll(async () => {
    const create = (kind: Kind) => harness.create(kind, as('theirs'), { channel: THEIRS });
    their = { payment: await create('payment'), payout: await create('payout') };
  });

  test.each(byName(CALLS_OF_EXISTING))(
    `the call "%s" shows a transaction on another merchant's channel only to callers with that channel`,
    async (_name, call) => {
      const names = their[call.kind];
      const outcome = (id: string, of: Names) => outcomeOf(harness.client, call, of, as(id));
      expect((await outcome('theirs', names)).text).toContain(names.transactionId);
      const before = harness.service.requests.length;
      const refused = await outcome('ours', names);
      expect(refused.seen).toEqual((await outcome('ours', unusedNames(THEIRS))).seen);
      expect(refused.codes).toEqual(call.field === 'attempt' ? [] : ['FORBIDDEN']);
      expect(harness.service.requests).toHaveLength(before);
      const missing = await outcome('ours', { ...names, channel: OURS });
      expect(missing.seen).toEqual((await outcome('ours', unusedNames())).seen);
      expect(missing.codes).toEqual(isSubscription(call) ? ['NOT_FOUND'] : []);
      for (const { method, parameters } of harness.service.requests.slice(before))
        expect([method, parameters.get('channel')]).toEqual(['GET', OURS]);
    },
  );

  test.each<[Kind, 'externalId' | 'idempotencyKey']>([
    ['payment', 'idempotencyKey'],
    ['payout', 'externalId'],
  ])(
    "a transaction on another merchant's channel does not affect a create of a %s with the same %s",
    async (kind, name) => {
      const { mutation, input } =
        kind === 'payment' ? validCall('createPayment', 'upi') : validCall('createPayout', 'jazzCash');
      const createWith = (channel: string, same: Json) =>
        harness.client.request(
          DOCUMENTS[mutation],
          { input: { ...input, ...newIds(), ...same, channel } },
          as('ours'),
        );
      for (const channel of [OURS, THEIRS]) {
        const real = await createWith(channel, { [name]: their[kind][name] });
        expect(comparable(real)).toEqual(comparable(await createWith(channel, {})));
        expect(codesOf(real)).toEqual(channel === THEIRS ? ['FORBIDDEN'] : []);
      }
    },
  );
});

describe('A caller', () => {
  const CALLERS: Record<string, () => Credentials | Promise<Credentials>> = {
    'client shop': () => as('shop'),
    'client kiosk': () => as('kiosk'),
    'subject shop': () => harness.subject('shop'),
    'subject service:shop': () => harness.subject('service:shop'),
    'subject kiosk': () => harness.subject('kiosk'),
  };

  async function createAs(name: string, more: Json = {}): Promise<MutationResult> {
    const input = { ...validCall('createPayment', 'upi').input, channel: OURS, ...more };
    const { data } = await harness.client.request<{ createPayment: MutationResult }>(
      DOCUMENTS.createPayment,
      { input },
      await CALLERS[name]!(),
    );
    return data.createPayment;
  }

  test('shares no idempotency key with other callers: its repeated create returns its own payment', async () => {
    const same = { ...newIds(), externalId: undefined };
    const ofEach = async (replayed: boolean): Promise<unknown[]> => {
      const made = [];
      for (const name of Object.keys(CALLERS)) {
        const result = await createAs(name, same);
        expect(result).toMatchObject({ __typename: 'PaymentSuccess', replayed });
        made.push(result.payment?.transactionId);
      }
      return made;
    };
    const created = await ofEach(false);
    expect(new Set(created).size).toBe(created.length);
    expect(await ofEach(true)).toEqual(created);
  });

  test('sees only its own attempts, whatever cursor it sends', async () => {
    const keys = new Map(Object.keys(CALLERS).map((name) => [name, newIds().idempotencyKey]));
    for (const [name, idempotencyKey] of keys) await createAs(name, { idempotencyKey });
    const beforeAll = Buffer.from('attempt:999999999999999:999999999').toString('base64url');
    for (const [name, own] of keys) {
      const headers = await CALLERS[name]!();
      for (const seen of [await keysOf(headers), await keysOf(headers, beforeAll)])
        expect([...keys.values()].filter((key) => seen.includes(key))).toEqual([own]);
    }
  });

  test('stays the same with another key of the same client, or another token of the same subject', async () => {
    const [first, second] = [newIds(), newIds()];
    await createAs('client shop', first);
    expect(await keysOf(as('shop-next'))).toContain(first.idempotencyKey);
    await createAs('subject kiosk', second);
    const later = await harness.subject('kiosk', { jti: 'another', scope: 'payments:read' });
    expect(await keysOf(later)).toContain(second.idempotencyKey);
    expect(await keysOf(as('kiosk'))).not.toContain(second.idempotencyKey);
  });
});
