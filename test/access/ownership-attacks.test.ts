import { encodeNodeId } from '../../src/schema/node';
import { DOCUMENTS, validCall } from '../gateway/fixtures/calls';
import { decodeQuery } from '../gateway/fixtures/strict-service';
import { OUTAGES } from '../exactly-once/support/outage';
import { noPostgres } from '../journal/support/stores';
import { WireClient, toldIn } from '../live/support/wire-client';
import { testGateway } from '../support/gateway';
import { Issuer } from './support/issuer';
import { CANARY, OwnershipRig, type Names } from './support/ownership-rig';
import { OURS, THEIRS, bearer, keyOf } from './support/rig';
import { codesOf } from './support/answers';

type Headers = { authorization: string };

let rig: OwnershipRig;
let owner: Headers;
let other: Headers;
let order: Names;

beforeAll(async () => {
  rig = await OwnershipRig.start('SQLite');
  owner = await rig.user('user-1');
  other = await rig.user('user-2');
  order = await rig.create('payment', owner, { externalId: 'Order-caf\u00e9-1001' });
});

const FIELDS = '... on PaymentResource { transactionId externalId } ... on UpiPayment { upiLink }';
const BY_ORDER = `query Q($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { ${FIELDS} } }`;
const BY_BOTH = `query Q($c: UUID!, $t: UUID, $e: String) { payment(channel: $c, transactionId: $t, externalId: $e) { ${FIELDS} } }`;

interface Found {
  payment: { transactionId: string; externalId: string | null } | null;
}

const lookUp = (variables: object, as: Headers, document = BY_BOTH) =>
  rig.client.ask<Found>(document, { c: OURS, ...variables }, as);

/** What was asked of the service, since a moment. */
const lookupsSince = (place: number) => rig.service.seen.slice(place).map(({ query }) => decodeQuery(query));

