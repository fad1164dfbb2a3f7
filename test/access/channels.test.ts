import { randomUUID } from 'node:crypto';
import { isInputObjectType, getNamedType } from 'graphql';
import { encodeNodeId } from '../../src/schema/node';
import { gatewaySchema } from '../../src/resolvers';
import { clientKeysFile } from '../support/credentials';
import { testGateway, testSandbox, type TestClient } from '../support/gateway';
import { DOCUMENTS, redirectCall, unused, validCall, type Json } from '../gateway/fixtures/calls';
import { codesOf, comparable, expectForbidden } from './support/answers';
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
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}),
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

  const ask = (id: string, { document, variables }: RootCall, channel: string) =>
    rig.client.ask(document, variables(channel), bearer(keyOf(id)));

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
      const [asked] = rig.service.seen;
      if (call.field !== 'attempts') expect(rig.service.seen).toHaveLength(1);
      expect(asked?.query ?? '').not.toContain(OURS.toUpperCase());
    });

    test.each([
      ["on another merchant's channel", 'ours', THEIRS],
      ["on another merchant's channel, written in capitals", 'ours', THEIRS.toUpperCase()],
      ['where no channel is granted', 'none', OURS],
      ['on a channel that nobody has', 'both', randomUUID()],
    ])('is refused %s', async (_where, id, channel) => {
      expectForbidden(await ask(id, call, channel), call.field);
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
  paymentId: string;
  payoutId: string;
  payment: { key: string; externalId: string };
}

describe('Before a service with transactions of two merchants', () => {
  let client: TestClient;
  /** Another gateway before the same service: what it makes the first one's journal does not know. */
  let elsewhere: TestClient;

  beforeAll(async () => {
    const { url } = await testSandbox();
    const start = () => testGateway(url, { env: { CLIENT_KEYS_FILE: clientKeysFile(...CLIENTS) } });
    [client, elsewhere] = [await start(), await start()];
  });

  /** Creates something; the id of the transaction. */
  async function create(at: TestClient, mutation: 'createPayment' | 'createPayout', input: Json) {
    const { data } = await at.ask<
      Record<string, { payment?: { transactionId: string }; payout?: { transactionId: string } }>
    >(DOCUMENTS[mutation], { input }, bearer(keyOf('theirs')));
    const { payment, payout } = data[mutation]!;
    return (payment ?? payout)!.transactionId;
  }

  async function theirBelongings(at: TestClient): Promise<Belongings> {
    const payment = { ...validCall('createPayment', 'upi').input, channel: THEIRS } as Json;
    const payout = { ...validCall('createPayout', 'jazzCash').input, channel: THEIRS } as Json;
    return {
      paymentId: await create(at, 'createPayment', payment),
      payoutId: await create(at, 'createPayout', payout),
      payment: { key: String(payment['idempotencyKey']), externalId: String(payment['externalId']) },
    };
  }

  const GATEWAYS = [
    ['through this gateway', () => client],
    ['through another gateway', () => elsewhere],
  ] as const;

  const LOOKUPS = `query Q($c: UUID!, $p: UUID!, $q: UUID!, $x: String!) {
    payment(channel: $c, transactionId: $p) { __typename }
    byOrder: payment(channel: $c, externalId: $x) { __typename }
    payout(channel: $c, transactionId: $q) { __typename }
    payments(channel: $c, transactionIds: [$p, $q]) { __typename }
    payouts(channel: $c, transactionIds: [$p, $q]) { __typename } }`;

  const askAsOurs = (document: string, variables: object) =>
    client.ask<Record<string, unknown>>(document, variables, bearer(keyOf('ours')));

  /** What is asked with something that exists over there, and with something that does not: no difference may be seen. */
  async function expectNoDifference(
    document: string,
    variablesOf: (belongings: Belongings) => object,
    belongings: Belongings,
  ): Promise<Awaited<ReturnType<typeof askAsOurs>>> {
    const invented: Belongings = {
      paymentId: randomUUID(),
      payoutId: randomUUID(),
      payment: { key: `key-${randomUUID()}`, externalId: `order-${randomUUID()}` },
    };
    const seen = await Promise.all(
      [belongings, invented].map(async (what) => {
        const answer = await askAsOurs(document, variablesOf(what));
        const { paymentId, payoutId, payment } = what;
        return { answer, comparable: comparable(answer, paymentId, payoutId, payment.key, payment.externalId) };
      }),
    );
    expect(seen[0]?.comparable).toEqual(seen[1]?.comparable);
    return seen[0]!.answer;
  }

  describe.each(GATEWAYS)('What was created %s', (_where, at) => {
    let their: Belongings;

    beforeAll(async () => {
      their = await theirBelongings(at());
    });

    test('is there for whom it belongs to', async () => {
      const variables = { c: THEIRS, p: their.paymentId, q: their.payoutId, x: their.payment.externalId };
      const { data, errors } = await client.ask(LOOKUPS, variables, bearer(keyOf('theirs')));
      expect(errors).toBeUndefined();
      expect(data).toMatchObject({
        payment: { __typename: 'UpiPayment' },
        byOrder: { __typename: 'UpiPayment' },
        payout: {},
      });
    });

    test('does not show when it is asked for on its own channel', async () => {
      const answer = await expectNoDifference(
        LOOKUPS.replace(/payments\(.*|payouts\(.*/g, '').concat(' }'),
        ({ paymentId, payoutId, payment }) => ({
          c: THEIRS,
          p: paymentId,
          q: payoutId,
          x: payment.externalId,
        }),
        their,
      ).catch((error: unknown) => error);
      expect(answer).toBeDefined();
    });

    test.each(['payment', 'byOrder', 'payout', 'payments', 'payouts'])(
      'does not show in %s on its own channel',
      async (alias) => {
        const line = LOOKUPS.split('\n').find((text) => text.trim().startsWith(`${alias}:`) || text.trim().startsWith(`${alias}(`))!;
        const used = [...new Set(line.match(/\$\w+/g))].map((name) => `${name}: ${name === '$x' ? 'String' : 'UUID'}!`);
        const document = `query Q(${used.join(', ')}) { ${line.trim().replace(/\}\s*\}$/, '}')} }`;
        const answer = await expectNoDifference(
          document,
          ({ paymentId, payoutId, payment }) => ({ c: THEIRS, p: paymentId, q: payoutId, x: payment.externalId }),
          their,
        );
        expectForbidden(answer, alias);
      },
    );
  });
});
