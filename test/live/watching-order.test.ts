import { make } from '../gateway/fixtures/calls';
import { movedClock } from '../support/moved-clock';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService, WAITING } from './support/counted-service';
import { askPayment, liveClient, watchPayment, type Watching } from './support/watching';

let clock: ReturnType<typeof movedClock>;
let service: CountedService;
let gateway: TestClient;

beforeAll(async () => {
  clock = movedClock();
  service = await CountedService.start(clock);
  gateway = await testGateway(service.url, {
    clock,
    env: { WATCH_HEARTBEAT_SECONDS: '3600', SERVICE_TIMEOUT_MS: '20000' },
  });
});

const confirm = async (id: string): Promise<void> => {
  const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1234' } } };
  const { result } = await make(gateway, { mutation: 'confirmPayment', input });
  expect(result).toMatchObject({ __typename: 'PaymentSuccess' });
};

/** From now on the payment is confirmed, and the service says so. */
function takesConfirm(id: string, status = 'processing'): void {
  service.money = () => {
    service.change(id, { status, payment_method: AT_PROVIDER });
    return { status: 200, json: { transaction_id: id, status, payment_method: AT_PROVIDER } };
  };
}

const byOrder = (order: string): Promise<unknown> =>
  gateway.ask(
    `query { payment(channel: "${CHANNEL}", externalId: "${order}") { ... on PaymentResource { status } } }`,
  );

const statesOf = ({ values }: Watching): unknown[] => values.map(({ state }) => state);

/** An answer that has arrived has been read: another, asked later, has been. */
const round = (): Promise<unknown> => askPayment(gateway, service.payment());

describe('An answer to a question that is older than what is known', () => {
  test('is not told: a look from before a confirm does not bring the old state back', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const held = service.hold();
    await service.looksAgain(clock, id);
    await held.arrived;
    takesConfirm(id);
    await confirm(id);
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
    held.release();
    await round();
    await service.looksAgain(clock, id);
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(statesOf(watcher)).toEqual([
      'WAITING_FOR_UTR',
      'WAITING_FOR_PROVIDER',
      // The last one says COMPLETED.
      'WAITING_FOR_PROVIDER',
    ]);
    expect(watcher.last).toMatchObject({ status: 'COMPLETED' });
  });

  test('makes the gateway look again at once, not only when it would have', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const held = service.hold();
    await service.looksAgain(clock, id);
    await held.arrived;
    takesConfirm(id);
    await confirm(id);
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
    const before = service.count(id);
    held.release();
    await round();
    clock.advance(100);
    await round();
    expect(service.count(id)).toBe(before + 1);
  });

  test('of the query of another caller is not told either', async () => {
    const order = 'order-asked-early';
    const id = service.payment({ order });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const held = service.hold();
    const asked = byOrder(order);
    await held.arrived;
    takesConfirm(id);
    await confirm(id);
    await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
    held.release();
    await asked;
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(statesOf(watcher)).toEqual(['WAITING_FOR_UTR', 'WAITING_FOR_PROVIDER', 'WAITING_FOR_PROVIDER']);
  });

  test('does not open a payment again that is completed', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const held = service.hold();
    await service.looksAgain(clock, id);
    await held.arrived;
    takesConfirm(id, 'completed');
    await confirm(id);
    await watcher.ended();
    const before = service.count(id);
    held.release();
    await round();
    clock.advance(600_000);
    await round();
    expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
    expect(service.count(id)).toBe(before);
  });
});

describe('Two lookups that overlap', () => {
  test('and end in the order in which they were asked tell the newer state in the end', async () => {
    const order = 'order-overlap-1';
    const id = service.payment({ order });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const first = service.hold();
    await service.looksAgain(clock, id);
    await first.arrived;
    service.change(id, { status: 'mispaid' });
    const second = service.hold();
    const asked = byOrder(order);
    await second.arrived;
    first.release();
    await round();
    second.release();
    await asked;
    await service.looksAgain(clock, id);
    await watcher.sees({ status: 'MISPAID' });
    expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID']);
  });

  test('and end the other way round never tell the older state', async () => {
    const order = 'order-overlap-2';
    const id = service.payment({ order });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const first = service.hold();
    await service.looksAgain(clock, id);
    await first.arrived;
    service.change(id, { status: 'mispaid' });
    await byOrder(order);
    await watcher.sees({ status: 'MISPAID' });
    first.release();
    await round();
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID', 'COMPLETED']);
  });
});

test('Who joins while an old answer is under way is given the state after the confirm', async () => {
  const id = service.payment({ payment_method: WAITING });
  const client = liveClient(gateway);
  const watcher = watchPayment(client, id);
  await watcher.told(1);
  const held = service.hold();
  await service.looksAgain(clock, id);
  await held.arrived;
  takesConfirm(id);
  await confirm(id);
  await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
  const joined = watchPayment(client, id);
  held.release();
  await joined.told(1);
  expect(statesOf(joined)).toEqual(['WAITING_FOR_PROVIDER']);
});

test('Who begins to watch after a confirm is not told first what somebody asked before it', async () => {
  const order = 'order-before-the-watch';
  const id = service.payment({ order });
  const early = service.hold();
  const asked = byOrder(order);
  await early.arrived;
  takesConfirm(id);
  await confirm(id);
  const own = service.hold();
  const watcher = watchPayment(liveClient(gateway), id);
  await own.arrived;
  early.release();
  await asked;
  own.release();
  await watcher.told(1);
  service.change(id, { status: 'completed' });
  await service.looksAgain(clock, id);
  await watcher.ended();
  expect(statesOf(watcher)).toEqual(['WAITING_FOR_PROVIDER', 'WAITING_FOR_PROVIDER']);
});
