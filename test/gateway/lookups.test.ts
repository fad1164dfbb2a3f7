import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import {
  scriptedService,
  type Reply,
  type ScriptedService,
  type SeenRequest,
} from '../support/scripted-service';
import { gate, type Gate } from './fixtures/gate';
import { decodeQuery } from './fixtures/strict-service';

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await scriptedService();
  client = await testGateway(service.url, { env: { SERVICE_TIMEOUT_MS: '20000' } });
});

beforeEach(() => {
  service.seen.length = 0;
  service.answer(found);
});

/** The id of a transaction by its number. */
const idOf = (place: number): string => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

const idIn = ({ query }: SeenRequest): string => decodeQuery(query)['transaction_id'] ?? '';

const found = (request: SeenRequest) => ({
  status: 200,
  json: { status: 'pending', transaction_id: idIn(request) },
});

const ID = '... on PaymentResource { transactionId rawStatus }';
const MANY = `query Q($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { ${ID} } }`;
const ONE = `query Q($c: UUID!, $id: UUID!) { payment(channel: $c, transactionId: $id) { ${ID} } }`;

type Found = { transactionId: string; rawStatus: string } | null;

const askMany = (ids: string[]) => client.ask<{ payments: Found[] }>(MANY, { c: CHANNEL, ids });

const calls = (id: string): number => service.seen.filter((request) => idIn(request) === id).length;

describe('In one operation', () => {
  test('a hundred payments of ten ids take ten calls, and stand in the order asked', async () => {
    const ids = Array.from({ length: 100 }, (_, place) => idOf((place * 7) % 10));
    const { data } = await askMany(ids);
    expect(data.payments.map((payment) => payment?.transactionId)).toEqual(ids);
    expect(service.seen).toHaveLength(10);
  });

  test('the same id in another case is the same payment', async () => {
    const id = 'abcdefab-0000-4000-8000-000000000000';
    const { data } = await askMany([id, id.toUpperCase()]);
    expect(data.payments.map((payment) => payment?.transactionId)).toEqual([id, id]);
    expect(service.seen).toHaveLength(1);
  });

  test('never more than sixteen calls are under way', async () => {
    let underWay = 0;
    let most = 0;
    const sixteen = gate(16);
    const hold = gate();
    service.answer(async (request) => {
      most = Math.max(most, (underWay += 1));
      if (idIn(request) !== idOf(999)) {
        sixteen.arrive();
        await hold.opened;
      }
      underWay -= 1;
      return found(request);
    });
    const ids = Array.from({ length: 100 }, (_, place) => idOf(place));
    const asked = askMany(ids);
    await sixteen.opened;
    // A whole round through gateway and service, in which a seventeenth call would have come.
    await client.ask(ONE, { c: CHANNEL, id: idOf(999) });
    expect(service.seen).toHaveLength(17);
    hold.open();
    const { data } = await asked;
    expect(data.payments).toHaveLength(100);
    expect(most).toBe(17);
  });

  test('null stands where the service has no such payment', async () => {
    service.answer((request) => (idIn(request) === idOf(2) ? { status: 404, json: {} } : found(request)));
    const { data, errors } = await askMany([idOf(1), idOf(2), idOf(3)]);
    expect(errors).toBeUndefined();
    expect(data.payments.map((payment) => payment?.transactionId)).toEqual([idOf(1), undefined, idOf(3)]);
  });

  test('one lookup that fails makes one null and one error, with its path', async () => {
    service.answer((request) => (idIn(request) === idOf(2) ? { status: 500, json: {} } : found(request)));
    const { data, errors, status } = await askMany([idOf(1), idOf(2), idOf(3)]);
    expect(status).toBe(200);
    expect(data.payments.map((payment) => payment?.transactionId)).toEqual([idOf(1), undefined, idOf(3)]);
    expect(errors).toMatchObject([
      { path: ['payments', 1], extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } },
    ]);
    expect(errors).toHaveLength(1);
  });

  test.each(['payments', 'payouts'])(
    'more than a hundred %s are refused, and nothing is sent',
    async (field) => {
      const query = `query Q($c: UUID!, $ids: [UUID!]!) { ${field}(channel: $c, transactionIds: $ids) { __typename } }`;
      const ids = Array.from({ length: 101 }, (_, place) => idOf(place));
      const { errors } = await client.ask(query, { c: CHANNEL, ids });
      expect(errors).toMatchObject([
        { path: [field], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
      ]);
      expect(service.seen).toHaveLength(0);
    },
  );

  test('none asked is none answered', async () => {
    expect((await askMany([])).data).toEqual({ payments: [] });
    expect(service.seen).toHaveLength(0);
  });

  test('aliases, lists and node share one call', async () => {
    const first = await client.ask<{ payment: { id: string } }>(
      `{ payment(channel: "${CHANNEL}", transactionId: "${idOf(1)}") { ... on PaymentResource { id } } }`,
    );
    service.seen.length = 0;
    const query = `query Q($c: UUID!, $id: UUID!, $node: ID!) {
      a: payment(channel: $c, transactionId: $id) { ${ID} } b: payment(channel: $c, transactionId: $id) { ${ID} }
      payments(channel: $c, transactionIds: [$id, $id]) { ${ID} } node(id: $node) { ${ID} } }`;
    const { data } = await client.ask(query, { c: CHANNEL, id: idOf(1), node: first.data.payment.id });
    const one = { transactionId: idOf(1), rawStatus: 'pending' };
    expect(data).toEqual({ a: one, b: one, payments: [one, one], node: one });
    expect(service.seen).toHaveLength(1);
  });

  test('a payment and a payout of the same id, and the same id of two channels, are different', async () => {
    const query = `query Q($c: UUID!, $d: UUID!, $id: UUID!) {
      a: payment(channel: $c, transactionId: $id) { __typename } b: payment(channel: $d, transactionId: $id) { __typename }
      c: payout(channel: $c, transactionId: $id) { __typename } }`;
    await client.ask(query, { c: CHANNEL, d: idOf(77), id: idOf(1) });
    expect(service.seen).toHaveLength(3);
  });

  test('what a mutation left out is looked up anew behind each mutation', async () => {
    let lookups = 0;
    service.answer(({ method, json, query }) => {
      if (method === 'POST')
        return { status: 200, json: { status: 'processing', transaction_id: json['id'] } };
      lookups += 1;
      const amount = { currency: 'INR', value: `${lookups}.00` };
      return {
        status: 200,
        json: { status: 'processing', transaction_id: decodeQuery(query)['transaction_id'], amount },
      };
    });
    const confirm = `confirmPayment(input: { channel: "${CHANNEL}", transactionId: "${idOf(1)}", confirmation: { upi: { utr: "1" } } }) {
      ... on PaymentSuccess { payment { ... on PaymentResource { amount { value } } } } }`;
    const amountAfter = async (): Promise<unknown> =>
      (await client.ask<{ done: object }>(`mutation { done: ${confirm} }`)).data.done;
    expect(await amountAfter()).toEqual({ payment: { amount: { value: '1.00' } } });
    expect(await amountAfter()).toEqual({ payment: { amount: { value: '2.00' } } });
  });
});