describe('Another user', () => {
  const SPELLINGS: [string, (names: Names) => object][] = [
    ['the external id', ({ externalId: e }) => ({ e })],
    ['the external id in capitals', ({ externalId }) => ({ e: externalId.toUpperCase() })],
    ['the external id in another form of Unicode', ({ externalId }) => ({ e: externalId.normalize('NFD') })],
    ['the external id as a pattern', () => ({ e: 'Order-%' })],
    ['the transaction id in capitals', ({ transactionId }) => ({ t: transactionId.toUpperCase() })],
    ['both ids', ({ transactionId: t, externalId: e }) => ({ t, e })],
  ];

  test.each(SPELLINGS)('finds nothing by %s', async (_how, variables) => {
    const calls = await rig.callsOf(async () => {
      expect((await lookUp(variables(order), other)).data).toEqual({ payment: null });
    });
    expect(calls).toBe(0);
  });

  test('who used the same external id finds its own payment, and so does the first', async () => {
    const same = await rig.create('payment', other, { externalId: order.externalId });
    const place = rig.service.seen.length;
    const { externalId } = order;
    for (const [as, { transactionId }] of [
      [other, same],
      [owner, order],
    ] as const) {
      const { data } = await lookUp({ e: externalId }, as, BY_ORDER);
      expect(data).toMatchObject({ payment: { transactionId, externalId } });
    }
    expect(lookupsSince(place).map((asked) => asked['external_id'])).toEqual([undefined, undefined]);
    // And the ids of two payments are those of none.
    for (const as of [owner, other]) {
      const mixed = as === owner ? same : order;
      expect((await lookUp({ t: mixed.transactionId, e: externalId }, as)).data).toEqual({ payment: null });
    }
  });

  test('gets its own alone from an operation of many aliases, fragments and lists', async () => {
    const own = await rig.create('payment', other);
    const document = `query Q($c: UUID!, $mine: UUID!, $foreign: UUID!, $e: String, $id: ID!) {
      a: payment(channel: $c, transactionId: $mine) { ${FIELDS} }
      b: payment(channel: $c, transactionId: $foreign) { ${FIELDS} }
      ...More
      ... on Query @include(if: true) { d: node(id: $id) { ${FIELDS} } }
    }
    fragment More on Query {
      c: payments(channel: $c, transactionIds: [$mine, $foreign, $mine]) { ${FIELDS} }
      e: payment(channel: $c, externalId: $e) { __typename }
    }`;
    const variables = {
      c: OURS,
      mine: own.transactionId,
      foreign: order.transactionId,
      e: 'order-of-nobody',
      id: encodeNodeId({ ...order, channel: OURS }),
    };
    const calls = await rig.callsOf(async () => {
      const { data, errors } = await rig.client.ask(document, variables, other);
      expect(errors).toBeUndefined();
      const mine = expect.objectContaining({ transactionId: own.transactionId });
      expect(data).toEqual({ a: mine, b: null, c: [mine, null, mine], d: null, e: null });
    });
    expect(calls).toBe(1);
  });

  test('makes node ids by hand in vain', async () => {
    const id = encodeNodeId({ ...order, channel: OURS });
    const ids = [id, encodeNodeId({ ...order, kind: 'payout', channel: OURS }), `${id}=`, id.toLowerCase()];
    for (const written of ids) {
      const { text, data } = await rig.client.ask(`{ node(id: "${written}") { ${FIELDS} } }`, {}, other);
      expect(text).not.toContain(CANARY);
      expect(data).toEqual({ node: null });
    }
    const elsewhere = encodeNodeId({ ...order, channel: THEIRS });
    const { errors } = await rig.client.ask(`{ node(id: "${elsewhere}") { id } }`, {}, owner);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });

  test("with the owner's idempotency key makes a payment of its own, and replays none", async () => {
    const { idempotencyKey, externalId } = order;
    const made = await rig.create('payment', other, { idempotencyKey, externalId });
    expect(made.transactionId).not.toBe(order.transactionId);
    const again = await rig.create('payment', owner, { idempotencyKey, externalId });
    expect(again.transactionId).toBe(order.transactionId);
  });

  test("lists with the owner's cursor nothing but its own attempts", async () => {
    const ATTEMPTS = `query Q($c: UUID!, $after: String) {
      attempts(channel: $c, after: $after) { edges { cursor node { externalId } } } }`;
    interface List {
      attempts: { edges: { cursor: string; node: { externalId: string } }[] };
    }
    const later = await rig.create('payment', owner);
    const { data } = await rig.client.ask<List>(ATTEMPTS, { c: OURS }, owner);
    const [newest] = data.attempts.edges;
    expect(newest?.node.externalId).toBe(later.externalId);
    const { data: seen } = await rig.client.ask<List>(ATTEMPTS, { c: OURS, after: newest?.cursor }, other);
    const mine = await rig.client.ask<List>(ATTEMPTS, { c: OURS }, other);
    expect(seen).toEqual(mine.data);
    expect(JSON.stringify(seen)).not.toContain(later.externalId);
  });

  test('learns nothing while the owner looks it up, or watches it', async () => {
    const { transactionId: t } = order;
    const [mine, foreign] = await Promise.all([lookUp({ t }, owner), lookUp({ t }, other)]);
    expect(mine.data.payment?.transactionId).toBe(t);
    expect(foreign.data).toEqual({ payment: null });

    const query =
      'subscription S($c: UUID!, $t: UUID!) { paymentUpdated(channel: $c, transactionId: $t) { __typename } }';
    const [watching, late] = await Promise.all(
      [owner, other].map((as) => WireClient.ready(rig.client.url, as)),
    );
    watching?.subscribe('a', { query, variables: { c: OURS, t } });
    await expect(watching?.next()).resolves.toMatchObject({ type: 'next' });
    late?.subscribe('b', { query, variables: { c: OURS, t } });
    const refused = await late?.next();
    expect(refused && toldIn(refused)).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });

  test('does not confirm it, and does not learn of its method', async () => {
    const { input } = validCall('confirmPayment', 'dcb');
    const confirm = (as: Headers) =>
      rig.client.ask(
        DOCUMENTS.confirmPayment,
        { input: { ...input, channel: OURS, transactionId: order.transactionId } },
        as,
      );
    const rules = (field: string) => ({
      confirmPayment: { __typename: 'InvalidInputError', fields: [{ rule: field }] },
    });
    expect((await confirm(owner)).data).toMatchObject(rules('methodOfPayment'));
    expect((await confirm(other)).data).toMatchObject(rules('paymentOnChannel'));
  });

  test('whose token another issuer made is not the owner, though its subject is the same', async () => {
    const issuer = 'https://login.other.example/';
    const elsewhere = await Issuer.start(rig.key);
    const client = await testGateway(rig.service.url, {
      env: {
        DATABASE_URL: rig.store.url,
        CLIENT_KEYS_FILE: rig.keysFile,
        ...elsewhere.settings,
        AUTH_ISSUER: issuer,
      },
    });
    const { transactionId: t } = order;
    const namesake = await rig.user('user-1', undefined, { iss: issuer });
    const seen = await client.ask(BY_BOTH, { c: OURS, t }, namesake);
    expect(seen.data).toEqual({ payment: null });
    expect(codesOf(await client.ask(BY_BOTH, { c: OURS, t }, owner))).toEqual(['UNAUTHENTICATED']);
  });
});

