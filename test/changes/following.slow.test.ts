import { callBack, CALLBACKS_ONLY, createTransaction } from '../callbacks/support/harness';
import { CHANNEL } from '../support/caller';
import { describeSqlite } from '../support/harness';
import { reset } from '../support/payment-service/faults';
import { advance, advanceUntil, COMPLETED, CONFIRMED, FAILED, Recorded, WAITING } from './support/record';
import { until } from '../support/latch';

const FOLLOW = { env: { FOLLOW_DAYS: '1' } };
const DAY_MS = 24 * 60 * 60 * 1000;

/** Waits until states are recorded, because a create may return before its outcome is recorded. */
const firstStates = (recorded: Recorded): Promise<string[]> =>
  until(
    () => recorded.states(),
    ({ length }) => length > 0,
  );

describeSqlite('The transaction follower', (harnesses) => {
  test.each([
    ['payment', [WAITING, CONFIRMED, 'COMPLETED']],
    ['payout', ['PROCESSING', 'COMPLETED']],
  ] as const)(
    'records each status of a %s without subscribers until it is completed',
    async (kind, states) => {
      const recorded = await Recorded.start(harnesses, FOLLOW, kind);
      expect(await firstStates(recorded)).toEqual(states.slice(0, 1));
      if (kind === 'payment') {
        recorded.move({ state: 'waiting_for_provider' });
        await recorded.advanceUntil(CONFIRMED);
      }
      recorded.move(COMPLETED);
      expect(await recorded.advanceUntil('COMPLETED')).toEqual(states);
      await expect(recorded.followed()).resolves.toBe(0);
      recorded.harness.service.takeRequests();
      await advance(recorded.harness, 120_000, 2000);
      expect(recorded.lookups).toBe(0);
    },
  );

  test('records a state again if a crash or failover of the database has lost it', async () => {
    const recorded = await Recorded.start(harnesses, FOLLOW);
    const { store } = recorded.harness;
    await firstStates(recorded);
    await store.rows('CREATE TABLE before_crash AS SELECT * FROM followed_transactions');
    recorded.move({ state: 'waiting_for_provider' });
    await recorded.advanceUntil(CONFIRMED);
    // The commits of changes are not synced, so a crash of PostgreSQL can lose the latest ones.
    await store.rows(`DELETE FROM changes WHERE state = 'WAITING_FOR_PROVIDER'`);
    await store.rows(`UPDATE followed_transactions SET (state, changed_at, observed_at, next_lookup_at) =
      (SELECT state, changed_at, observed_at, next_lookup_at FROM before_crash)`);
    expect(await recorded.advanceUntil(CONFIRMED)).toEqual([WAITING, CONFIRMED]);
  });

  test('continues on another gateway with the same journal', async () => {
    const first = await Recorded.start(harnesses, FOLLOW);
    await first.harness.close();
    const { service, clock } = first.harness;
    await harnesses.start({ ...FOLLOW, service, clock });
    first.move(FAILED);
    expect(await first.advanceUntil('FAILED')).toEqual([WAITING, 'FAILED']);
  });

  test('stops after FOLLOW_DAYS, but a later lookup by a caller still records the change', async () => {
    const recorded = await Recorded.start(harnesses, FOLLOW);
    const { harness } = recorded;
    await advance(harness, DAY_MS, 10 * 60_000);
    await advanceUntil(harness, async () => (await recorded.followed()) === 0, Boolean, 60_000);
    harness.service.takeRequests();
    await advance(harness, 60 * 60_000, 60_000);
    expect(recorded.lookups).toBe(0);
    recorded.move(COMPLETED);
    await recorded.lookUp();
    await recorded.advanceUntil('COMPLETED');
  });

  test('is off when FOLLOW_DAYS is 0, but a lookup by a caller still records the change', async () => {
    const recorded = await Recorded.start(harnesses);
    recorded.harness.service.takeRequests();
    await advance(recorded.harness, 60_000);
    expect(recorded.harness.service.requests).toEqual([]);
    recorded.move({ status: 'mispaid' });
    await recorded.lookUp();
    const mispaid = 'MISPAID WAITING_FOR_UTR';
    expect(await recorded.advanceUntil(mispaid)).toEqual([WAITING, mispaid]);
  });

  test('records nothing about transactions that were not created through the gateway', async () => {
    const harness = await harnesses.start(FOLLOW);
    const body = { channel: CHANNEL, payment_method: { type: 'upi' } };
    const entry = harness.service.ledger.create('payment', body, harness.clock.now());
    const recorded = await Recorded.of(harnesses, harness, entry);
    await recorded.lookUp();
    await advance(harness, 10_000);
    await expect(recorded.states()).resolves.toEqual([]);
    expect(recorded.lookups).toBe(1);
  });
});

