import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, testSandbox, type TestClient, testService } from '../support/gateway';
import type {
  FakePaymentService,
  ReceivedRequest,
  Reply,
} from '../support/payment-service/fake-payment-service';
import { accepted, sendCall, validCall } from '../support/calls';
import { latch, until, type Latch } from '../support/latch';
import { decodeQuery } from '../support/signatures';

let service: FakePaymentService;
let client: TestClient;

beforeAll(async () => {
  service = await testService();
  client = await testGateway(service.url, { env: { SERVICE_TIMEOUT_MS: '20000' } });
});

beforeEach(() => {
  service.requests.length = 0;
  service.respond(found);
});

const idOf = (place: number): string => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

const idIn = ({ query }: ReceivedRequest): string => decodeQuery(query)['transaction_id'] ?? '';

const found = (request: ReceivedRequest) => ({
  status: 200,
  json: { status: 'pending', transaction_id: idIn(request) },
});

const ID = '... on PaymentResource { transactionId rawStatus }';
const MANY = `query Q($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { ${ID} } }`;
const ONE = `query Q($c: UUID!, $id: UUID!) { payment(channel: $c, transactionId: $id) { ${ID} } }`;

type Found = { transactionId: string; rawStatus: string } | null;

const lookUpMany = (ids: string[]) => client.request<{ payments: Found[] }>(MANY, { c: CHANNEL, ids });

const calls = (id: string): number => service.requests.filter((request) => idIn(request) === id).length;

describe('Lookups in one operation', () => {
  test('are sent once for each distinct id, and their results have the order of the ids', async () => {
    const ids = Array.from({ length: 100 }, (_, place) => idOf((place * 7) % 10));
    const { data } = await lookUpMany(ids);
    expect(data.payments.map((payment) => payment?.transactionId)).toEqual(ids);
    expect(service.requests).toHaveLength(10);
    expect((await lookUpMany([])).data).toEqual({ payments: [] });
    expect(service.requests).toHaveLength(10);
  });

  test('are limited to sixteen at a time, and do not block another operation', async () => {
    let inFlight = 0;
    let most = 0;
    const sixteen = latch(16);
    const hold = latch();
    service.respond(async (request) => {
      most = Math.max(most, (inFlight += 1));
      if (idIn(request) !== idOf(999)) {
        sixteen.arrive();
        await hold.opened;
      }
      inFlight -= 1;
      return found(request);
    });
    const ids = Array.from({ length: 100 }, (_, place) => idOf(place));
    const sent = lookUpMany(ids);
    await sixteen.opened;
    // A seventeenth lookup would have arrived before this lookup of another operation has returned.
    await client.request(ONE, { c: CHANNEL, id: idOf(999) });
    expect(service.requests).toHaveLength(17);
    hold.open();
    const { data } = await sent;
    expect(data.payments).toHaveLength(100);
    expect(most).toBe(17);
  });

  test('return null for a missing payment, and null with an error for a failed lookup', async () => {
    service.respond((request) => {
      if (idIn(request) === idOf(2)) return { status: 500, json: {} };
      return idIn(request) === idOf(3) ? { status: 404, json: {} } : found(request);
    });
    const { data, errors, status } = await lookUpMany([1, 2, 3, 4].map(idOf));
    expect(status).toBe(200);
    expect(data.payments.map((item) => item?.transactionId ?? null)).toEqual([idOf(1), null, null, idOf(4)]);
    expect(errors).toMatchObject([
      { path: ['payments', 1], extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } },
    ]);
    expect(errors).toHaveLength(1);
  });

  test('share one request when aliases, lists and node name the same payment', async () => {
    const first = await client.request<{ payment: { id: string } }>(
      `{ payment(channel: "${CHANNEL}", transactionId: "${idOf(1)}") { ... on PaymentResource { id } } }`,
    );
    service.requests.length = 0;
    const query = `query Q($c: UUID!, $id: UUID!, $node: ID!) {
      a: payment(channel: $c, transactionId: $id) { ${ID} } b: payment(channel: $c, transactionId: $id) { ${ID} }
      payments(channel: $c, transactionIds: [$id, $id]) { ${ID} } node(id: $node) { ${ID} } }`;
    const { data } = await client.request(query, { c: CHANNEL, id: idOf(1), node: first.data.payment.id });
    const one = { transactionId: idOf(1), rawStatus: 'pending' };
    expect(data).toEqual({ a: one, b: one, payments: [one, one], node: one });
    expect(service.requests).toHaveLength(1);
  });

  test('do not share a request when id, kind or channel differs', async () => {
    const query = `query Q($c: UUID!, $d: UUID!, $id: UUID!) {
      a: payment(channel: $c, transactionId: $id) { __typename } b: payment(channel: $d, transactionId: $id) { __typename }
      c: payout(channel: $c, transactionId: $id) { __typename } d: payment(channel: $c, externalId: "d") { __typename }
      e: payment(channel: $c, externalId: "e") { __typename } f: payment(channel: $d, externalId: "e") { __typename }
      g: payment(channel: $c, transactionId: $id, externalId: "e") { __typename } }`;
    await client.request(query, { c: CHANNEL, d: idOf(77), id: idOf(1) });
    const sent = service.requests.map(({ path, query }) => ({ path, ...decodeQuery(query) }));
    expect(new Set(sent.map((request) => JSON.stringify(request))).size).toBe(7);
    expect(sent).toContainEqual(expect.objectContaining({ transaction_id: idOf(1), external_id: 'e' }));
  });
});

