import { reset, noResponse, status } from '../support/payment-service/faults';
import type { Fault, FaultReply } from '../support/payment-service/fake-payment-service';
import { CHANNEL } from '../support/caller';
import { latch, until } from '../support/latch';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { openStore } from '../support/stores';

const LOOK_UP =
  'query ($channel: UUID!, $externalId: String!) { payment(channel: $channel, externalId: $externalId) { __typename } }';

interface LookupEnd {
  ms: number;
  code?: string;
  retryAfterMs?: number;
}

async function lookUp(harness: Harness, externalId = newKey()): Promise<LookupEnd> {
  const startedAt = performance.now();
  const { errors = [] } = await harness.request(LOOK_UP, { channel: CHANNEL, externalId });
  return { ...errors[0]?.extensions, ms: performance.now() - startedAt };
}

/** Sets the fault of all later requests to endpoints with this prefix. */
const always = ({ service }: Harness, starts: string, fault: Fault): void =>
  service.plan((endpoint) => (endpoint.startsWith(starts) ? fault : undefined));

describeSqlite('A lookup at the payment service', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start();
  });

  const lookups = (): number => harness.service.requestsTo('look-up-payment').length;

  test.each<[times: number, what: string, replies: FaultReply[], code: string | undefined]>([
    [3, 'is 503', [status(503), status(503), status(503)], 'SERVICE_UNAVAILABLE'],
    [3, 'is 429', [status(429), status(429), status(429)], 'SERVICE_UNAVAILABLE'],
    [3, 'is lost, and then 502', [reset, status(502)], undefined],
    [1, 'is 400', [status(400)], 'BAD_USER_INPUT'],
    [1, 'is 401', [status(401)], 'SERVICE_AUTH_FAILED'],
  ])('is sent %i times if the response %s', async (times, _what, replies, code) => {
    harness.service.next('look-up-payment', ...replies.map((reply) => ({ acts: false, reply })));
    expect((await lookUp(harness)).code).toBe(code);
    expect(lookups()).toBe(times);
  });

  test('is retried after the time in Retry-After', async () => {
    harness.service.next('look-up-payment', { acts: false, reply: status(503, { 'retry-after': '1' }) });
    const { ms, code } = await lookUp(harness);
    expect(code).toBeUndefined();
    expect(ms).toBeGreaterThanOrEqual(990);
    expect(lookups()).toBe(2);
  });

  test('is not retried, and returns retryAfterMs, if Retry-After is beyond its deadline', async () => {
    harness.service.next('look-up-payment', { acts: false, reply: status(503, { 'retry-after': '60' }) });
    expect(await lookUp(harness)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterMs: 60_000 });
    expect(lookups()).toBe(1);
  });

  test('fails at its deadline, which includes the retries', async () => {
    const timeoutMs = 6000;
    harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: String(timeoutMs) } });
    const hold = latch();
    harness.service.next('look-up-payment', { acts: false, first: hold.opened, reply: reset });
    always(harness, 'look-up', { acts: false, reply: noResponse });
    const looking = lookUp(harness);
    await until(lookups);
    setTimeout(hold.open, timeoutMs / 2);
    const { ms, code } = await looking;
    expect(code).toBe('SERVICE_TIMEOUT');
    expect(lookups()).toBe(2);
    // A second try with a time limit of its own would end later.
    expect(ms).toBeLessThan(timeoutMs * 1.5);
  });

  test('is retried only within a retry budget while all lookups fail', async () => {
    always(harness, 'look-up', { acts: false, reply: status(503) });
    await Promise.all(Array.from({ length: 40 }, () => lookUp(harness)));
    // The budget is ten retries, and a tenth of the calls.
    expect(lookups()).toBeLessThanOrEqual(40 + 10 + 4);
  });
});

describeSqlite('The circuit breaker', (harnesses) => {
  async function silenced(): Promise<Harness> {
    const harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '1000' } });
    harness.service.plan(() => ({ acts: false, reply: noResponse }));
    await Promise.all(Array.from({ length: 25 }, () => lookUp(harness)));
    return harness;
  }

  test('refuses calls while it is open, and lets at most one probe through', async () => {
    const harness = await silenced();
    const { length } = harness.service.requests;
    const calls = [lookUp(harness), harness.create('payment', newKey()), harness.create('payout', newKey())];
    // On a busy machine a probe may be due.
    const isRefused = (end: { code?: string; error?: string }): boolean =>
      [end.code, end.error].includes('SERVICE_UNAVAILABLE');
    const probes = (await Promise.all(calls)).filter((end) => !isRefused(end)).length;
    expect(probes).toBeLessThanOrEqual(1);
    expect(harness.service.requests).toHaveLength(length + probes);
  });

  test('lets one probe through after a while, and closes when the probe gets a response', async () => {
    const harness = await silenced();
    harness.service.plan(() => undefined);
    const hold = latch();
    harness.service.next('look-up-payment', { acts: false, first: hold.opened });
    const before = harness.service.requests.length;
    const probing = until(
      () => Promise.all(Array.from({ length: 20 }, () => lookUp(harness))),
      (ends) => ends.some(({ code }) => code === undefined || code === 'SERVICE_TIMEOUT'),
    );
    await until(() => harness.service.requests.length > before);
    expect(harness.service.requests).toHaveLength(before + 1);
    hold.open();
    const ends = await probing;
    expect(ends.filter(({ code }) => code === undefined)).not.toEqual([]);
    await until(async () => (await harness.create('payment', newKey())).replayed === false);
  });
});

describeSqlite('A payment service that does not respond', (harnesses) => {
  test.each([
    ['payout', 'payment', 28],
    ['payment', 'payout', 84],
  ] as const)(
    'to creates of a %s blocks no lookups, no replays and no creates of a %s; at most %i creates of one caller are in flight and in the journal',
    async (stalled, other, slots) => {
      const env = { SERVICE_TIMEOUT_MS: '20000', PAYOUT_PREFLIGHT: 'off', RATE_LIMIT_PER_MINUTE: '0' };
      const harness = await harnesses.start({ env, store: await openStore('SQLite') });
      harnesses.closeAtEnd(() => harness.store.drop());
      const earlier = newKey();
      await harness.create(stalled, earlier);
      const hold = latch();
      always(harness, `create-${stalled}`, { acts: true, first: hold.opened });
      const held = Array.from({ length: slots + 40 }, () => harness.create(stalled, newKey()));
      await until(() => harness.service.requestsTo(`create-${stalled}`).length === 1 + slots);
      const started = await harness.store.rows("SELECT id FROM attempts WHERE outcome = 'in_progress'");
      expect(started).toHaveLength(slots);
      expect(await harness.create(stalled, earlier)).toMatchObject({ replayed: true });
      expect(await lookUp(harness)).not.toHaveProperty('code');
      expect(await harness.create(other, newKey())).toMatchObject({ replayed: false });
      hold.open();
      for (const end of await Promise.all(held)) expect(end).toMatchObject({ replayed: false });
    },
  );
});
