import { randomUUID } from 'node:crypto';
import { isInputObjectType, getNamedType } from 'graphql';
import { encodeNodeId } from '../../src/schema/node';
import { gatewaySchema } from '../../src/resolvers';
import { clientKeysFile } from '../support/credentials';
import { testGateway, testSandbox, type TestClient } from '../support/gateway';
import { DOCUMENTS, redirectCall, unused, validCall, type Json } from '../gateway/fixtures/calls';
import { codesOf, comparable, expectForbidden } from './support/answers';
import { askRoot } from './support/ask-root';
import { OURS, THEIRS, accessRig, bearer, clear, clientOf, keyOf, type Rig } from './support/rig';
import { ROOT_CALLS, type RootCall } from './support/root-calls';

const CLIENTS = [
  clientOf('ours', { channels: [OURS] }),
  clientOf('theirs', { channels: [THEIRS] }),
  clientOf('both', { channels: [THEIRS, OURS] }),
  clientOf('all', { channels: ['*'] }),
  clientOf('none', { channels: [] }),
  clientOf('shouting', { channels: [OURS.toUpperCase()] }),
];

const nameOf = ({ field, about }: RootCall): string => (about ? `${field} ${about}` : field);

/** The root fields that name a channel, in an argument, in the input, or within an id. */
function fieldsWithChannel(): string[] {
  const schema = gatewaySchema();
  const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (root) => Object.values(root?.getFields() ?? {}),
  );
  const namesChannel = fields.filter(({ args }) =>
    args.some(({ name, type }) => {
      const named = getNamedType(type);
      return name === 'channel' || (isInputObjectType(named) && 'channel' in named.getFields());
    }),
  );
  return [...namesChannel.map(({ name }) => name), 'node'];
}

const CHANNEL_CALLS = ROOT_CALLS.filter(({ field }) => field !== 'attempt');

describe('Before a service that has everything', () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await accessRig({ clients: CLIENTS });
  });

  beforeEach(() => clear(rig));

  const ask = (id: string, call: RootCall, channel: string) =>
    askRoot(rig.client, call, channel, bearer(keyOf(id)));

  test('the table has every root field that names a channel', () => {
    expect([...new Set(CHANNEL_CALLS.map(({ field }) => field))].sort()).toEqual(fieldsWithChannel().sort());
  });

  describe.each(CHANNEL_CALLS.map((call) => [nameOf(call), call] as const))('%s', (_name, call) => {
    test.each([
      ['on its only channel', 'ours', OURS],
      ['on its only channel, written in capitals', 'ours', OURS.toUpperCase()],
      ['on a channel that its entry has in capitals', 'shouting', OURS],
      ['on one of two channels', 'both', OURS],
      ['on the other of two channels', 'both', THEIRS],
      ['on any channel, where all are granted', 'all', THEIRS],
    ])('is allowed %s', async (_where, id, channel) => {
      const { errors } = await ask(id, call, channel);
      expect(errors).toBeUndefined();
      const sent = rig.service.seen.map(({ query, body }) => query + body).join('\n');
      if (call.field !== 'attempts') expect(sent).not.toBe('');
      expect(sent).not.toContain(OURS.toUpperCase());
    });

    test.each([
      ["on another merchant's channel", 'ours', THEIRS],
      ["on another merchant's channel, written in capitals", 'ours', THEIRS.toUpperCase()],
      ['where no channel is granted', 'none', OURS],
      ['on a channel that nobody has', 'both', randomUUID()],
    ])('is refused %s', async (_where, id, channel) => {
      (await ask(id, call, channel)).expectForbidden();
      expect(rig.service.seen).toHaveLength(0);
    });
  });

  test('one operation may ask on both: what is refused leaves the rest as it is', async () => {
    const { data, errors } = await rig.client.ask(
      `query Q($ours: UUID!, $theirs: UUID!, $t: UUID!, $ourNode: ID!, $theirNode: ID!) {
        a: payment(channel: $ours, transactionId: $t) { __typename }
        b: payment(channel: $theirs, transactionId: $t) { __typename }
        c: payment(channel: $ours, transactionId: $t) { __typename }
        d: node(id: $ourNode) { __typename }
        e: node(id: $theirNode) { __typename } }`,
      {
        ours: OURS,
        theirs: THEIRS,
        t: THEIRS,
        ourNode: encodeNodeId({ kind: 'payment', channel: OURS, transactionId: THEIRS }),
        theirNode: encodeNodeId({ kind: 'payment', channel: THEIRS, transactionId: THEIRS }),
      },
      bearer(keyOf('ours')),
    );
    const found = { __typename: 'OtherPayment' };
    expect(data).toEqual({ a: found, b: null, c: found, d: found, e: null });
    expect(errors?.map(({ path }) => path)).toEqual(expect.arrayContaining([['b'], ['e']]));
    expect(codesOf({ errors } as never)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    expect(rig.service.seen.map(({ query }) => query)).toEqual([
      expect.stringContaining(OURS) as unknown as string,
    ]);
  });
});