describe('Lookups in several operations', () => {
  const SHARED = idOf(500);

  /** Holds lookups of SHARED until the returned latch opens. Responds to others at once; `markers` counts those. */
  function holdShared(markers: Latch, shared: (request: ReceivedRequest) => Reply = found): Latch {
    const hold = latch();
    service.respond(async (request) => {
      if (idIn(request) === SHARED) {
        await hold.opened;
        return shared(request);
      }
      markers.arrive();
      return request.method === 'POST' ? accepted(request) : found(request);
    });
    return hold;
  }

  test.each<[string, (request: ReceivedRequest) => Reply, object]>([
    ['response', found, { data: { payments: [{ transactionId: SHARED }, {}] } }],
    ['failure', () => ({ status: 401, json: {} }), { errors: [{ path: ['payments', 0] }] }],
  ])('share one request and its %s when they are identical and in flight', async (_what, reply, expected) => {
    const markers = latch(5);
    const hold = holdShared(markers, reply);
    const request = [1, 2, 3, 4, 5].map((place) => lookUpMany([SHARED, idOf(place)]));
    await markers.opened;
    hold.open();
    for (const response of await Promise.all(request)) expect(response).toMatchObject(expected);
    expect(calls(SHARED)).toBe(1);
  });

  test('do not share a request when a create was sent between them', async () => {
    const markers = latch(1);
    const hold = holdShared(markers);
    const before = lookUpMany([SHARED, idOf(1)]);
    await markers.opened;
    await sendCall(client, validCall('createPayment', 'other'));
    const after = lookUpMany([SHARED]);
    await until(() => calls(SHARED) === 2);
    hold.open();
    for (const { data } of await Promise.all([before, after]))
      expect(data.payments[0]?.transactionId).toBe(SHARED);
  });

  test('continue to share a request when one of the callers disconnects', async () => {
    const first = latch(1);
    const hold = holdShared(first);
    const disconnecting = new AbortController();
    const body = JSON.stringify({ query: MANY, variables: { c: CHANNEL, ids: [SHARED, idOf(1)] } });
    const headers = { 'content-type': 'application/json', ...AUTHORIZED };
    const left = fetch(client.url, { method: 'POST', headers, body, signal: disconnecting.signal }).catch(
      () => 'left',
    );
    await first.opened;
    const second = latch(1);
    const other = holdShared(second);
    const stayed = lookUpMany([SHARED, idOf(2)]);
    await second.opened;
    disconnecting.abort();
    expect(await left).toBe('left');
    await client.request('{ __typename }');
    hold.open();
    other.open();
    expect((await stayed).data.payments[0]?.transactionId).toBe(SHARED);
    expect(calls(SHARED)).toBe(1);
  });

  test('are not cached: the next lookup returns the new state', async () => {
    service.respond(() => ({ status: 403, json: {} }));
    expect((await client.request(ONE, { c: CHANNEL, id: SHARED })).errors).toHaveLength(1);
    for (const status of ['pending', 'completed']) {
      service.respond((request) => ({ status: 200, json: { status, transaction_id: idIn(request) } }));
      const { data } = await client.request<{ payment: Found }>(ONE, { c: CHANNEL, id: SHARED });
      expect(data.payment?.rawStatus).toBe(status);
    }
  });
});

