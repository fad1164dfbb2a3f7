import { until } from '../support/latch';
import type { Reply } from '../support/payment-service/fake-payment-service';
import { AT_PROVIDER, liveRig, liveRigOn, type LiveRig } from './support/harness';
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

/** Lookups are retried within the timeout of the service, in real time. */
const rigWith = (env: Record<string, string> = {}): Promise<LiveRig> =>
  liveRig({
    env: { SERVICE_TIMEOUT_MS: '250', SUBSCRIPTION_OUTAGE_SECONDS: String(OUTAGE_MS / 1000), ...env },
  });

describe.each(FAULTS)('While the service %s', (_what, code, fault) => {
  let rig: LiveRig;

  beforeAll(async () => {
    rig = await rigWith();
  });

  afterEach(() => rig.service.respond(() => undefined));

  const fail = (): void => rig.service.respond(() => fault);
  const recover = (): void => rig.service.respond(() => undefined);

  test('clients stay subscribed, receive nothing, and receive the change afterwards', async () => {
    const id = rig.addPayment();
    const watchers = await watchByBoth(rig, id);
    fail();
    await rig.lookedUp(id, 2);
    rig.service.update(id, { status: 'mispaid' });
    await rig.lookedUp(id);
    expect(watchers.map(({ outcome }) => outcome)).toEqual(
      watchers.map(() => ({ statuses: ['PENDING'], completed: false, codes: [] })),
    );
    recover();
    await rig.advanceUntil(() => watchers.every(({ statuses }) => statuses.length === 2));
    rig.service.update(id, { status: 'completed' });
    await rig.advanceUntil(() => watchers.every(({ completed }) => completed));
    expect(watchers.map(({ statuses }) => statuses)).toEqual(
      watchers.map(() => ['PENDING', 'MISPAID', 'COMPLETED']),
    );
  });

  test('for longer than SUBSCRIPTION_OUTAGE_SECONDS clients receive its error code, and lookups end', async () => {
    const id = rig.addPayment();
    const watchers = await watchByBoth(rig, id);
    fail();
    await rig.lookedUp(id);
    const began = rig.clock.now();
    await rig.advanceUntil(() => watchers.every(({ errors }) => errors));
    expect(rig.clock.now() - began).toBeGreaterThanOrEqual(OUTAGE_MS - 1000);
    for (const { outcome } of watchers)
      expect(outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [code] });
    recover();
    await rig.expectNotPolled(id);
  });

  test('clients that subscribe receive its error code at once, and may subscribe again', async () => {
    const id = rig.addPayment();
    const client = webSocketClient(rig);
    fail();
    const [first, second] = await Promise.all([watchStatus(client, id), watchStatus(client, id)]);
    const refused = { statuses: [], completed: false, codes: [code] };
    expect([first.outcome, second.outcome]).toEqual([refused, refused]);
    recover();
    await until(async () => (await watchStatus(client, id)).statuses.length);
  });
});

describe('An outage', () => {
  test('ends no subscription when SUBSCRIPTION_OUTAGE_SECONDS is 0', async () => {
    const rig = await rigWith({ SUBSCRIPTION_OUTAGE_SECONDS: '0' });
    const id = rig.addPayment();
    const watching = await watchStatus(webSocketClient(rig), id);
    rig.service.respond(() => REFUSED);
    for (let hour = 0; hour < 4; hour += 1) {
      rig.clock.advance(3_600_000);
      await rig.lookedUp(id);
    }
    expect(watching.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    rig.service.respond(() => undefined);
    rig.service.update(id, { status: 'completed' });
    await rig.advanceUntil(() => watching.completed);
  });

  test('is measured from the last successful lookup', async () => {
    const rig = await rigWith();
    const id = rig.addPayment();
    const watching = await watchPayment(webSocketClient(rig), id).received(1);
    for (let turn = 1; turn <= 3; turn += 1) {
      rig.service.respond(() => REFUSED);
      const count = rig.lookups(id) + 5;
      await rig.advanceUntil(() => rig.lookups(id) >= count);
      rig.service.respond(() => undefined);
      rig.service.update(id, { amount: { currency: 'INR', value: `${turn}.00` } });
      await rig.lookedUp(id);
      await watching.received(turn + 1);
    }
    expect(watching.codes).toEqual([]);
  });

  test('ends subscriptions in time when the service sends a longer Retry-After', async () => {
    const rig = await rigWith();
    const id = rig.addPayment();
    const watching = await watchStatus(webSocketClient(rig), id);
    rig.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '36000' } }));
    await rig.lookedUp(id);
    const began = rig.clock.now();
    await rig.advanceUntil(() => watching.errors !== undefined);
    expect(watching.codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect(rig.clock.now() - began).toBeLessThan(3 * OUTAGE_MS);
  });
});

describe('A failing service', () => {
  test('gets lookups with exponential backoff, and at the normal interval afterwards', async () => {
    const rig = await liveRigOn(new SteppedClock(), { env: { SUBSCRIPTION_OUTAGE_SECONDS: '0' } });
    const { clock, service } = rig;
    const id = rig.addPayment({ payment_method: AT_PROVIDER });
    const timesOf = (): number[] => service.lookupsOf(id).map(({ at }) => at);
    await watchStatus(webSocketClient(rig), id);
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
    const rig = await liveRigOn(new SteppedClock());
    const id = rig.addPayment();
    await watchStatus(webSocketClient(rig), id);
    rig.service.respond(() => ({ ...UNAVAILABLE, headers: { 'retry-after': '120' } }));
    await rig.clock.run(3000);
    const refused = rig.lookups(id);
    expect(refused).toBeGreaterThan(1);
    await rig.clock.run(110_000);
    expect(rig.lookups(id)).toBe(refused);
  });

  test('gets no lookups of pollers while the circuit breaker is open', async () => {
    const rig = await liveRig();
    const { service, clock } = rig;
    const ids = Array.from({ length: 60 }, () => rig.addPayment());
    const client = webSocketClient(rig);
    const watchers = await Promise.all(ids.map((id) => watchStatus(client, id)));
    service.respond(() => ({ status: 500, json: {} }));
    const failing = service.requests.length;
    await until(async () => {
      const before = service.requests.length;
      await rig.lookUp(ids[0]!);
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
    expect(watchers.filter(({ errors }) => errors)).toEqual([]);
    service.respond(() => undefined);
    await rig.advanceUntil(() => watchers.every(({ completed }) => completed), 500);
    expect(watchers.map(({ statuses }) => statuses)).toEqual(watchers.map(() => ['PENDING', 'COMPLETED']));
  });
});
