import { movedClock } from '../support/moved-clock';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService, WAITING } from './support/counted-service';
import { liveClient, watchPayment, watchPayout } from './support/watching';

let clock: ReturnType<typeof movedClock>;
let service: CountedService;
let gateway: TestClient;

beforeAll(async () => {
  clock = movedClock();
  service = await CountedService.start(clock);
  gateway = await testGateway(service.url, { clock, env: { WATCH_HEARTBEAT_SECONDS: '86' } });
});

const value = (text: string) => ({ amount: { currency: 'INR', value: text } });
const only = (fields: string): string => `... on PaymentResource { ${fields} }`;

describe('Who watches a payment', () => {
  test('is told its current state, each change once, and the end', async () => {
    const id = service.payment({ status: 'pending' });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    for (const said of [{ status: 'processing' }, { payment_method: AT_PROVIDER }, { status: 'completed' }]) {
      service.change(id, said);
      const before = watcher.values.length;
      await service.looksAgain(clock, id);
      await watcher.told(before + 1);
      // Looks that find nothing new.
      if (said.status !== 'completed') await service.looksAgain(clock, id, 3);
    }
    await watcher.ended();
    expect(watcher.completed).toBe(true);
    expect(watcher.values.map(({ status, state }) => [status, state])).toEqual([
      ['PENDING', 'WAITING_FOR_UTR'],
      ['PROCESSING', 'WAITING_FOR_UTR'],
      ['PROCESSING', 'WAITING_FOR_PROVIDER'],
      ['COMPLETED', 'WAITING_FOR_PROVIDER'],
    ]);
  });

  test('hears nothing of a change in what was not selected', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    const narrow = watchPayment(client, id, only('status'));
    const wide = watchPayment(client, id, only('status amount { value }'));
    await Promise.all([narrow.told(1), wide.told(1)]);
    for (const text of ['1.00', '2.00', '3.00']) {
      service.change(id, value(text));
      clock.advance(2400);
      await wide.sees({ amount: { value: text } });
    }
    service.change(id, { status: 'completed' });
    clock.advance(2400);
    await Promise.all([narrow.ended(), wide.ended()]);
    expect(narrow.statuses).toEqual(['PROCESSING', 'COMPLETED']);
    expect(wide.values).toHaveLength(5);
  });

  test.each([
    [
      'what the payer has to do',
      'nextAction { ... on RedirectAction { url } }',
      { redirect_url: 'https://pay.example/2' },
    ],
    [
      'the amount that was paid',
      'amount { received }',
      { amount: { currency: 'INR', value: '1.00', received: '0.50' } },
    ],
    ['a word that is not known', 'rawStatus', { status: 'dreaming' }],
    ['why it failed', 'error { message }', { error: { code: 'no', message: 'Not today.' } }],
  ])('hears of %s, where that was selected', async (_what, fields, said) => {
    const id = service.payment({
      payment_method: { type: 'card' },
      redirect_url: 'https://pay.example/1',
      ...value('1.00'),
    });
    const watcher = watchPayment(liveClient(gateway), id, only(fields));
    await watcher.told(1);
    service.change(id, said);
    clock.advance(2400);
    await watcher.told(2);
    expect(watcher.values[1]).not.toEqual(watcher.values[0]);
  });

  test('goes on after MISPAID: it may still be completed', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const paid = (received: string) => ({
      status: 'mispaid',
      amount: { currency: 'INR', value: '100.00', received },
    });
    service.change(id, paid('40.00'));
    clock.advance(2400);
    await watcher.sees({ status: 'MISPAID', amount: { value: '100.00', received: '40.00' } });
    service.change(id, paid('90.00'));
    clock.advance(18_000);
    await watcher.sees({ status: 'MISPAID', amount: { value: '100.00', received: '90.00' } });
    expect(watcher.completed).toBe(false);
    service.change(id, { status: 'completed' });
    clock.advance(18_000);
    await watcher.ended();
    expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID', 'MISPAID', 'COMPLETED']);
  });

  test.each(['completed', 'failed', 'COMPLETED'])(
    'is told of one that is %s already, and is done',
    async (status) => {
      const id = service.payment({ status });
      const watcher = watchPayment(liveClient(gateway), id);
      await watcher.ended();
      expect(watcher.outcome).toEqual({ statuses: [status.toUpperCase()], completed: true, codes: [] });
    },
  );
});

test('Who watches a payout is told its state, each change once, and the end', async () => {
  const id = service.payout({ status: 'pending' });
  const watcher = watchPayout(liveClient(gateway), id);
  await watcher.told(1);
  for (const status of ['processing', 'failed']) {
    service.change(id, { status });
    clock.advance(1200);
    await watcher.sees({ status: status.toUpperCase() });
  }
  await watcher.ended();
  expect(watcher.outcome).toEqual({
    statuses: ['PENDING', 'PROCESSING', 'FAILED'],
    completed: true,
    codes: [],
  });
});

describe('The external id', () => {
  const byOrder = (order: string): Promise<unknown> =>
    gateway.ask(
      `query { payment(channel: "${CHANNEL}", externalId: "${order}") { ... on PaymentResource { status externalId } } }`,
    );

  test('that another caller asked by is not told to those who watch: the answer does not say that it is right', async () => {
    const order = 'order-of-the-watched';
    const id = service.payment({ order });
    const client = liveClient(gateway);
    const watcher = watchPayment(client, id, only('status externalId'));
    await watcher.told(1);
    await byOrder(order);
    for (const status of ['mispaid', 'completed']) {
      service.change(id, { status });
      clock.advance(18_000);
      await watcher.sees({ status: status.toUpperCase() });
    }
    await watcher.ended();
    expect(watcher.values).toEqual([
      { status: 'PROCESSING', externalId: null },
      { status: 'MISPAID', externalId: null },
      { status: 'COMPLETED', externalId: null },
    ]);
  });

  test('that the service repeats is told', async () => {
    const id = service.payment({ external_id: 'order-said', payment_method: WAITING });
    const watcher = watchPayment(liveClient(gateway), id, only('externalId'));
    await watcher.told(1);
    expect(watcher.values).toEqual([{ externalId: 'order-said' }]);
  });
});