/** What there is on the channel of another merchant. */
interface Belongings {
  payment: string;
  payout: string;
  paymentOrder: string;
  payoutOrder: string;
  key: string;
}

const invented = (): Belongings => ({
  payment: randomUUID(),
  payout: randomUUID(),
  paymentOrder: `order-${randomUUID()}`,
  payoutOrder: `order-${randomUUID()}`,
  key: `key-${randomUUID()}`,
});

/** A question about a belonging, on a channel. */
type Question = [
  name: string,
  field: string,
  document: string,
  variables: (belongings: Belongings, c: string) => object,
];

const BY_ID = (field: string): string =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { __typename } }`;
const BY_ORDER = (field: string): string =>
  `query Q($c: UUID!, $x: String!) { ${field}(channel: $c, externalId: $x) { __typename } }`;
const MANY = (field: string): string =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionIds: [$t]) { __typename } }`;
const NODE = 'query Q($id: ID!) { node(id: $id) { __typename } }';

const nodeOf = (kind: 'payment' | 'payout') => (belongings: Belongings, channel: string) => ({
  id: encodeNodeId({ kind, channel, transactionId: belongings[kind] }),
});

const LOOKUPS: Question[] = [
  ['payment', 'payment', BY_ID('payment'), ({ payment: t }, c) => ({ c, t })],
  ['payment by external id', 'payment', BY_ORDER('payment'), ({ paymentOrder: x }, c) => ({ c, x })],
  ['payments', 'payments', MANY('payments'), ({ payment: t }, c) => ({ c, t })],
  ['payout', 'payout', BY_ID('payout'), ({ payout: t }, c) => ({ c, t })],
  ['payout by external id', 'payout', BY_ORDER('payout'), ({ payoutOrder: x }, c) => ({ c, x })],
  ['payouts', 'payouts', MANY('payouts'), ({ payout: t }, c) => ({ c, t })],
  ['node of a payment', 'node', NODE, nodeOf('payment')],
  ['node of a payout', 'node', NODE, nodeOf('payout')],
];

const confirming = (arm: string): Question => {
  const { input } = validCall('confirmPayment', arm);
  const variables = ({ payment: transactionId }: Belongings, channel: string) => ({
    input: { ...input, transactionId, channel },
  });
  return [`confirmPayment by ${arm}`, 'confirmPayment', DOCUMENTS.confirmPayment, variables];
};

const creating = (
  field: 'createPayment' | 'createPayout',
  arm: string,
  same: (belongings: Belongings) => object,
): Question => [
  `${field} with the same ${Object.keys(same(invented())).join()}`,
  field,
  DOCUMENTS[field],
  (belongings, channel) => ({
    input: { ...validCall(field, arm).input, channel, ...same(belongings) },
  }),
];

const MUTATIONS: Question[] = [
  // The arm that fits their payment, and one that does not.
  confirming('upi'),
  confirming('dcb'),
  creating('createPayment', 'upi', ({ paymentOrder: externalId }) => ({ externalId })),
  creating('createPayment', 'upi', ({ key: idempotencyKey }) => ({ idempotencyKey })),
  creating('createPayout', 'jazzCash', ({ payoutOrder: externalId }) => ({ externalId })),
];

