import { make } from '../gateway/fixtures/calls';
import { inPostgres } from '../journal/support/stores';
import { until } from '../changes/support/feeds';
import { movedClock } from '../support/moved-clock';
import { CHANNEL, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService } from './support/counted-service';
import { instanceIn, listening, overheard } from './support/instances';
import { askPayment, liveClient, watchPayment, watchPayout, type Watching } from './support/watching';

inPostgres((room) => {
  let service: CountedService;
  let a: TestClient;
  let b: TestClient;
  let c: TestClient;

  beforeAll(async () => {
    service = await CountedService.start();
    a = await instanceIn(room.place, service.url);
    b = await instanceIn(room.place, service.url);
    c = await instanceIn(room.place, service.url);
    await listening(room.place.url, 3);
  });

  /** What instances tell each other of has been heard by all, and what they did for it is done. */
  async function settled(): Promise<void> {
    const probe = service.payment();
    const watching = [a, b, c].map((gateway) => watchPayment(liveClient(gateway), probe));
    await Promise.all(watching.map((watcher) => watcher.told(1)));
    for (const [turn, gateway] of [a, b, c].entries()) {
      service.change(probe, { amount: { currency: 'INR', value: '1.00', received: `${turn}.00` } });
      await askPayment(gateway, probe);
      const received = { amount: { value: '1.00', received: `${turn}.00` } };
      await Promise.all(watching.map((watcher) => watcher.sees(received)));
    }
    for (const watcher of watching) watcher.leave();
  }

  /** A payment that is watched on B. */
  async function watchedOnB(): Promise<{ id: string; watcher: Watching }> {
    const id = service.payment();
    const watcher = watchPayment(liveClient(b), id);
    await watcher.told(1);
    await settled();
    expect(service.count(id)).toBe(1);
    return { id, watcher };
  }

  describe('A change that one instance sees reaches those who watch on another', () => {
    test('when it sees it by a query: one lookup there, and none after', async () => {
      const { id, watcher } = await watchedOnB();
      service.change(id, { status: 'mispaid' });
      await askPayment(a, id);
      await watcher.sees({ status: 'MISPAID' });
      await settled();
      expect(service.count(id)).toBe(3);
      expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID']);
    });

    test('when it confirms: one lookup there, and none after', async () => {
      const { id, watcher } = await watchedOnB();
      service.money = () => {
        service.change(id, { payment_method: AT_PROVIDER });
        return {
          status: 200,
          json: { transaction_id: id, status: 'processing', payment_method: AT_PROVIDER },
        };
      };
      const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
      await make(a, { mutation: 'confirmPayment', input });
      await watcher.sees({ state: 'WAITING_FOR_PROVIDER' });
      await settled();
      expect(service.count(id)).toBe(2);
    });

    test('when it confirms and the payment is completed', async () => {
      const { id, watcher } = await watchedOnB();
      service.money = () => {
        service.change(id, { status: 'completed' });
        return { status: 200, json: { transaction_id: id, status: 'completed' } };
      };
      const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
      await make(a, { mutation: 'confirmPayment', input });
      await watcher.ended();
      await settled();
      expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
      expect(service.count(id)).toBe(2);
    });

    test('when a create is made again there', async () => {
      const id = service.payment({ amount: { currency: 'INR', value: '10.00' } });
      service.money = () => ({ status: 201, json: service.said(id) });
      const input = {
        idempotencyKey: 'key-on-a',
        channel: CHANNEL,
        amount: { currency: 'INR', value: '10.00' },
        method: { upi: { email: 'ann@example.com' } },
      };
      await make(a, { mutation: 'createPayment', input });
      const watcher = watchPayment(liveClient(b), id);
      await watcher.told(1);
      await settled();
      service.change(id, { status: 'mispaid' });
      const { result } = await make(a, { mutation: 'createPayment', input });
      expect(result).toMatchObject({ replayed: true, payment: { status: 'MISPAID' } });
      await watcher.sees({ status: 'MISPAID' });
    });

    test('when it finds out what became of a confirm whose answer was lost', async () => {
      const { id, watcher } = await watchedOnB();
      service.money = () => {
        service.change(id, { status: 'completed', payment_method: AT_PROVIDER });
        return (_response, socket) => socket.destroy();
      };
      const input = { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '1' } } };
      const { result } = await make(a, { mutation: 'confirmPayment', input });
      expect(result).toMatchObject({ replayed: true, payment: { status: 'COMPLETED' } });
      await watcher.ended();
      expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
    });

    test('when it looks for its own watchers', async () => {
      const clock = movedClock(Date.now());
      const d = await instanceIn(room.place, service.url, {
        clock,
        env: { WATCH_PACE_PAYER: '1s', WATCH_HEARTBEAT_SECONDS: '3600' },
      });
      const { id, watcher } = await watchedOnB();
      const own = watchPayment(liveClient(d), id);
      await own.told(1);
      service.change(id, { status: 'mispaid' });
      await service.looksAgain(clock, id);
      await own.sees({ status: 'MISPAID' });
      await until('those on the other instance hear of it', () => {
        // What it tells the others goes out by its clock too.
        clock.advance(20);
        return watcher.last?.['status'] === 'MISPAID';
      });
    });

    test('for payouts too', async () => {
      const id = service.payout();
      const watcher = watchPayout(liveClient(b), id);
      await watcher.told(1);
      await settled();
      service.change(id, { status: 'completed' });
      await a.ask(
        `{ payout(channel: "${CHANNEL}", transactionId: "${id}") { ... on PayoutResource { status } } }`,
      );
      await watcher.ended();
      await settled();
      expect(watcher.outcome).toEqual({ statuses: ['PROCESSING', 'COMPLETED'], completed: true, codes: [] });
      expect(service.count(id)).toBe(3);
    });
  });

  test('A change that one of three sees is looked up once by each of the others, and then by none', async () => {
    const id = service.payment();
    const watchers = [a, b, c].flatMap((gateway) => {
      const client = liveClient(gateway);
      return Array.from({ length: 10 }, () => watchPayment(client, id));
    });
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    await settled();
    for (const [turn, gateway] of [a, b, c, a, b, c].entries()) {
      const before = service.count(id);
      const amount = { currency: 'INR', value: '100.00', received: `${turn}.00` };
      service.change(id, { status: turn % 2 === 0 ? 'mispaid' : 'processing', amount });
      await askPayment(gateway, id);
      const told = { amount: { value: '100.00', received: `${turn}.00` } };
      await Promise.all(watchers.map((watcher) => watcher.sees(told)));
      await settled();
      expect(service.count(id)).toBe(before + 3);
    }
    expect(watchers.map(({ values }) => values.length)).toEqual(watchers.map(() => 7));
  });

  test('A payment that nobody watches elsewhere is looked up by nobody else', async () => {
    const id = service.payment();
    for (const status of ['processing', 'mispaid', 'completed']) {
      service.change(id, { status });
      await askPayment(a, id);
    }
    await settled();
    expect(service.count(id)).toBe(3);
  });

  test('What is seen again unchanged is not told again', async () => {
    const { id, watcher } = await watchedOnB();
    const told = await overheard(room.place.url, async (soFar) => {
      for (let time = 0; time < 5; time += 1) await askPayment(a, id);
      service.change(id, { status: 'mispaid' });
      for (let time = 0; time < 5; time += 1) await askPayment(a, id);
      await watcher.sees({ status: 'MISPAID' });
      // What is told last is heard last.
      await askPayment(a, service.payment());
      await until('the last is heard', () => soFar.length >= 2);
    });
    // The look that began the watch, ten of callers, and one for the change.
    expect(service.count(id)).toBe(12);
    expect(told).toHaveLength(2);
  });

  test('A change back to what was before is told as well', async () => {
    const { id, watcher } = await watchedOnB();
    for (const status of ['mispaid', 'processing', 'mispaid', 'processing']) {
      service.change(id, { status });
      await askPayment(a, id);
      await watcher.sees({ status: status.toUpperCase() });
    }
    expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID', 'PROCESSING', 'MISPAID', 'PROCESSING']);
  });

  test('An old answer that one instance gets late makes another look, and is told to nobody', async () => {
    const order = 'order-late-on-a';
    const id = service.payment({ order });
    const watcher = watchPayment(liveClient(b), id);
    await watcher.told(1);
    await settled();
    const held = service.hold();
    const asked = a.ask(
      `{ payment(channel: "${CHANNEL}", externalId: "${order}") { ... on PaymentResource { status } } }`,
    );
    await held.arrived;
    service.change(id, { status: 'mispaid' });
    await askPayment(b, id);
    await watcher.sees({ status: 'MISPAID' });
    held.release();
    await asked;
    await settled();
    service.change(id, { status: 'completed' });
    await askPayment(b, id);
    await watcher.ended();
    expect(watcher.statuses).toEqual(['PROCESSING', 'MISPAID', 'COMPLETED']);
    // One when it began, three of callers, and one for what A told.
    expect(service.count(id)).toBeLessThanOrEqual(5);
  });

  test('Instances before different services do not mix, though they share the database and the ids', async () => {
    const other = await CountedService.start();
    const [theirs, theirOther] = [
      await instanceIn(room.place, other.url),
      await instanceIn(room.place, other.url),
    ];
    const { id, watcher } = await watchedOnB();
    // The other service has a payment of the same id, in another state.
    const said = { status: 200, json: { ...service.said(id), status: 'mispaid' } };
    other.instead = ({ query }) => (query.includes(id) ? said : undefined);
    const theirWatcher = watchPayment(liveClient(theirOther), id);
    await theirWatcher.told(1);
    said.json.status = 'completed';
    expect(await askPayment(theirs, id)).toMatchObject({ status: 'COMPLETED' });
    await theirWatcher.sees({ status: 'COMPLETED' });
    await settled();
    expect(service.count(id)).toBe(1);
    expect(watcher.outcome).toEqual({ statuses: ['PROCESSING'], completed: false, codes: [] });
  });
});
