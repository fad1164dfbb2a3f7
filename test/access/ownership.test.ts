import { subgraphSchema } from '../../src/resolvers';
import { PreparedOperations } from '../../src/http/prepared/prepared-operations';
import { noPostgres } from '../journal/support/stores';
import { EventStream } from '../live/support/event-stream';
import { WireClient, toldIn, words } from '../live/support/wire-client';
import { AUTHORIZED } from '../support/credentials';
import type { GraphqlAnswer } from '../support/gateway';
import { comparable } from './support/answers';
import { CANARY, OwnershipRig, SHOP, nameless, type Kind, type Names } from './support/ownership-rig';
import { NO_WAY_IN, WAYS_IN, WAYS_TO_WATCH, type WayIn } from './support/ways-in';

type Headers = { authorization: string };

test('every root field of the schema is in the table of ways to a transaction, or leads to none', () => {
  const schema = subgraphSchema();
  const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (root) => Object.keys(root?.getFields() ?? {}),
  );
  const table = [...WAYS_IN, ...WAYS_TO_WATCH].map(({ field }) => field);
  expect([...new Set([...table, ...NO_WAY_IN])].sort()).toEqual(fields.sort());
});

const answered = jest.spyOn(PreparedOperations.prototype, 'answer');

/** Asks three times: the first time Apollo answers, the last time the compiled operation. */
async function askBothPaths(
  rig: OwnershipRig,
  { document, variables }: WayIn,
  names: Names,
  as: Headers,
): Promise<GraphqlAnswer<unknown>[]> {
  const answers = [];
  for (let count = 0; count < 3; count += 1) {
    answered.mockClear();
    answers.push(await rig.client.ask(document, variables(names), as));
  }
  await expect(answered.mock.results.at(-1)?.value).resolves.not.toBeNull();
  return answers;
}

const told = (answer: GraphqlAnswer<unknown>, { externalId }: Names): object =>
  comparable(answer, externalId);