describe('Across operations', () => {
  const SHARED = idOf(500);
  const withMarker = `query Q($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { ${ID} } }`;

  /** Answers everything but the shared id at once; `markers` opens when that many other ids have come. */
  function holdShared(markers: Gate, shared: (request: SeenRequest) => Reply = found): Gate {
    const hold = gate();
    service.answer(async (request) => {
      if (idIn(request) === SHARED) {
        await hold.opened;
        return shared(request);
      }
      markers.arrive();
      return found(request);
    });
    return hold;
  }

  test('identical lookups in flight share one call', async () => {
    const markers = gate(5);
    const hold = holdShared(markers);
    const asked = [1, 2, 3, 4, 5].map((place) => askMany([SHARED, idOf(place)]));
    await markers.opened;
    hold.open();
    for (const { data } of await Promise.all(asked)) expect(data.payments[0]?.transactionId).toBe(SHARED);
    expect(calls(SHARED)).toBe(1);
  });

  test('a failure is shared too, and every caller hears of it', async () => {
    const markers = gate(2);
    const hold = holdShared(markers, () => ({ status: 401, json: {} }));
    const asked = [1, 2].map((place) => askMany([SHARED, idOf(place)]));
    await markers.opened;
    hold.open();
    for (const { errors } of await Promise.all(asked)) {
      expect(errors).toMatchObject([{ path: ['payments', 0], extensions: { code: 'SERVICE_AUTH_FAILED' } }]);
    }
    expect(calls(SHARED)).toBe(1);
  });

  test('a caller that leaves does not cancel the call for another', async () => {
    const first = gate(1);
    const hold = holdShared(first);
    const leaver = new AbortController();
    const body = JSON.stringify({ query: withMarker, variables: { c: CHANNEL, ids: [SHARED, idOf(1)] } });
    const headers = { 'content-type': 'application/json', ...AUTHORIZED };
    const left = fetch(client.url, { method: 'POST', headers, body, signal: leaver.signal }).catch(
      () => 'left',
    );
    await first.opened;
    const second = gate(1);
    const other = holdShared(second);
    const stayed = askMany([SHARED, idOf(2)]);
    await second.opened;
    leaver.abort();
    expect(await left).toBe('left');
    // A whole round through the gateway, in which it hears that the caller has left.
    await client.ask('{ __typename }');
    hold.open();
    other.open();
    expect((await stayed).data.payments[0]?.transactionId).toBe(SHARED);
    expect(calls(SHARED)).toBe(1);
  });

  test('nothing is kept once it has arrived: the next lookup sees the new state', async () => {
    for (const status of ['pending', 'processing', 'completed']) {
      service.answer((request) => ({ status: 200, json: { status, transaction_id: idIn(request) } }));
      const { data } = await client.ask<{ payment: Found }>(ONE, { c: CHANNEL, id: SHARED });
      expect(data.payment?.rawStatus).toBe(status);
    }
    service.answer(() => ({ status: 403, json: {} }));
    expect((await client.ask(ONE, { c: CHANNEL, id: SHARED })).errors).toHaveLength(1);
    service.answer(found);
    expect((await client.ask(ONE, { c: CHANNEL, id: SHARED })).errors).toBeUndefined();
    expect(calls(SHARED)).toBe(5);
  });
});

describe('The arguments of a lookup', () => {
  test.each(['payment', 'payout'])('of a %s need one id at least; nothing is sent without', async (field) => {
    for (const more of ['', ', transactionId: null', ', externalId: null, transactionId: null']) {
      const { errors } = await client.ask(`{ ${field}(channel: "${CHANNEL}"${more}) { __typename } }`);
      expect(errors).toMatchObject([
        { path: [field], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
      ]);
    }
    expect(service.seen).toHaveLength(0);
  });

  test('are both sent where both are given', async () => {
    const args = `channel: "${CHANNEL}", transactionId: "${idOf(1)}", externalId: "order-1"`;
    await client.ask(`{ payment(${args}) { __typename } }`);
    expect(decodeQuery(service.seen[0]?.query ?? '')).toEqual({
      channel: CHANNEL,
      transaction_id: idOf(1),
      external_id: 'order-1',
    });
  });
});
