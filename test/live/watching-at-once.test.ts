import { make, type Json } from '../gateway/fixtures/calls';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService } from './support/counted-service';
import { SELDOM } from './support/instances';
import { askPayment, liveClient, watchPayment, watchPayout } from './support/watching';

const LIMITED = 'pgk_limited-0123456789abcdef0123456789abcdef';

let service: CountedService;
let gateway: TestClient;

beforeAll(async () => {
  service = await CountedService.start();
  gateway = await testGateway(service.url, {
    env: {
      ...SELDOM,
      CLIENT_KEYS_FILE: clientKeysFile({ id: 'limited', key: LIMITED, channels: [CHANNEL] }),
    },
  });
});

const MISPAID = { status: 'mispaid' };
const STATUS = '... on PaymentResource { status }';

/** A payment that the gateway itself has created, with the key. */
async function created(idempotencyKey: string): Promise<{ id: string; input: Json }> {
  const id = service.payment({ amount: { currency: 'INR', value: '10.00' } });
  service.money = () => ({ status: 201, json: service.said(id) });
  const input = {
    idempotencyKey,
    channel: CHANNEL,
    amount: { currency: 'INR', value: '10.00' },
    method: { upi: { email: 'ann@example.com' } },
  };
  const { result } = await make(gateway, { mutation: 'createPayment', input });
  expect(result).toMatchObject({ replayed: false, payment: { transactionId: id } });
  return { id, input };
}

async function nodeId(id: string): Promise<string> {
  const { data } = await gateway.ask<{ payment: { id: string } }>(
    `{ payment(channel: "${CHANNEL}", transactionId: "${id}") { ... on PaymentResource { id } } }`,
  );
  return data.payment.id;
}

const LOOKUPS: [what: string, ask: (id: string) => Promise<unknown>][] = [
  ['a query', (id) => askPayment(gateway, id)],
  [
    'a query for many',
    (id) => gateway.ask(`{ payments(channel: "${CHANNEL}", transactionIds: ["${id}"]) { ${STATUS} } }`),
  ],
  [
    'a query by external id',
    (id) => {
      service.change(id, { order: `order-${id}` });
      return gateway.ask(`{ payment(channel: "${CHANNEL}", externalId: "order-${id}") { ${STATUS} } }`);
    },
  ],
];

describe('A change is told at once that is seen by', () => {
  test.each(LOOKUPS)('%s: by no more than its own call', async (_what, ask) => {
    const id = service.payment();
    const watchers = Array.from({ length: 5 }, () => watchPayment(liveClient(gateway), id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    service.change(id, MISPAID);
    const before = service.lookups.length;
    await ask(id);
    await Promise.all(watchers.map((watcher) => watcher.sees({ status: 'MISPAID' })));
    expect(service.lookups.length).toBe(before + 1);
  });

  test('a query for a node', async () => {
    const id = service.payment();
    const node = await nodeId(id);
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.change(id, MISPAID);
    const before = service.count(id);
    await gateway.ask(`{ node(id: "${node}") { ${STATUS} } }`);
    await watcher.sees({ status: 'MISPAID' });
    expect(service.count(id)).toBe(before + 1);
  });

  test.each([
    ['attempt', `attempt(idempotencyKey: "key-attempt") { payment { ${STATUS} } }`],
    ['attempts', `attempts(channel: "${CHANNEL}", first: 1) { edges { node { payment { ${STATUS} } } } }`],
  ])('a query for the %s that created it', async (field, query) => {
    const { id } = await created(`key-${field}`);
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.change(id, MISPAID);
    await gateway.ask(`{ ${query} }`);
    await watcher.sees({ status: 'MISPAID' });
  });

  test('a confirm', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id, `${STATUS} ... on UpiPayment { state }`);
    await watcher.told(1);
    const confirmed = { transaction_id: id, status: 'processing', payment_method: AT_PROVIDER };
    service.money = () => ({ status: 200, json: confirmed });
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
    await make(gateway, { mutation: 'confirmPayment', input });
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
    expect(service.count(id)).toBe(1);
  });

  test('a create that is made again with its key', async () => {
    const { id, input } = await created('key-again');
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.change(id, MISPAID);
    const before = service.count(id);
    const { result } = await make(gateway, { mutation: 'createPayment', input });
    expect(result).toMatchObject({ replayed: true, payment: { status: 'MISPAID' } });
    await watcher.sees({ status: 'MISPAID' });
    expect(service.count(id)).toBeLessThanOrEqual(before + 2);
  });

  test('a confirm whose answer was lost', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.money = () => {
      service.change(id, { status: 'completed', payment_method: AT_PROVIDER });
      return (_response, socket) => socket.destroy();
    };
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
    const { result } = await make(gateway, { mutation: 'confirmPayment', input });
    expect(result).toMatchObject({ replayed: true, payment: { status: 'COMPLETED' } });
    await watcher.ended();
    expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
  });

  test('the lookup that a confirm makes to see whose the payment is, though the confirm is refused', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.change(id, MISPAID);
    service.money = () => ({ status: 400, json: { message: 'Already paid.' } });
    const query = `mutation ($input: ConfirmPaymentInput!) { confirmPayment(input: $input) { __typename } }`;
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
    const { data } = await gateway.ask(query, { input }, { authorization: `Bearer ${LIMITED}` });
    expect(data).toEqual({ confirmPayment: { __typename: 'RejectedByServiceError' } });
    // One for the watch, one for the confirm: the gateway has seen the change.
    expect(service.count(id)).toBeGreaterThanOrEqual(2);
    await watcher.sees({ status: 'MISPAID' });
  });

  test('the lookup that completes a short answer for whoever confirmed', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id, STATUS);
    await watcher.told(1);
    service.change(id, { status: 'completed' });
    const short = { transaction_id: id, status: 'processing', payment_method: AT_PROVIDER };
    service.money = () => ({ status: 200, json: short });
    const query = `mutation ($input: ConfirmPaymentInput!) { confirmPayment(input: $input) {
      ... on PaymentSuccess { payment { ... on PaymentResource { amount { value } } } } } }`;
    const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
    await gateway.ask(query, { input }, AUTHORIZED);
    expect(service.count(id)).toBe(2);
    await watcher.sees({ status: 'COMPLETED' });
  });
});

test('A change of a payout is told at once that is seen by a query', async () => {
  const id = service.payout();
  const watcher = watchPayout(liveClient(gateway), id);
  await watcher.told(1);
  service.change(id, { status: 'completed' });
  await gateway.ask(
    `{ payout(channel: "${CHANNEL}", transactionId: "${id}") { ... on PayoutResource { status } } }`,
  );
  await watcher.ended();
  expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
});
