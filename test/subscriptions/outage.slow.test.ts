import { until } from '../support/latch';
import type { Reply } from '../support/payment-service/fake-payment-service';
import { AT_PROVIDER, startHarness, startHarnessOn, type SubscriptionHarness } from './support/harness';
import { SteppedClock } from './support/stepping-clock';
import { watchByBoth, watchPayment, watchStatus, webSocketClient } from './support/subscriptions';

const UNAVAILABLE: Reply = { status: 503, json: {} };
const REFUSED: Reply = { status: 401, json: {} };
const FAULTS: [what: string, code: string, fault: Reply][] = [
  ['is not available', 'SERVICE_UNAVAILABLE', UNAVAILABLE],
  ['does not respond', 'SERVICE_TIMEOUT', () => undefined],
  ['refuses the credentials', 'SERVICE_AUTH_FAILED', REFUSED],
  ['responds with HTML', 'SERVICE_RESPONSE_INVALID', { status: 200, body: '<html>' }],
  ['has lost the payment', 'NOT_FOUND', { status: 404, json: {} }],
];
const OUTAGE_MS = 60_000;

/** Starts a harness. Lookups are retried in real time, within SERVICE_TIMEOUT_MS. */
const rigWith = (env: Record<string, string> = {}): Promise<SubscriptionHarness> =>
  startHarness({
    env: { SERVICE_TIMEOUT_MS: '1000', SUBSCRIPTION_OUTAGE_SECONDS: String(OUTAGE_MS / 1000), ...env },
  });

describe.each(FAULTS)('While the service %s', (_what, code, fault) => {
  let harness: SubscriptionHarness;

  beforeAll(async () => {
    harness = await rigWith(code === 'SERVICE_TIMEOUT' ? { SERVICE_TIMEOUT_MS: '250' } : {});
  });

  afterEach(() => harness.service.respond(() => undefined));

  const fail = (): void => harness.service.respond(() => fault);
  const recover = (): void => harness.service.respond(() => undefined);

  test('clients stay subscribed, receive nothing, and receive the change afterwards', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    fail();
    await harness.lookedUp(id, 2);
    harness.service.update(id, { status: 'mispaid' });
    await harness.lookedUp(id);
    for (const { outcome } of subscribers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    recover();
    await harness.advanceUntil(() => subscribers.every(({ statuses }) => statuses.length === 2));
    harness.service.update(id, { status: 'completed' });
    await harness.advanceUntil(() => subscribers.every(({ completed }) => completed));
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'MISPAID', 'COMPLETED']);
  });

  test('for longer than SUBSCRIPTION_OUTAGE_SECONDS, clients receive the error code, and polling ends', async () => {
    const id = harness.addPayment();
    const subscribers = await watchByBoth(harness, id);
    fail();
    await harness.lookedUp(id);
    const began = harness.clock.now();
    await harness.advanceUntil(() => subscribers.every(({ errors }) => errors));
    expect(harness.clock.now() - began).toBeGreaterThanOrEqual(OUTAGE_MS - 1000);
    for (const { outcome } of subscribers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [code] });
    recover();
    await harness.expectNotPolled(id);
  });

  test('clients that subscribe receive the error code at once, and may subscribe again', async () => {
    const id = harness.addPayment();
    const client = webSocketClient(harness);
    fail();
    for (const { outcome } of await Promise.all([watchStatus(client, id), watchStatus(client, id)]))
      expect(outcome).toEqual({ statuses: [], completed: false, codes: [code] });
    recover();
    await until(async () => (await watchStatus(client, id)).statuses.length);
  });
});