describeSqlite('The record of changes', (harnesses) => {
  test.each(['payment', 'payout'] as const)(
    'contains the new state of a %s after a callback',
    async (kind) => {
      const harness = await harnesses.start({ env: CALLBACKS_ONLY });
      const { entry, callbackUrl } = await createTransaction(harness, kind);
      const recorded = await Recorded.of(harnesses, harness, entry);
      recorded.move(COMPLETED);
      await callBack(harness, callbackUrl);
      expect(await recorded.advanceUntil('COMPLETED')).toHaveLength(2);
    },
  );

  test('contains the new state of a payment after a confirm', async () => {
    const recorded = await Recorded.start(harnesses);
    await recorded.harness.confirm(recorded.entry.transactionId);
    expect(await recorded.advanceUntil(CONFIRMED)).toEqual([WAITING, CONFIRMED]);
  });

  test('gets no entry from a confirm response without a state, and the confirm triggers no lookup', async () => {
    const recorded = await Recorded.start(harnesses);
    const { harness } = recorded;
    const { transactionId } = recorded.entry;
    harness.service.takeRequests();
    const json = { transaction_id: transactionId, status: 'processing' };
    harness.service.respond(({ endpoint }) => (endpoint === 'confirm' ? { status: 200, json } : undefined));
    await expect(harness.confirm(transactionId)).resolves.toMatchObject({ result: 'PaymentSuccess' });
    expect(harness.service.requestsTo('look-up-payment')).toEqual([]);
    harness.service.respond(() => undefined);
    recorded.move(FAILED);
    await recorded.lookUp();
    expect(await recorded.advanceUntil('FAILED')).toEqual([WAITING, 'FAILED']);
  });

  test('begins with the state that a lookup found if the response to the create was lost', async () => {
    const harness = await harnesses.start();
    harness.service.next('create-payment', { acts: true, reply: reset });
    const { entry } = await createTransaction(harness);
    const recorded = await Recorded.of(harnesses, harness, entry);
    expect(await firstStates(recorded)).toEqual([WAITING]);
  });

  test('gets the changes that were seen during a journal outage once the journal is writable again', async () => {
    let isFailing = false;
    const recorded = await Recorded.start(harnesses, {
      wrap: (journal) => {
        const recordObservation = journal.recordObservation.bind(journal);
        return Object.assign(journal, {
          recordObservation: (observation: Parameters<typeof recordObservation>[0]) =>
            isFailing ? Promise.reject(new Error('The journal fails.')) : recordObservation(observation),
        });
      },
    });
    isFailing = true;
    recorded.move({ state: 'waiting_for_provider' });
    await expect(recorded.lookUp()).resolves.toMatchObject({ status: 'PROCESSING' });
    recorded.move(COMPLETED);
    await expect(recorded.lookUp()).resolves.toMatchObject({ status: 'COMPLETED' });
    isFailing = false;
    expect(await recorded.advanceUntil('COMPLETED')).toEqual([WAITING, CONFIRMED, 'COMPLETED']);
  });
});
