import { movedClock } from '../support/moved-clock';
import { testGateway, type TestClient } from '../support/gateway';
import { CountedService } from './support/counted-service';
import { askPayment, liveClient, watchPayment } from './support/watching';

let clock: ReturnType<typeof movedClock>;
let service: CountedService;
let gateway: TestClient;

beforeEach(async () => {
  clock = movedClock();
  service = await CountedService.start(clock);
  gateway = await testGateway(service.url, {
    clock,
    env: { WATCH_HEARTBEAT_SECONDS: '3600', SERVICE_TIMEOUT_MS: '20000' },
  });
});

describe('One watch serves all who watch a payment', () => {
  test.each([1, 10, 300])('%i of them cause the same calls', async (count) => {
    const id = service.payment();
    const clients = Array.from({ length: Math.min(count, 10) }, () => liveClient(gateway));
    const watchers = Array.from({ length: count }, (_, place) =>
      watchPayment(clients[place % clients.length]!, id),
    );
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    expect(service.count(id)).toBe(1);
    for (let round = 1; round <= 5; round += 1) {
      service.change(id, { amount: { currency: 'INR', value: `${round}.00` } });
      const before = service.count(id);
      clock.advance(2400);
      await Promise.all(
        watchers.map((watcher) => watcher.sees({ amount: { value: `${round}.00`, received: null } })),
      );
      expect(service.count(id)).toBe(before + 1);
    }
    expect(watchers.map(({ values }) => values.length)).toEqual(watchers.map(() => 6));
    service.change(id, { status: 'completed' });
    clock.advance(2400);
    await Promise.all(watchers.map((watcher) => watcher.ended()));
    expect(service.count(id)).toBe(7);
    expect(watchers.map(({ last }) => last?.['status'])).toEqual(watchers.map(() => 'COMPLETED'));
  });

  test('different payments have watches of their own', async () => {
    const ids = Array.from({ length: 50 }, () => service.payment());
    const client = liveClient(gateway);
    const watchers = ids.map((id) => watchPayment(client, id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    expect(ids.map((id) => service.count(id))).toEqual(ids.map(() => 1));
  });

  test('the same id in another case is the same payment', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    const watchers = [id, id.toUpperCase()].map((text) => watchPayment(client, text));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    service.change(id, { status: 'mispaid' });
    clock.advance(2400);
    await Promise.all(watchers.map((watcher) => watcher.sees({ status: 'MISPAID' })));
    expect(service.count(id)).toBe(2);
  });
});

describe('A lookup that is under way', () => {
  test('is shared by queries and a watch that begins: one call', async () => {
    const id = service.payment();
    const held = service.hold();
    const asked = askPayment(gateway, id);
    await held.arrived;
    const client = liveClient(gateway);
    const watchers = [watchPayment(client, id), watchPayment(client, id)];
    const later = service.payment();
    // Over the same connection and after them: they are there when it is.
    await watchPayment(client, later).told(1);
    held.release();
    expect(await asked).toMatchObject({ status: 'PROCESSING' });
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    expect(service.count(id)).toBe(1);
  });

  test('of a watch is shared by queries', async () => {
    const id = service.payment();
    const held = service.hold();
    const watcher = watchPayment(liveClient(gateway), id);
    await held.arrived;
    const asked = askPayment(gateway, id);
    await askPayment(gateway, service.payment());
    held.release();
    expect(await asked).toMatchObject({ status: 'PROCESSING' });
    await watcher.told(1);
    expect(service.count(id)).toBe(1);
  });

  test('of a watch is shared by those who join', async () => {
    const id = service.payment();
    const held = service.hold();
    const client = liveClient(gateway);
    const first = watchPayment(client, id);
    await held.arrived;
    const second = watchPayment(client, id);
    await watchPayment(client, service.payment()).told(1);
    held.release();
    await Promise.all([first.told(1), second.told(1)]);
    expect(service.count(id)).toBe(1);
  });

  test('ends for nobody when the one who began it has left', async () => {
    const id = service.payment();
    const held = service.hold();
    const client = liveClient(gateway);
    const first = watchPayment(client, id);
    await held.arrived;
    first.leave();
    const second = watchPayment(client, id);
    await watchPayment(client, service.payment()).told(1);
    held.release();
    await second.told(1);
    expect(service.count(id)).toBe(1);
    service.change(id, { status: 'completed' });
    clock.advance(2400);
    await second.ended();
    expect(second.statuses).toEqual(['PROCESSING', 'COMPLETED']);
    expect(first.values).toEqual([]);
  });
});

describe('Who joins', () => {
  test('within two seconds of the last answer is given that, without a call', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    await watchPayment(client, id).told(1);
    clock.advance(1000);
    service.change(id, { status: 'mispaid' });
    const second = watchPayment(client, id);
    await second.told(1);
    expect(second.statuses).toEqual(['PROCESSING']);
    expect(service.count(id)).toBe(1);
  });

  test('later is given what a new look finds, by one call, and the others hear of it too', async () => {
    const slow = movedClock();
    const there = await CountedService.start(slow);
    const far = await testGateway(there.url, { clock: slow, env: { WATCH_PACE_PAYER: '1h' } });
    const id = there.payment();
    const client = liveClient(far);
    const first = watchPayment(client, id);
    await first.told(1);
    slow.advance(2500);
    there.change(id, { status: 'mispaid' });
    const joined = Array.from({ length: 20 }, () => watchPayment(client, id));
    await Promise.all(joined.map((watcher) => watcher.told(1)));
    expect(joined.map(({ statuses }) => statuses)).toEqual(joined.map(() => ['MISPAID']));
    await first.sees({ status: 'MISPAID' });
    expect(there.count(id)).toBe(2);
  });

  test('after a payment was finished is given its end, and is done', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    const first = watchPayment(client, id);
    await first.told(1);
    service.change(id, { status: 'failed', error: { code: 'declined', message: 'No.' } });
    clock.advance(2400);
    await first.ended();
    const second = watchPayment(client, id, '... on PaymentResource { status error { code } }');
    await second.ended();
    expect(second.outcome).toEqual({ statuses: ['FAILED'], completed: true, codes: [] });
    expect(service.count(id)).toBe(3);
  });

  test('while the service fails is given the last state that is known', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    await watchPayment(client, id).told(1);
    service.instead = () => ({ status: 500, json: {} });
    await service.looksAgain(clock, id, 3);
    const second = watchPayment(client, id);
    await second.told(1);
    expect(second.outcome).toEqual({ statuses: ['PROCESSING'], completed: false, codes: [] });
  });
});
