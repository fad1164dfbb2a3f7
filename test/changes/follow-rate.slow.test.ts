import { describeSqlite, newKey, type Harness } from '../support/harness';
import { advance, advanceUntil, lookUp, openRecord } from './support/record';

const create = async (harness: Harness, count: number): Promise<string[]> => {
  const created = await Promise.all(Array.from({ length: count }, () => harness.create('payment', newKey())));
  return created.map(({ transactionId }) => String(transactionId));
};

/** Returns how many lookups of these transactions the service has received. */
const lookupsOf = ({ service }: Harness, ids: readonly string[]): number =>
  ids.reduce((sum, id) => sum + service.lookupsOf(id).length, 0);

describeSqlite('The lookups of followed transactions', (harnesses) => {
  test('stay within FOLLOW_LOOKUPS_PER_SECOND, and reach every transaction', async () => {
    const env = { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '2' };
    const harness = await harnesses.start({ env });
    const ids = await create(harness, 20);
    harness.service.takeRequests();
    const startedAt = harness.clock.now();
    await advanceUntil(
      harness,
      () => Math.min(...ids.map((id) => harness.service.lookupsOf(id).length)),
      (fewest) => fewest > 1,
    );
    const elapsed = (harness.clock.now() - startedAt) / 1000;
    expect(lookupsOf(harness, ids)).toBeLessThanOrEqual(2 * (elapsed + 1));
  });

  test('are mostly of transactions that changed lately, but also of older ones', async () => {
    const env = { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '1' };
    const harness = await harnesses.start({ env });
    const old = await create(harness, 40);
    await advance(harness, 20 * 60_000, 60_000);
    const young = await create(harness, 40);
    harness.service.takeRequests();
    await advanceUntil(
      harness,
      () => lookupsOf(harness, old),
      (ofOld) => ofOld > 5,
    );
    expect(lookupsOf(harness, young)).toBeGreaterThan(lookupsOf(harness, old));
  });

  test('are rare for a MISPAID payment, whose next change is recorded', async () => {
    const env = { FOLLOW_DAYS: '1', POLL_INTERVALS_MISPAID: '60s' };
    const harness = await harnesses.start({ env });
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    const { transactionId } = await harness.create('payment', key);
    const id = String(transactionId);
    const [entry] = harness.service.created(key);
    Object.assign(entry!, { status: 'mispaid', state: null });
    await advanceUntil(
      harness,
      () => record.statesOf(id),
      ({ length }) => length === 2,
    );
    harness.service.takeRequests();
    await advance(harness, 10 * 60_000, 2000);
    expect(lookupsOf(harness, [id])).toBeLessThanOrEqual(13);
    entry!.status = 'completed';
    const states = await advanceUntil(
      harness,
      () => record.statesOf(id),
      ({ length }) => length === 3,
    );
    expect(states).toEqual(['PROCESSING WAITING_FOR_UTR', 'MISPAID', 'COMPLETED']);
  });

  test('are not sent for what callers have just looked up', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1', POLL_INTERVALS_PAYER: '10s' } });
    const [id = ''] = await create(harness, 1);
    harness.service.takeRequests();
    const calls = 30;
    for (let call = 0; call < calls; call += 1) {
      await lookUp(harness, id);
      await advance(harness, 2000);
    }
    expect(lookupsOf(harness, [id])).toBeLessThanOrEqual(calls + 1);
  });

  test('become rarer while they fail, and find the last state afterwards', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1' } });
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    const { transactionId } = await harness.create('payment', key);
    const id = String(transactionId);
    harness.service.respond(({ method }) => (method === 'GET' ? { status: 500 } : undefined));
    harness.service.takeRequests();
    await advance(harness, 5 * 60_000);
    const failed = lookupsOf(harness, [id]);
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(60);
    harness.service.respond(() => undefined);
    Object.assign(harness.service.created(key)[0]!, { status: 'failed', state: null });
    const states = await advanceUntil(
      harness,
      () => record.statesOf(id),
      (all) => all.at(-1) === 'FAILED',
    );
    expect(states).toEqual(['PROCESSING WAITING_FOR_UTR', 'FAILED']);
  });

  test('wait for the Retry-After of the service', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1' } });
    const [id = ''] = await create(harness, 1);
    const headers = { 'retry-after': '120' };
    harness.service.respond(({ method }) => (method === 'GET' ? { status: 429, headers } : undefined));
    await advanceUntil(
      harness,
      () => lookupsOf(harness, [id]),
      (count) => count > 0,
    );
    await advance(harness, 10_000, 100);
    harness.service.takeRequests();
    await advance(harness, 90_000);
    expect(lookupsOf(harness, [id])).toBe(0);
  });

  test('go on while the service does not find the transaction yet', async () => {
    const harness = await harnesses.start({ env: { FOLLOW_DAYS: '1' } });
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    const { transactionId } = await harness.create('payment', key);
    const id = String(transactionId);
    Object.assign(harness.service.created(key)[0]!, { status: 'completed', state: null, hiddenLookups: 5 });
    const states = await advanceUntil(
      harness,
      () => record.statesOf(id),
      ({ length }) => length === 2,
    );
    expect(states.at(-1)).toBe('COMPLETED');
  });
});
