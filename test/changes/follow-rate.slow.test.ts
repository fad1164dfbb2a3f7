import { describeSqlite, newKey, type Harness } from '../support/harness';
import { advance, advanceUntil, COMPLETED, FAILED, lookupsOf, Recorded, WAITING } from './support/record';

const create = async (harness: Harness, count: number): Promise<string[]> => {
  const created = await Promise.all(Array.from({ length: count }, () => harness.create('payment', newKey())));
  return created.map(({ transactionId }) => String(transactionId));
};

describeSqlite('The lookups of followed transactions', (harnesses) => {
  const follow = (env: Record<string, string> = {}): Promise<Recorded> =>
    Recorded.start(harnesses, { env: { FOLLOW_DAYS: '1', ...env } });

  test('stay within FOLLOW_LOOKUPS_PER_SECOND, and reach every transaction', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '2' } });
    const ids = await create(harness, 20);
    harness.service.takeRequests();
    const startedAt = harness.clock.now();
    await advanceUntil(harness, () => ids.every((id) => harness.service.lookupsOf(id).length > 1));
    const elapsed = (harness.clock.now() - startedAt) / 1000;
    expect(lookupsOf(harness, ids)).toBeLessThanOrEqual(2 * (elapsed + 1));
  });

  test('are more frequent for transactions that changed recently than for older transactions', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '1' } });
    const old = await create(harness, 40);
    await advance(harness, 20 * 60_000, 60_000);
    const young = await create(harness, 40);
    harness.service.takeRequests();
    // Long enough for every old one to be due, because they are due in groups.
    await advanceUntil(harness, () => lookupsOf(harness, old) > 1.5 * old.length);
    expect(lookupsOf(harness, young)).toBeGreaterThan(lookupsOf(harness, old));
  });

  test('have the interval of POLL_INTERVALS_MISPAID for a MISPAID payment, and still record its next change', async () => {
    const recorded = await follow({ POLL_INTERVALS_MISPAID: '60s' });
    recorded.move({ status: 'mispaid', state: null });
    await recorded.advanceUntil('MISPAID');
    recorded.harness.service.takeRequests();
    await advance(recorded.harness, 10 * 60_000, 2000);
    expect(recorded.lookups).toBeLessThanOrEqual(13);
    recorded.move(COMPLETED);
    expect(await recorded.advanceUntil('COMPLETED')).toEqual([WAITING, 'MISPAID', 'COMPLETED']);
  });

  test('are not sent for transactions that callers have just looked up', async () => {
    const recorded = await follow({ POLL_INTERVALS_PAYER: '10s' });
    recorded.harness.service.takeRequests();
    const calls = 30;
    for (let call = 0; call < calls; call += 1) {
      await recorded.lookUp();
      await advance(recorded.harness, 2000);
    }
    expect(recorded.lookups).toBeLessThanOrEqual(calls + 1);
  });

  test('become less frequent while they fail, and record the final state afterwards', async () => {
    const recorded = await follow();
    const { service } = recorded.harness;
    service.respond(({ method }) => (method === 'GET' ? { status: 500 } : undefined));
    service.takeRequests();
    await advance(recorded.harness, 5 * 60_000);
    const failed = recorded.lookups;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(60);
    service.respond(() => undefined);
    recorded.move(FAILED);
    expect(await recorded.advanceUntil('FAILED')).toEqual([WAITING, 'FAILED']);
  });

  test('are not sent before the time in Retry-After', async () => {
    const recorded = await follow();
    const { harness } = recorded;
    const headers = { 'retry-after': '120' };
    harness.service.respond(({ method }) => (method === 'GET' ? { status: 429, headers } : undefined));
    await advanceUntil(harness, () => recorded.lookups > 0);
    await advance(harness, 10_000, 100);
    harness.service.takeRequests();
    await advance(harness, 90_000);
    expect(recorded.lookups).toBe(0);
  });

  test('continue while the service does not find the transaction yet', async () => {
    const recorded = await follow();
    recorded.move({ ...COMPLETED, hiddenLookups: 5 });
    expect(await recorded.advanceUntil('COMPLETED')).toHaveLength(2);
  });
});
