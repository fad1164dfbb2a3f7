import { movedClock } from '../support/moved-clock';
import { testGateway, type TestClient } from '../support/gateway';
import type { Reply } from '../support/scripted-service';
import { AT_PROVIDER, CountedService } from './support/counted-service';
import { SteppedClock } from './support/stepped-clock';
import { liveClient, watchPayment, watchPayout } from './support/watching';

const FAULTS: [what: string, code: string, fault: () => Reply][] = [
  ['is not available', 'SERVICE_UNAVAILABLE', () => ({ status: 503, json: {} })],
  ['breaks connections', 'SERVICE_UNAVAILABLE', () => (_response, socket) => socket.destroy()],
  ['does not answer', 'SERVICE_TIMEOUT', () => () => undefined],
  ['refuses the credentials', 'SERVICE_AUTH_FAILED', () => ({ status: 401, json: {} })],
  ['answers nonsense', 'SERVICE_RESPONSE_INVALID', () => ({ status: 200, body: '<html>' })],
  [
    'answers with another payment',
    'SERVICE_RESPONSE_INVALID',
    () => ({
      status: 200,
      json: { status: 'completed', transaction_id: '00000000-0000-4000-8000-000000000000' },
    }),
  ],
  ['has lost the payment', 'NOT_FOUND', () => ({ status: 404, json: {} })],
  ['refuses the lookup', 'BAD_USER_INPUT', () => ({ status: 422, json: { message: 'No.' } })],
];

let clock: ReturnType<typeof movedClock>;
let service: CountedService;

async function gatewayWith(env: Record<string, string>): Promise<TestClient> {
  clock = movedClock();
  service = await CountedService.start(clock);
  return testGateway(service.url, {
    clock,
    env: { WATCH_HEARTBEAT_SECONDS: '3600', SERVICE_TIMEOUT_MS: '500', ...env },
  });
}

