import { describeSqlite, newKey } from '../support/harness';
import { callBack, CALLBACKS_ONLY, createTransaction } from '../callbacks/support/harness';
import { until } from '../support/latch';
import { lookUp, openRecord } from './support/record';

const WAITING = 'PROCESSING WAITING_FOR_UTR';

describeSqlite('The record of changes', (harnesses) => {
  test.each(['payment', 'payout'] as const)(
    'has what a callback made the gateway look up of a %s',
    async (kind) => {
      const harness = await harnesses.start({ env: CALLBACKS_ONLY });
      const record = await openRecord(harness, harnesses);
      const { entry, callbackUrl } = await createTransaction(harness, kind);
      Object.assign(entry, { status: 'completed', state: null });
      await callBack(harness, callbackUrl);
      const states = await until(
        () => record.statesOf(entry.transactionId),
        ({ length }) => length === 2,
      );
      expect(states.at(-1)).toBe('COMPLETED');
    },
  );

  test('has the state that a confirm changed', async () => {
    const harness = await harnesses.start();
    const record = await openRecord(harness, harnesses);
    const { transactionId } = await harness.create('payment', newKey());
    const id = String(transactionId);
    await harness.confirm(id);
    const states = await until(
      () => record.statesOf(id),
      ({ length }) => length === 2,
    );
    expect(states).toEqual([WAITING, 'PROCESSING WAITING_FOR_PROVIDER']);
  });

  test('has no new state for a response without a state, and nothing is looked up for it', async () => {
    const harness = await harnesses.start();
    const record = await openRecord(harness, harnesses);
    const { transactionId } = await harness.create('payment', newKey());
    const id = String(transactionId);
    harness.service.takeRequests();
    const json = { transaction_id: id, status: 'processing' };
    harness.service.respond(({ endpoint }) => (endpoint === 'confirm' ? { status: 200, json } : undefined));
    await expect(harness.confirm(id)).resolves.toMatchObject({ result: 'PaymentSuccess' });
    expect(harness.service.requestsTo('look-up-payment')).toEqual([]);
    harness.service.respond(() => undefined);
    harness.service.ledger.byId('payment', id)!.status = 'failed';
    await lookUp(harness, id);
    const states = await until(
      () => record.statesOf(id),
      (all) => all.at(-1)!.startsWith('FAILED'),
    );
    expect(states).toEqual([WAITING, expect.stringContaining('FAILED')]);
  });

  test('begins with what a lookup found, if the response to the create was lost', async () => {
    const harness = await harnesses.start();
    const record = await openRecord(harness, harnesses);
    const key = newKey();
    harness.service.next('create-payment', {
      acts: true,
      reply: (connection) => connection.socket.destroy(),
    });
    const { transactionId } = await harness.create('payment', key);
    await expect(record.statesOf(String(transactionId))).resolves.toEqual([WAITING]);
  });

  test('has a change once, however many callers see it at the same time', async () => {
    const harness = await harnesses.start();
    const record = await openRecord(harness, harnesses);
    const { transactionId } = await harness.create('payment', newKey());
    const id = String(transactionId);
    harness.service.ledger.byId('payment', id)!.state = 'waiting_for_provider';
    await Promise.all(Array.from({ length: 20 }, () => lookUp(harness, id)));
    Object.assign(harness.service.ledger.byId('payment', id)!, { status: 'completed', state: null });
    await Promise.all(Array.from({ length: 20 }, () => lookUp(harness, id)));
    const states = await until(
      () => record.statesOf(id),
      (all) => all.includes('COMPLETED'),
    );
    expect(states).toEqual([WAITING, 'PROCESSING WAITING_FOR_PROVIDER', 'COMPLETED']);
  });

  test('gets what was seen while the journal failed, when it can be written again', async () => {
    let isFailing = false;
    const harness = await harnesses.start({
      wrap: (journal) => {
        const recordObservation = journal.recordObservation.bind(journal);
        return Object.assign(journal, {
          recordObservation: (observation: Parameters<typeof recordObservation>[0]) =>
            isFailing ? Promise.reject(new Error('The journal fails.')) : recordObservation(observation),
        });
      },
    });
    const record = await openRecord(harness, harnesses);
    const { transactionId } = await harness.create('payment', newKey());
    const id = String(transactionId);
    isFailing = true;
    const entry = harness.service.ledger.byId('payment', id)!;
    entry.state = 'waiting_for_provider';
    await expect(lookUp(harness, id)).resolves.toMatchObject({ status: 'PROCESSING' });
    Object.assign(entry, { status: 'completed', state: null });
    await expect(lookUp(harness, id)).resolves.toMatchObject({ status: 'COMPLETED' });
    isFailing = false;
    const states = await until(
      () => {
        harness.clock.advance(10_000);
        return record.statesOf(id);
      },
      (all) => all.includes('COMPLETED'),
    );
    expect(states).toEqual([WAITING, 'PROCESSING WAITING_FOR_PROVIDER', 'COMPLETED']);
  });
});