describe.each([
  ['SQLite', undefined],
  ['PostgreSQL', noPostgres],
] as const)('Ownership in %s', (store, skipped) => {
  if (skipped) return test.skip(skipped, () => undefined);

  let rig: OwnershipRig;
  let owner: Headers;
  let other: Headers;
  let support: Headers;
  let own: Record<Kind, Names>;

  beforeAll(async () => {
    rig = await OwnershipRig.start(store);
    owner = await rig.user('user-1');
    other = await rig.user('user-2');
    support = await rig.user('agent-1', 'payments:read payments:confirm payouts:read');
    own = {
      payment: await rig.create('payment', owner, { externalId: 'order-1001' }),
      payout: await rig.create('payout', owner, { externalId: 'payout-1001' }),
    };
  });

  describe.each(WAYS_IN.map((way) => [way.about, way] as const))('%s', (_about, way) => {
    test('is for another user as if it did not exist, on both paths, and the service is not asked', async () => {
      rig.logLines.length = 0;
      let foreign: GraphqlAnswer<unknown>[] = [];
      const calls = await rig.callsOf(async () => {
        foreign = await askBothPaths(rig, way, own[way.kind], other);
      });
      const logged = rig.logLines.join('');
      const missing = nameless(way.kind);
      const unknown = await askBothPaths(rig, way, missing, other);
      expect(foreign.map((answer) => told(answer, own[way.kind]))).toEqual(
        unknown.map((answer) => told(answer, missing)),
      );
      expect(foreign[0]?.errors).toBeUndefined();
      for (const { text } of foreign) expect(text).not.toContain(CANARY);
      expect(calls).toBe(0);
      const { transactionId, externalId, idempotencyKey } = own[way.kind];
      for (const id of [transactionId, externalId, idempotencyKey]) expect(logged).not.toContain(id);
    });

    test('costs the service nothing where it does not exist', async () => {
      const calls = await rig.callsOf(() => askBothPaths(rig, way, nameless(way.kind), other));
      expect(calls).toBe(0);
    });

    test('is there for its owner, on both paths', async () => {
      for (const { text } of await askBothPaths(rig, way, own[way.kind], owner))
        expect(text).toContain(own[way.kind].transactionId);
    });

    // The journal shows nobody the attempts of others, whatever the scopes.
    if (way.field.startsWith('attempt')) return;

    test('is there for a caller with the full scope, on both paths', async () => {
      for (const { text } of await askBothPaths(rig, way, own[way.kind], support))
        expect(text).toContain(own[way.kind].transactionId);
    });
  });

  describe.each(WAYS_TO_WATCH.map((way) => [way.about, way] as const))('%s', (_about, way) => {
    const asked = (names: Names) => ({ query: way.document, variables: way.variables(names) });

    async function overWebSocket(names: Names, as: Headers) {
      const wire = await WireClient.ready(rig.client.url, as);
      wire.subscribe('a', asked(names));
      const first = await wire.next();
      wire.socket.close();
      await wire.closed;
      return first;
    }

    async function overEvents(names: Names, as: Headers) {
      const stream = await EventStream.open(`${rig.client.url}/stream`, asked(names), { headers: as });
      const first = await stream.next();
      stream.leave();
      return first;
    }

    test('over a WebSocket is NOT_FOUND for another user, as what does not exist is for everybody', async () => {
      const calls = await rig.callsOf(async () => {
        const foreign = await overWebSocket(own[way.kind], other);
        const missing = await overWebSocket(nameless(way.kind), other);
        expect(foreign.type).toBe('error');
        expect(toldIn(foreign).map(words)).toEqual(toldIn(missing).map(words));
        expect(toldIn(foreign)).toMatchObject([{ extensions: { code: 'NOT_FOUND', retryable: false } }]);
      });
      expect(calls).toBe(0);
      const forAll = await overWebSocket(nameless(way.kind), support);
      const foreign = await overWebSocket(own[way.kind], other);
      const bare = (errors: ReturnType<typeof toldIn>) =>
        errors.map((error) => ({ ...words(error), locations: undefined }));
      expect(bare(toldIn(foreign))).toEqual(bare(toldIn(forAll)));
    });

    test('as server-sent events is NOT_FOUND for another user, as what does not exist', async () => {
      const codes = async (names: Names) => {
        const first = await overEvents(names, other);
        return first.event === 'next' ? first.data.errors?.map((error) => words(error as never)) : first;
      };
      const calls = await rig.callsOf(async () => {
        const foreign = await codes(own[way.kind]);
        expect(foreign).toEqual(await codes(nameless(way.kind)));
        expect(foreign).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
      });
      expect(calls).toBe(0);
    });

    test.each([
      ['its owner', () => owner],
      ['a caller with the full scope', () => support],
    ])('is there for %s, both ways', async (_who, as) => {
      const data = { [way.field]: { transactionId: own[way.kind].transactionId } };
      expect(await overWebSocket(own[way.kind], as())).toMatchObject({ type: 'next', payload: { data } });
      expect(await overEvents(own[way.kind], as())).toMatchObject({ event: 'next', data: { data } });
    });
  });

  test('attempts lists for each user what it created', async () => {
    const ATTEMPTS = `query Q($c: UUID!) { attempts(channel: $c, first: 100) { edges { cursor node { externalId payment {
      ... on PaymentResource { transactionId } } } } } }`;
    const variables = WAYS_TO_WATCH[0]?.variables(own.payment);
    const mine = await rig.client.ask(ATTEMPTS, variables, owner);
    expect(mine.text).toContain(own.payment.transactionId);
    const theirs = await rig.client.ask(ATTEMPTS, variables, other);
    expect(theirs.errors).toBeUndefined();
    expect(theirs.text).not.toContain('1001');
  });

  test('a client with a key is an owner too, and its payments are not those of a user', async () => {
    const ofShop = await rig.create('payment', SHOP);
    const [way] = WAYS_IN;
    if (!way) throw new Error('There is no way in.');
    for (const [as, found] of [
      [SHOP, true],
      [owner, false],
      [AUTHORIZED, true],
    ] as const) {
      const { text } = await rig.client.ask(way.document, way.variables(ofShop), as);
      expect(text.includes(ofShop.transactionId)).toBe(found);
    }
    const { text } = await rig.client.ask(way.document, way.variables(own.payment), SHOP);
    expect(text).not.toContain(CANARY);
  });
});