describe.each(FAULTS)('While the service %s', (_what, code, fault) => {
  test('watchers stay and hear nothing, and hear of the change when it is over', async () => {
    const gateway = await gatewayWith({});
    const id = service.payment();
    const client = liveClient(gateway);
    const watchers = [watchPayment(client, id), watchPayment(client, id)];
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    service.instead = fault;
    await service.looksAgain(clock, id, 3);
    service.change(id, { status: 'mispaid' });
    await service.looksAgain(clock, id, 2);
    expect(watchers.map(({ outcome }) => outcome)).toEqual(
      watchers.map(() => ({ statuses: ['PROCESSING'], completed: false, codes: [] })),
    );
    service.instead = () => undefined;
    await service.looksAgain(clock, id);
    await Promise.all(watchers.map((watcher) => watcher.sees({ status: 'MISPAID' })));
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await Promise.all(watchers.map((watcher) => watcher.ended()));
    expect(watchers.map(({ statuses }) => statuses)).toEqual(
      watchers.map(() => ['PROCESSING', 'MISPAID', 'COMPLETED']),
    );
  });

  test('longer than WATCH_OUTAGE_SECONDS watchers are told why, and that is the end', async () => {
    const gateway = await gatewayWith({ WATCH_OUTAGE_SECONDS: '60' });
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.instead = fault;
    await service.looksAgain(clock, id, 2);
    const began = service.times(id)[1] ?? 0;
    while (!watcher.errors) {
      clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(watcher.outcome).toEqual({ statuses: ['PROCESSING'], completed: false, codes: [code] });
    expect(clock.now() - began).toBeGreaterThanOrEqual(60_000);
    const before = service.count(id);
    service.instead = () => undefined;
    clock.advance(600_000);
    const later = watchPayment(liveClient(gateway), service.payment());
    await later.told(1);
    expect(service.count(id)).toBe(before);
  });

  test('whoever begins to watch is told at once', async () => {
    const gateway = await gatewayWith({});
    const id = service.payment();
    service.instead = fault;
    const client = liveClient(gateway);
    const watchers = [watchPayment(client, id), watchPayment(client, id)];
    await Promise.all(watchers.map((watcher) => watcher.ended()));
    expect(watchers.map(({ outcome }) => outcome)).toEqual(
      watchers.map(() => ({ statuses: [], completed: false, codes: [code] })),
    );
    service.instead = () => undefined;
    const again = watchPayment(client, id);
    await again.told(1);
    expect(again.statuses).toEqual(['PROCESSING']);
  });
});

describe('An outage', () => {
  const REFUSED: Reply = { status: 401, json: {} };

  test('of any length is not told where WATCH_OUTAGE_SECONDS is 0', async () => {
    const gateway = await gatewayWith({ WATCH_OUTAGE_SECONDS: '0' });
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.instead = () => REFUSED;
    for (let hour = 0; hour < 24; hour += 1) {
      clock.advance(3_600_000);
      await service.looksAgain(clock, id);
    }
    expect(watcher.outcome).toEqual({ statuses: ['PROCESSING'], completed: false, codes: [] });
    service.instead = () => undefined;
    service.change(id, { status: 'completed' });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(watcher.statuses).toEqual(['PROCESSING', 'COMPLETED']);
  });

  test('is measured anew after every answer', async () => {
    const gateway = await gatewayWith({ WATCH_OUTAGE_SECONDS: '60' });
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    for (let turn = 1; turn <= 4; turn += 1) {
      service.instead = () => REFUSED;
      await service.looksAgain(clock, id, 5);
      service.instead = () => undefined;
      service.change(id, { amount: { currency: 'INR', value: `${turn}.00` } });
      await service.looksAgain(clock, id);
      await watcher.sees({ amount: { value: `${turn}.00`, received: null } });
    }
    expect(watcher.codes).toEqual([]);
  });

  test('is told in time also where the service says to come back much later', async () => {
    const gateway = await gatewayWith({ WATCH_OUTAGE_SECONDS: '60' });
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.instead = ({ query }) =>
      query.includes(id) ? { status: 503, json: {}, headers: { 'retry-after': '36000' } } : undefined;
    await service.looksAgain(clock, id);
    for (let second = 0; second < 180 && !watcher.errors; second += 1) {
      clock.advance(1000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    // A round in which the error would have come.
    await watchPayment(liveClient(gateway), service.payment()).told(1);
    expect(watcher.codes).toEqual(['SERVICE_UNAVAILABLE']);
  });

  test('of payouts is told too', async () => {
    const gateway = await gatewayWith({ WATCH_OUTAGE_SECONDS: '30' });
    const id = service.payout();
    const watcher = watchPayout(liveClient(gateway), id);
    await watcher.told(1);
    service.instead = () => REFUSED;
    while (!watcher.errors) {
      clock.advance(1000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(watcher.codes).toEqual(['SERVICE_AUTH_FAILED']);
  });
});

describe('A service that fails', () => {
  test.each([
    ['a new payment', 0, [1, 2, 4, 8, 16, 32, 60, 60]],
    ['one that is looked at every 15 seconds', 20 * 60_000, [15, 15, 15, 15, 16, 32, 60, 60]],
  ])('is asked less and less often: for %s', async (_what, agoMs, seconds) => {
    const stepped = new SteppedClock();
    const there = await CountedService.start(stepped);
    const gateway = await testGateway(there.url, {
      clock: stepped,
      env: { WATCH_OUTAGE_SECONDS: '0', WATCH_HEARTBEAT_SECONDS: '3600' },
    });
    const id = there.payment({
      create_date: new Date(stepped.now() - agoMs).toISOString(),
      payment_method: AT_PROVIDER,
    });
    await watchPayment(liveClient(gateway), id).told(1);
    there.instead = () => ({ status: 401, json: {} });
    await stepped.run(250_000);
    const times = there.times(id).slice(1);
    const gaps = times.slice(1).map((at, place) => at - (times[place] ?? 0));
    expect(gaps.length).toBeGreaterThanOrEqual(6);
    gaps.forEach((gap, place) => {
      const everyMs = (seconds[place] ?? 60) * 1000;
      expect(gap).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
      expect(gap).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
    });
    there.instead = () => undefined;
    await stepped.run(70_000);
    const good = there.times(id).at(-1) ?? 0;
    await stepped.run(20_000);
    // Back to its pace after the first answer, from where it was before.
    expect(there.times(id).length).toBeGreaterThan(times.length + 2);
    expect(stepped.now() - good).toBeLessThan(100_000);
  });

  test('and says when to come back is not asked before', async () => {
    const stepped = new SteppedClock();
    const there = await CountedService.start(stepped);
    const gateway = await testGateway(there.url, {
      clock: stepped,
      env: { WATCH_HEARTBEAT_SECONDS: '3600' },
    });
    const id = there.payment();
    await watchPayment(liveClient(gateway), id).told(1);
    there.instead = () => ({ status: 503, json: {}, headers: { 'retry-after': '120' } });
    await stepped.run(3000);
    const refused = there.count(id);
    expect(refused).toBeGreaterThan(1);
    await stepped.run(110_000);
    expect(there.count(id)).toBe(refused);
  });
});