describe('An outage', () => {
  test('ends no subscription when SUBSCRIPTION_OUTAGE_SECONDS is 0', async () => {
    const harness = await rigWith({ SUBSCRIPTION_OUTAGE_SECONDS: '0' });
    const id = harness.addPayment();
    const watching = await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => REFUSED);
    for (let hour = 0; hour < 4; hour += 1) {
      harness.clock.advance(3_600_000);
      await harness.lookedUp(id);
    }
    expect(watching.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    harness.service.respond(() => undefined);
    harness.service.update(id, { status: 'completed' });
    await harness.advanceUntil(() => watching.completed);
  });

  test('is measured from the last successful lookup', async () => {
    const harness = await rigWith();
    const id = harness.addPayment();
    const watching = await watchPayment(webSocketClient(harness), id).received(1);
    for (let turn = 1; turn <= 3; turn += 1) {
      harness.service.respond(() => REFUSED);
      const count = harness.lookups(id) + 5;
      await harness.advanceUntil(() => harness.lookups(id) >= count);
      harness.service.respond(() => undefined);
      harness.service.update(id, { amount: { currency: 'INR', value: `${turn}.00` } });
      await harness.lookedUp(id);
      await watching.received(turn + 1);
    }
    expect(watching.codes).toEqual([]);
  });

  test('ends subscriptions in time when the service sends a longer Retry-After', async () => {
    const harness = await rigWith();
    const id = harness.addPayment();
    const watching = await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '36000' } }));
    await harness.lookedUp(id);
    const began = harness.clock.now();
    await harness.advanceUntil(() => watching.errors !== undefined);
    expect(watching.codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect(harness.clock.now() - began).toBeLessThan(3 * OUTAGE_MS);
  });
});

describe('A failing service', () => {
  test('gets lookups with exponential backoff, and at the normal interval afterwards', async () => {
    const harness = await startHarnessOn(new SteppedClock(), { env: { SUBSCRIPTION_OUTAGE_SECONDS: '0' } });
    const { clock, service } = harness;
    const id = harness.addPayment({ payment_method: AT_PROVIDER });
    const timesOf = (): number[] => service.lookupsOf(id).map(({ at }) => at);
    await watchStatus(webSocketClient(harness), id);
    service.respond(() => REFUSED);
    await clock.run(250_000);
    const failed = timesOf().slice(1);
    const waits = failed.slice(1).map((at, place) => at - (failed[place] ?? 0));
    expect(waits.length).toBeGreaterThanOrEqual(6);
    waits.forEach((wait, place) => {
      const everyMs = Math.min(2 ** place, 60) * 1000;
      expect(wait).toBeGreaterThanOrEqual(Math.floor(everyMs * 0.85));
      expect(wait).toBeLessThanOrEqual(Math.ceil(everyMs * 1.15));
    });
    service.respond(() => undefined);
    await clock.run(70_000);
    const recovered = timesOf().length;
    await clock.run(20_000);
    expect(timesOf().length).toBeGreaterThan(recovered);
  });

  test('gets no lookups before its Retry-After', async () => {
    const harness = await startHarnessOn(new SteppedClock());
    const id = harness.addPayment();
    await watchStatus(webSocketClient(harness), id);
    harness.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '120' } }));
    await harness.clock.run(3000);
    const refused = harness.lookups(id);
    expect(refused).toBeGreaterThan(1);
    await harness.clock.run(110_000);
    expect(harness.lookups(id)).toBe(refused);
  });

  test('gets no lookups by polling while the circuit breaker is open', async () => {
    const harness = await startHarness();
    const { service, clock } = harness;
    const ids = Array.from({ length: 60 }, () => harness.addPayment());
    const client = webSocketClient(harness);
    const subscribers = await Promise.all(ids.map((id) => watchStatus(client, id)));
    service.respond(() => ({ status: 500, json: {} }));
    const failing = service.requests.length;
    await until(async () => {
      const before = service.requests.length;
      await harness.lookUp(ids[0]!);
      return service.requests.length === before;
    });
    expect(service.requests.length - failing).toBeGreaterThanOrEqual(50);
    for (const id of ids) service.update(id, { status: 'completed' });
    const before = service.requests.length;
    for (let second = 0; second < 60; second += 1) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Sixty polled payments would cause hundreds of lookups in a minute; the breaker admits a few probes.
    expect(service.requests.length - before).toBeLessThan(20);
    expect(subscribers.filter(({ errors }) => errors)).toEqual([]);
    service.respond(() => undefined);
    await harness.advanceUntil(() => subscribers.every(({ completed }) => completed), 500);
    for (const { statuses } of subscribers) expect(statuses).toEqual(['PENDING', 'COMPLETED']);
  });
});