describe('Before a service with transactions of two merchants', () => {
  let client: TestClient;
  /** Another gateway before the same service: what it makes the first one's journal does not know. */
  let elsewhere: TestClient;

  beforeAll(async () => {
    const { url } = await testSandbox();
    const start = () => testGateway(url, { env: { CLIENT_KEYS_FILE: clientKeysFile(...CLIENTS) } });
    [client, elsewhere] = [await start(), await start()];
  });

  const askAs = (id: string, document: string, variables: object) =>
    client.ask<Record<string, unknown>>(document, variables, bearer(keyOf(id)));

  async function create(at: TestClient, mutation: 'createPayment' | 'createPayout', input: Json) {
    type Result = { payment?: { transactionId: string }; payout?: { transactionId: string } };
    const asked = await at.ask<Record<string, Result>>(
      DOCUMENTS[mutation],
      { input: { ...input, channel: THEIRS } },
      bearer(keyOf('theirs')),
    );
    const { payment, payout } = asked.data[mutation]!;
    return (payment ?? payout)!.transactionId;
  }

  async function theirBelongings(at: TestClient): Promise<Belongings> {
    const payment = validCall('createPayment', 'upi').input;
    const payout = validCall('createPayout', 'jazzCash').input;
    return {
      payment: await create(at, 'createPayment', payment),
      payout: await create(at, 'createPayout', payout),
      paymentOrder: String(payment['externalId']),
      payoutOrder: String(payout['externalId']),
      key: String(payment['idempotencyKey']),
    };
  }

  /** Asks for what exists over there, and for what does not: no difference may be seen. */
  async function withoutDifference([, , document, variables]: Question, their: Belongings, channel: string) {
    const ask = async (what: Belongings) => {
      const answer = await askAs('ours', document, variables(what, channel));
      return { answer, seen: comparable(answer, ...Object.values(what)) };
    };
    const [real, unreal] = [await ask(their), await ask(invented())];
    expect(real.seen).toEqual(unreal.seen);
    return real.answer;
  }

  const stateOf = async (transactionId: string): Promise<unknown> => {
    const document = `query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) {
      ... on UpiPayment { status state } } }`;
    return (await askAs('theirs', document, { c: THEIRS, t: transactionId })).data['payment'];
  };

  describe.each([
    ['through this gateway', () => client],
    ['through another gateway', () => elsewhere],
  ])('What another merchant created %s', (_where, at) => {
    let their: Belongings;

    beforeAll(async () => {
      their = await theirBelongings(at());
    });

    test.each(LOOKUPS)('is there for its owner: %s', async (_name, field, document, variables) => {
      const { data, errors } = await askAs('theirs', document, variables(their, THEIRS));
      expect(errors).toBeUndefined();
      expect([data[field]].flat()).toEqual([{ __typename: expect.any(String) as unknown }]);
    });

    test.each(LOOKUPS)('does not show on its own channel: %s', async (...question) => {
      expectForbidden(await withoutDifference(question, their, THEIRS), question[1]);
    });

    test.each(LOOKUPS)("does not show on the caller's channel: %s", async (...question) => {
      const { data, errors } = await withoutDifference(question, their, OURS);
      expect(errors).toBeUndefined();
      expect([data[question[1]]].flat()).toEqual([null]);
    });

    test.each(MUTATIONS)('does not show on its own channel: %s', async (...question) => {
      expectForbidden(await withoutDifference(question, their, THEIRS), question[1]);
    });

    test.each(MUTATIONS)("does not show on the caller's channel: %s", async (...question) => {
      await withoutDifference(question, their, OURS);
    });

    test("is not moved on by anybody's confirm on another channel", async () => {
      const payment = await create(at(), 'createPayment', validCall('createPayment', 'upi').input);
      const before = await stateOf(payment);
      expect(before).toEqual({ status: 'PROCESSING', state: 'WAITING_FOR_UTR' });
      const [, , document, variables] = confirming('upi');
      await askAs('ours', document, variables({ ...their, payment }, OURS));
      expect(await stateOf(payment)).toEqual(before);
    });
  });

  test('the attempt of another client is none, whichever channel it was made on', async () => {
    const their = await theirBelongings(client);
    const document = 'query Q($k: ID!) { attempt(idempotencyKey: $k) { channel externalId } }';
    const question: Question = ['attempt', 'attempt', document, ({ key: k }) => ({ k })];
    expect((await withoutDifference(question, their, THEIRS)).data).toEqual({ attempt: null });
    const owned = await askAs('theirs', document, { k: their.key });
    expect(owned.data).toEqual({ attempt: { channel: THEIRS, externalId: their.paymentOrder } });
  });

  test('a payment may be confirmed by who may act on its channel, whoever created it and where', async () => {
    const id = await create(elsewhere, 'createPayment', validCall('createPayment', 'upi').input);
    const { input } = validCall('confirmPayment', 'upi');
    const { data, errors } = await askAs('both', DOCUMENTS.confirmPayment, {
      input: { ...input, channel: THEIRS, transactionId: id },
    });
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({ confirmPayment: { __typename: 'PaymentSuccess' } });
  });
});

test('An attempt on a channel that its client has lost is no longer shown', async () => {
  const { client } = await accessRig({
    clients: [
      { ...clientOf('mover', { channels: [THEIRS, OURS] }), key: keyOf('before') },
      { ...clientOf('mover', { channels: [OURS] }), key: keyOf('after') },
    ],
  });
  const { idempotencyKey } = unused();
  const input = { ...redirectCall('CARD').input, idempotencyKey, channel: THEIRS };
  await client.ask(DOCUMENTS.createPayment, { input }, bearer(keyOf('before')));
  const document = 'query Q($k: ID!) { attempt(idempotencyKey: $k) { channel } }';
  const askAs = (key: string) => client.ask(document, { k: idempotencyKey }, bearer(keyOf(key)));
  expect((await askAs('before')).data).toEqual({ attempt: { channel: THEIRS } });
  expect((await askAs('after')).data).toEqual({ attempt: null });
});