describe('The query node', () => {
  const NODE = `query Q($id: ID!) { node(id: $id) { __typename id
    ... on PaymentResource { transactionId channel method } ... on PayoutResource { transactionId channel } } }`;

  let sandboxUrl: string;
  let sandboxClient: TestClient;

  beforeAll(async () => {
    sandboxUrl = (await testSandbox()).url;
    sandboxClient = await testGateway(sandboxUrl);
  });

  const find = (id: string, by = sandboxClient) => by.request<{ node: object | null }>(NODE, { id });

  /** Creates a transaction. Returns its ids from the result of the create. */
  async function created(kind: 'Payment' | 'Payout'): Promise<{ id: string; transactionId: string }> {
    const { input } = validCall(`create${kind}`, 'jazzCash');
    const query = `mutation M($input: Create${kind}Input!) { done: create${kind}(input: $input) {
      ... on ${kind}Success { it: ${kind.toLowerCase()} { ... on ${kind}Resource { id transactionId } } } } }`;
    type Created = { done: { it: { id: string; transactionId: string } } };
    return (await sandboxClient.request<Created>(query, { input })).data.done.it;
  }

  // The service returns the method of a payout only if it failed; otherwise the method is read from the journal.
  test.each(['Payment', 'Payout'] as const)(
    'finds a %s by the id that its create and a lookup return',
    async (kind) => {
      const { id, transactionId } = await created(kind);
      const { data, errors } = await find(id);
      expect(errors).toBeUndefined();
      const __typename = `JazzCash${kind}`;
      expect(data.node).toMatchObject({ __typename, id, transactionId, channel: CHANNEL });
      const query = `query Q($c: UUID!, $t: UUID!) {
        it: ${kind.toLowerCase()}(channel: $c, transactionId: $t) { ... on ${kind}Resource { id } } }`;
      const lookup = await sandboxClient.request(query, { c: CHANNEL, t: transactionId });
      expect(lookup.data).toEqual({ it: { id } });
    },
  );

  test('returns an OtherPayout if the payout is not in the journal of the gateway', async () => {
    const { id, transactionId } = await created('Payout');
    const { data, errors } = await find(id, await testGateway(sandboxUrl));
    expect(errors).toBeUndefined();
    expect(data.node).toMatchObject({ __typename: 'OtherPayout', id, transactionId, channel: CHANNEL });
  });

  test('accepts an id that an earlier version of the gateway returned', async () => {
    const { data, errors } = await find('AQB8G9HgaxtMip1-D1pKPCsQC3ocUmpVTQ6cVW8fPg0qEQ');
    expect({ data, errors }).toEqual({ data: { node: null }, errors: undefined });
  });

  // test/properties/values.test.ts also changes every character of a valid id.
  test.each([
    ['is empty', ''],
    ['is a transaction id', '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11'],
    ['is an emoji', '😀'],
    ['has 10,000 characters', 'x'.repeat(10_000)],
  ])('returns the error BAD_USER_INPUT for an id that %s', async (_how, id) => {
    const { data, errors, text } = await find(id);
    expect(data).toEqual({ node: null });
    expect(errors).toMatchObject([{ path: ['node'], extensions: { code: 'BAD_USER_INPUT' } }]);
    if (id.length > 5) expect(text).not.toContain(id);
  });
});