describe('The scopes', () => {
  test('of the full kind count where both are there', async () => {
    const both = await rig.user('user-3', 'payments:read payments:read:own');
    const { data } = await lookUp({ t: order.transactionId }, both);
    expect(data.payment?.transactionId).toBe(order.transactionId);
  });

  test('for reading do not let a caller confirm, and those for confirming do not let it read', async () => {
    const reader = await rig.user('user-1', 'payments:read:own');
    const { input } = validCall('confirmPayment', 'upi');
    const confirmed = await rig.client.ask(DOCUMENTS.confirmPayment, { input }, reader);
    expect(codesOf(confirmed)).toEqual(['FORBIDDEN']);
    expect(confirmed.errors?.[0]?.message).toContain('payments:confirm or payments:confirm:own');
    const confirmer = await rig.user('user-1', 'payments:confirm:own payouts:read:own');
    const seen = await lookUp({ t: order.transactionId }, confirmer);
    expect(codesOf(seen)).toEqual(['FORBIDDEN']);
  });

  test('in other spellings are none', async () => {
    for (const scope of ['payments:read:OWN', 'payments:read:', 'payments:read:own:', 'payments:*']) {
      const seen = await lookUp({ t: order.transactionId }, await rig.user('user-1', scope));
      expect(codesOf(seen)).toEqual(['FORBIDDEN']);
    }
  });
});

test('a list of 100 costs one query of the journal and no call for what is not there', async () => {
  const queries = async (): Promise<number> => {
    const page = await (await fetch(`${rig.client.gateway.url}/metrics`)).text();
    const [, count = '0'] = /_count\{[^}]*findCreated[^}]*\} (\d+)/.exec(page) ?? [];
    return Number(count);
  };
  const foreign = Array.from({ length: 98 }, () => order.transactionId).concat(await ids(2));
  const before = await queries();
  const calls = await rig.callsOf(() =>
    rig.client.ask(
      `query Q($c: UUID!, $t: [UUID!]!) { payments(channel: $c, transactionIds: $t) { __typename } }`,
      { c: OURS, t: foreign },
      other,
    ),
  );
  expect(calls).toBe(2);
  expect((await queries()) - before).toBe(1);
});

async function ids(count: number): Promise<string[]> {
  const made = Array.from({ length: count }, () => rig.create('payment', other));
  return (await Promise.all(made)).map(({ transactionId }) => transactionId);
}

(noPostgres ? test.skip : test)(
  'without the journal nobody is shown anything, and the service is not asked',
  async () => {
    const apart = await OwnershipRig.start('PostgreSQL');
    const outage = await OUTAGES.PostgreSQL['the database refuses connections'](apart.store);
    const client = await testGateway(apart.service.url, {
      env: { DATABASE_URL: outage.store.url, CLIENT_KEYS_FILE: apart.keysFile, ...apart.issuer.settings },
    });
    const shop = bearer(keyOf('shop'));
    const made = await apart.create('payment', shop);
    const asked = { c: OURS, t: made.transactionId };
    expect((await client.ask(BY_BOTH, asked, shop)).data).toMatchObject({ payment: {} });
    await outage.down();
    try {
      const calls = await apart.callsOf(async () => {
        const { errors, data } = await client.ask(BY_BOTH, asked, shop);
        expect(data).toEqual({ payment: null });
        expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } }]);
        const { input } = validCall('confirmPayment', 'upi');
        const confirmed = await client.ask(
          DOCUMENTS.confirmPayment,
          { input: { ...input, channel: OURS, transactionId: made.transactionId } },
          shop,
        );
        expect(codesOf(confirmed)).toEqual(['SERVICE_UNAVAILABLE']);
      });
      expect(calls).toBe(0);
    } finally {
      await outage.up();
      await client.gateway.close();
      await outage.close();
    }
  },
);
