import { CHANNEL } from '../support/caller';
import { describeSqlite, newKey } from '../support/harness';
import { advance, advanceUntil, lookUp, openRecord } from './support/record';

const FOLLOW = { FOLLOW_DAYS: '1' };
const DAY_MS = 24 * 60 * 60 * 1000;

describeSqlite('Following transactions', (harnesses) => {
  test.each(['payment', 'payout'] as const)(
    'records each status of a %s that nobody watches, until it is completed',
    async (kind) => {
      const harness = await harnesses.start({ env: FOLLOW });
      const record = await openRecord(harness, harnesses);
      const key = newKey();
      const { transactionId = '' } = await harness.create(kind, key);
      const [entry] = harness.service.created(key);
      const id = String(transactionId);
      const first = kind === 'payment' ? 'PROCESSING WAITING_FOR_UTR' : 'PROCESSING';
      await expect(record.statesOf(id)).resolves.toEqual([first]);
      if (kind === 'payment') {
        entry!.state = 'waiting_for_provider';
        await advanceUntil(
          harness,
          () => record.statesOf(id),
          ({ length }) => length === 2,
        );
      }
      Object.assign(entry!, { status: 'completed', state: null });
      const states = await advanceUntil(
        harness,
        () => record.statesOf(id),
        (all) => all.at(-1) === 'COMPLETED',
      );
      const between = kind === 'payment' ? ['PROCESSING WAITING_FOR_PROVIDER'] : [];
      expect(states).toEqual([first, ...between, 'COMPLETED']);
      await expect(record.followed()).resolves.toBe(0);
      harness.service.takeRequests();
      await advance(harness, 120_000, 2000);
      expect(harness.service.lookupsOf(id)).toEqual([]);
    },
  );

  test('is resumed by another gateway on the same journal', async () => {
    const first = await harnesses.start({ env: FOLLOW });
    const record = await openRecord(first, harnesses);
    const key = newKey();
    const { transactionId } = await first.create('payment', key);
    const id = String(transactionId);
    await first.close();
    const { service, clock } = first;
    const second = await harnesses.start({ env: FOLLOW, service, clock });
    Object.assign(service.created(key)[0]!, { status: 'failed', state: null });
    const states = await advanceUntil(
      second,
      () => record.statesOf(id),
      (all) => all.length > 1,
    );
    expect(states).toEqual(['PROCESSING WAITING_FOR_UTR', 'FAILED']);
  });

  test('ends after FOLLOW_DAYS, but a later lookup still records the change', async () => {
    const harness = await harnesses.start({ env: FOLLOW });
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    const { transactionId } = await harness.create('payment', key);
    const id = String(transactionId);
    await advance(harness, DAY_MS, 10 * 60_000);
    await advanceUntil(
      harness,
      () => record.followed(),
      (followed) => followed === 0,
      60_000,
    );
    harness.service.takeRequests();
    await advance(harness, 60 * 60_000, 60_000);
    expect(harness.service.lookupsOf(id)).toEqual([]);
    Object.assign(harness.service.created(key)[0]!, { status: 'completed', state: null });
    await lookUp(harness, id);
    const states = await advanceUntil(
      harness,
      () => record.statesOf(id),
      ({ length }) => length > 1,
    );
    expect(states.at(-1)).toBe('COMPLETED');
  });

  test('is off with FOLLOW_DAYS=0, but lookups of callers are recorded', async () => {
    const harness = await harnesses.start();
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    const { transactionId } = await harness.create('payment', key);
    const id = String(transactionId);
    harness.service.takeRequests();
    await advance(harness, 60_000);
    expect(harness.service.requests).toEqual([]);
    harness.service.created(key)[0]!.status = 'mispaid';
    await lookUp(harness, id);
    const states = await advanceUntil(
      harness,
      () => record.statesOf(id),
      ({ length }) => length > 1,
    );
    expect(states).toEqual(['PROCESSING WAITING_FOR_UTR', 'MISPAID WAITING_FOR_UTR']);
  });

  test('records nothing of transactions that were not created through the gateway', async () => {
    const harness = await harnesses.start({ env: FOLLOW });
    const record = await openRecord(harness, harnesses);
    const { transactionId } = harness.service.ledger.create(
      'payment',
      { channel: CHANNEL, payment_method: { type: 'upi' } },
      harness.clock.now(),
    );
    await lookUp(harness, transactionId);
    await advance(harness, 10_000);
    await expect(record.statesOf(transactionId)).resolves.toEqual([]);
    expect(harness.service.lookupsOf(transactionId)).toHaveLength(1);
  });
});
