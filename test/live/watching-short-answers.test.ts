import { make } from '../gateway/fixtures/calls';
import { movedClock } from '../support/moved-clock';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService, WAITING, type Wire } from './support/counted-service';
import { liveClient, watchPayment } from './support/watching';

let clock: ReturnType<typeof movedClock>;
let service: CountedService;
let gateway: TestClient;

beforeAll(async () => {
  clock = movedClock();
  service = await CountedService.start(clock);
  gateway = await testGateway(service.url, { clock, env: { WATCH_HEARTBEAT_SECONDS: '3600' } });
});

afterEach(() => {
  service.instead = () => undefined;
});

const WHOLE = `... on PaymentResource { status createDate amount { value } nextAction { __typename } }
  ... on UpiPayment { state upiId }`;

/** The answer to a confirm: short, and the state that it tells is what a lookup shows too. */
async function confirm(id: string, status: string, short: Wire): Promise<void> {
  service.money = () => {
    service.change(id, { status, payment_method: AT_PROVIDER });
    return { status: 200, json: { transaction_id: id, status, ...short } };
  };
  const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1234' } } };
  const { result } = await make(gateway, { mutation: 'confirmPayment', input });
  expect(result).toMatchObject({ __typename: 'PaymentSuccess', payment: { status: status.toUpperCase() } });
}

describe('The short answer of a confirm', () => {
  test('is told whole to all who watch, by one lookup', async () => {
    const id = service.payment();
    const watchers = Array.from({ length: 40 }, () => watchPayment(liveClient(gateway), id, WHOLE));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    expect(service.count(id)).toBe(1);
    await confirm(id, 'processing', { payment_method: { type: 'upi', state: 'waiting_for_provider' } });
    await Promise.all(watchers.map((watcher) => watcher.told(2)));
    const told = {
      status: 'PROCESSING',
      state: 'WAITING_FOR_PROVIDER',
      amount: { value: '100.00' },
      createDate: service.said(id)['create_date'],
      upiId: 'shop@bank',
    };
    for (const { values } of watchers) expect(values[1]).toMatchObject(told);
    expect(service.count(id)).toBe(2);
  });

  test('COMPLETED is told whole to all who watch, by one lookup, and ends what they watch', async () => {
    const id = service.payment();
    const watchers = Array.from({ length: 40 }, () => watchPayment(liveClient(gateway), id, WHOLE));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    await confirm(id, 'completed', { amount: { currency: 'INR', value: '100.00' } });
    await Promise.all(watchers.map((watcher) => watcher.ended()));
    const told = { status: 'COMPLETED', amount: { value: '100.00' }, upiId: 'shop@bank', nextAction: null };
    for (const { values, completed } of watchers) {
      expect(values).toHaveLength(2);
      expect(values[1]).toMatchObject({ ...told, createDate: service.said(id)['create_date'] });
      expect(completed).toBe(true);
    }
    expect(service.count(id)).toBe(2);
  });

  test('costs no lookup where nobody selects what it lacks', async () => {
    const id = service.payment();
    const watcher = watchPayment(
      liveClient(gateway),
      id,
      '... on PaymentResource { status } ... on UpiPayment { state }',
    );
    await watcher.told(1);
    await confirm(id, 'processing', { payment_method: { type: 'upi', state: 'waiting_for_provider' } });
    await watcher.told(2);
    expect(service.count(id)).toBe(1);
  });

  test('is not told again when the next look shows the same payment whole', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id, WHOLE);
    await watcher.told(1);
    await confirm(id, 'processing', { payment_method: { type: 'upi', state: 'waiting_for_provider' } });
    await watcher.told(2);
    await service.looksAgain(clock, id, 3);
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(watcher.statuses).toEqual(['PROCESSING', 'PROCESSING', 'COMPLETED']);
  });

  test('is told whole later where it could not be completed', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id, WHOLE);
    await watcher.told(1);
    service.instead = () => ({ status: 401, json: {} });
    await confirm(id, 'processing', { payment_method: { type: 'upi', state: 'waiting_for_provider' } });
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER', amount: null });
    service.instead = () => undefined;
    await service.looksAgain(clock, id, 2);
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER', amount: { value: '100.00' }, upiId: 'shop@bank' });
  });

  test('does not hide a change that the next look finds in what it lacked', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id, WHOLE);
    await watcher.told(1);
    await confirm(id, 'processing', { payment_method: { type: 'upi', state: 'waiting_for_provider' } });
    await watcher.told(2);
    service.change(id, { amount: { currency: 'INR', value: '99.00' } });
    await service.looksAgain(clock, id, 2);
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER', amount: { value: '99.00' } });
  });

  test('that says less than is known does not take the known state back for good', async () => {
    const id = service.payment({ payment_method: WAITING });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    await confirm(id, 'processing', {});
    await service.looksAgain(clock, id, 1);
    await watcher.sees({
      status: 'PROCESSING',
      state: 'WAITING_FOR_PROVIDER',
      amount: { value: '100.00', received: null },
    });
  });
});
