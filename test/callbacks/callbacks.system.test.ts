import { until } from '../support/latch';
import { fakeClock } from '../support/fake-clock';
import { OUTAGES } from '../support/outage';
import { describeStores, newKey } from '../support/harness';
import { openStore } from '../support/stores';
import {
  CALLBACKS_ONLY,
  LOSING_CREATES,
  callBack,
  completedWith,
  loseCreate,
  roundTrip,
  createTransaction,
  ongoingWith,
  untilSucceeded,
  watch,
} from './support/harness';

describeStores('A callback', (harnesses) => {
  test('that arrives 100 times at two instances recovers the unknown outcome of a create with at most 8 lookups', async () => {
    const clock = fakeClock(Date.now());
    const harness = await harnesses.start({ env: LOSING_CREATES, clock });
    const other = await harnesses.start({ env: LOSING_CREATES, clock, service: harness.service });
    const { key, entry, callbackUrl: address } = await loseCreate(harness, 'payment');
    entry.hiddenLookups = 0;
    const before = harness.service.requestsTo('look-up-payment').length;
    await Promise.all(
      Array.from({ length: 100 }, (_, place) => callBack(place % 2 ? harness : other, address)),
    );
    await untilSucceeded(other, key);
    expect(harness.service.requestsTo('look-up-payment').length - before).toBeLessThanOrEqual(8);
    expect(harness.service.created(key)).toHaveLength(1);
  });

  test.each(Object.entries(OUTAGES[harnesses.kind]))(
    'gets a response while %s, and a later callback updates subscribers',
    async (_name, prepare) => {
      const store = await openStore(harnesses.kind);
      harnesses.closeAtEnd(() => store.drop());
      const outage = await prepare(store);
      harnesses.closeAtEnd(() => outage.close());
      const harness = await harnesses.start({ store: outage.store, env: CALLBACKS_ONLY });
      const created = await createTransaction(harness);
      const watching = await watch(harness, created);
      await outage.down();
      for (let count = 0; count < 5; count += 1) await callBack(harness, created.callbackUrl);
      expect(watching.outcome).toEqual(ongoingWith('PROCESSING'));
      await outage.up();
      created.entry.status = 'completed';
      await until(async () => {
        await callBack(harness, created.callbackUrl);
        return watching.completed || watching.errors;
      });
      expect(watching.outcome).toEqual(completedWith('PROCESSING', 'COMPLETED'));
      await until(async () => (await harness.create('payment', newKey())).result === 'PaymentSuccess');
      await roundTrip(harness);
    },
  );

  if (harnesses.kind === 'SQLite') return;

  test('updates subscribers on every instance', async () => {
    const harness = await harnesses.start({ env: CALLBACKS_ONLY });
    const { service, clock } = harness;
    const other = await harnesses.start({ env: CALLBACKS_ONLY, service, clock });
    for (const kind of ['payment', 'payout'] as const) {
      const created = await createTransaction(harness, kind);
      const subscribers = [await watch(harness, created), await watch(other, created)];
      for (const [status, instance] of [
        ['pending', other],
        ['completed', harness],
      ] as const) {
        created.entry.status = status;
        await callBack(instance, created.callbackUrl);
        await until(() => subscribers.every(({ last }) => last?.['status'] === status.toUpperCase()));
      }
      for (const one of subscribers) {
        await one.ended();
        expect(one.outcome).toEqual(completedWith('PROCESSING', 'PENDING', 'COMPLETED'));
      }
    }
  });
});
