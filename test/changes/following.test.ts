import { callBack, CALLBACKS_ONLY, createTransaction } from '../callbacks/support/harness';
import { CHANNEL } from '../support/caller';
import { describeSqlite } from '../support/harness';
import { reset } from '../support/payment-service/faults';
import { advance, advanceUntil, COMPLETED, CONFIRMED, FAILED, Recorded, WAITING } from './support/record';

const FOLLOW = { env: { FOLLOW_DAYS: '1' } };
const DAY_MS = 24 * 60 * 60 * 1000;

describeSqlite('Following transactions', (harnesses) => {
  test.each([
    ['payment', [WAITING, CONFIRMED, 'COMPLETED']],
    ['payout', ['PROCESSING', 'COMPLETED']],
  ] as const)(
    'records each status of a %s that nobody watches, until it is completed',
    async (kind, states) => {
      const recorded = await Recorded.start(harnesses, FOLLOW, kind);
      await expect(recorded.states()).resolves.toEqual(states.slice(0, 1));
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

  test('is resumed by another gateway on the same journal', async () => {
    const first = await Recorded.start(harnesses, FOLLOW);
    await first.harness.close();
    const { service, clock } = first.harness;
    await harnesses.start({ ...FOLLOW, service, clock });
    first.move(FAILED);
    expect(await first.advanceUntil('FAILED')).toEqual([WAITING, 'FAILED']);
  });

  test('ends after FOLLOW_DAYS, but a later lookup still records the change', async () => {
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

  test('is off with FOLLOW_DAYS=0, but a change that a lookup of a caller shows is recorded', async () => {
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
    'has the state of a %s that was looked up after a callback',
    async (kind) => {
      const harness = await harnesses.start({ env: CALLBACKS_ONLY });
      const { entry, callbackUrl } = await createTransaction(harness, kind);
      const recorded = await Recorded.of(harnesses, harness, entry);
      recorded.move(COMPLETED);
      await callBack(harness, callbackUrl);
      expect(await recorded.advanceUntil('COMPLETED')).toHaveLength(2);
    },
  );

  test('has the state that a confirm changed', async () => {
    const recorded = await Recorded.start(harnesses);
    await recorded.harness.confirm(recorded.entry.transactionId);
    expect(await recorded.advanceUntil(CONFIRMED)).toEqual([WAITING, CONFIRMED]);
  });

  test('gets no entry from a response that has no sub-state, and this response triggers no lookup', async () => {
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

  test('begins with what a lookup found, if the response to the create was lost', async () => {
    const harness = await harnesses.start();
    harness.service.next('create-payment', { acts: true, reply: reset });
    const { entry } = await createTransaction(harness);
    const recorded = await Recorded.of(harnesses, harness, entry);
    await expect(recorded.states()).resolves.toEqual([WAITING]);
  });

  test('gets the changes seen during an outage of the journal once the journal can be written again', async () => {
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
