import { reset, silence, status } from './service/faults';
import type { Fault, Purpose } from './service/faulty-service';
import { CHANNEL, type End, type Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeSqlite, newKey, type Rig } from './support/rig';

const LOOK_UP =
  'query ($channel: UUID!, $externalId: String!) { payment(channel: $channel, externalId: $externalId) { __typename } }';

interface Looked {
  ms: number;
  code?: string;
  retryAfterMs?: number;
}

async function lookUp(rig: Rig, externalId = newKey()): Promise<Looked> {
  const startedAt = performance.now();
  const { errors = [] } = await rig.ask(LOOK_UP, { channel: CHANNEL, externalId });
  return { ...errors[0]?.extensions, ms: performance.now() - startedAt };
}

async function timed(call: Promise<End>): Promise<End & { ms: number }> {
  const startedAt = performance.now();
  return { ...(await call), ms: performance.now() - startedAt };
}

/** From now on requests for that are treated so. */
const always = ({ service }: Rig, starts: string, fault: Fault): void =>
  service.plan((purpose: Purpose) => (purpose.startsWith(starts) ? fault : undefined));

const recovered = ({ service }: Rig): void => service.plan(() => undefined);

describeSqlite('A lookup', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: '2500' } });
  });

  const asked = (): number => rig.service.asked('look-up-payment').length;

  test.each([500, 503, 429, 408])('is tried three times when the service answers %i', async (code) => {
    always(rig, 'look-up', { acts: false, reply: status(code) });
    expect(await lookUp(rig)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(asked()).toBe(3);
  });

  test('is tried again when the connection is reset, and then answered', async () => {
    rig.service.next('look-up-payment', { acts: false, reply: reset }, { acts: false, reply: status(502) });
    expect(await lookUp(rig)).not.toHaveProperty('code');
    expect(asked()).toBe(3);
  });

  test.each([400, 401, 404])('is not tried again when the service answers %i', async (code) => {
    always(rig, 'look-up', { acts: false, reply: status(code) });
    await lookUp(rig);
    expect(asked()).toBe(1);
  });

  test('waits for as long as the service asks it to, where its time allows', async () => {
    rig.service.next('look-up-payment', { acts: false, reply: status(503, { 'retry-after': '1' }) });
    const { ms, code } = await lookUp(rig);
    expect(code).toBeUndefined();
    expect(ms).toBeGreaterThanOrEqual(990);
    expect(asked()).toBe(2);
  });

  test('does not wait for longer than its time, but says how long to wait', async () => {
    rig.service.next('look-up-payment', { acts: false, reply: status(503, { 'retry-after': '60' }) });
    const { ms, ...error } = await lookUp(rig);
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterMs: 60_000 });
    expect(ms).toBeLessThan(2500);
    expect(asked()).toBe(1);
  });

  test('ends at its deadline, however often it is tried', async () => {
    rig.service.next('look-up-payment', { acts: false, reply: reset });
    always(rig, 'look-up', { acts: false, reply: silence });
    const { ms, code } = await lookUp(rig);
    expect(code).toBe('SERVICE_TIMEOUT');
    expect(ms).toBeLessThan(2 * 2500);
  });

  test('is tried again only now and then while all lookups fail', async () => {
    always(rig, 'look-up', { acts: false, reply: status(503) });
    await Promise.all(Array.from({ length: 40 }, () => lookUp(rig)));
    // A reserve of ten, and a tenth of the calls.
    expect(asked()).toBeLessThanOrEqual(40 + 10 + 4);
  });
});

describeSqlite('A create', (rigs) => {
  test.each<Kind>(['payment', 'payout'])('of a %s is never tried again because of a status', async (kind) => {
    const rig = await rigs.start();
    for (const code of [408, 425, 429, 500, 503]) {
      const key = newKey();
      rig.service.next(`create-${kind}`, { acts: false, reply: status(code, { 'retry-after': '0' }) });
      await rig.create(kind, key);
      const sent = rig.service.asked(`create-${kind}`).filter(({ json }) => json['description'] === key);
      expect(sent).toHaveLength(1);
    }
  });
});

describeSqlite('A service that does not answer', (rigs) => {
  /** Silence until the gateway no longer tries. */
  async function silenced(): Promise<Rig> {
    const rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: '200' } });
    rig.service.plan(() => ({ acts: false, reply: silence }));
    await Promise.all(Array.from({ length: 25 }, () => lookUp(rig)));
    return rig;
  }

  test('is soon not waited for any more: callers hear at once, and nothing is sent', async () => {
    const rig = await silenced();
    const { length } = rig.service.seen;
    const ends = await Promise.all([
      lookUp(rig).then(({ code }) => ({ error: code })),
      rig.create('payment', newKey()),
      rig.create('payout', newKey()),
    ]);
    expect(ends.map(({ error }) => error)).toEqual(ends.map(() => 'SERVICE_UNAVAILABLE'));
    expect(rig.service.seen).toHaveLength(length);
  });

  test('is tried by one call after a while, and then by all again', async () => {
    const rig = await silenced();
    recovered(rig);
    const hold = gate();
    rig.service.next('look-up-payment', { acts: false, first: hold.opened });
    const before = rig.service.seen.length;
    const probing = until(
      () => Promise.all(Array.from({ length: 20 }, () => lookUp(rig))),
      (ends) => ends.some(({ code }) => code === undefined || code === 'SERVICE_TIMEOUT'),
    );
    await until(
      () => rig.service.seen.length,
      (count) => count > before,
    );
    expect(rig.service.seen).toHaveLength(before + 1);
    hold.open();
    const ends = await probing;
    expect(ends.filter(({ code }) => code === undefined)).not.toEqual([]);
    const key = newKey();
    const end = await until(
      () => rig.create('payment', key),
      ({ error }) => !error,
    );
    expect(end).toMatchObject({ result: 'PaymentSuccess', replayed: false });
  });
});

describeSqlite('A stall of one kind of call', (rigs) => {
  test.each<[Purpose, Kind]>([
    ['create-payout', 'payout'],
    ['create-payment', 'payment'],
  ])('(%s) leaves the others working', async (stalled, kind) => {
    const rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: '5000', PAYOUT_PREFLIGHT: 'off' } });
    const hold = gate();
    always(rig, stalled, { acts: true, first: hold.opened });
    const stuck = Array.from({ length: 150 }, () => rig.create(kind, newKey()));
    await until(
      () => rig.service.asked(stalled).length,
      (count) => count >= 16,
    );
    const other = kind === 'payout' ? 'payment' : 'payout';
    const working = await Promise.all([
      lookUp(rig).then(({ code, ms }) => ({ error: code, ms })),
      timed(rig.create(other, newKey())),
    ]);
    for (const { error, ms } of working) {
      expect(error).toBeUndefined();
      expect(ms).toBeLessThan(5000);
    }
    hold.open();
    const ends = await Promise.all(stuck);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(150);
  });
});
