import type { Kind } from '../exactly-once/support/caller';
import { gate, until } from '../exactly-once/support/gate';
import { OUTAGES } from '../exactly-once/support/outage';
import { describeStores, newKey, type Rig } from '../exactly-once/support/rig';
import { openStore } from '../exactly-once/support/stores';
import { hangUp, reset, silence } from '../exactly-once/service/faults';
import { movedClock } from '../support/moved-clock';
import {
  HINTED,
  addressOf,
  callBack,
  endedAt,
  lookups,
  outcome,
  roundTrip,
  sell,
  stillAt,
  watch,
} from './support/called-back';

describeStores('When the answer to a create is lost, a callback', (rigs) => {
  /** Creates something that no lookup shows, so that nobody knows whether it was created. */
  async function lose(rig: Rig, kind: Kind, reply = reset) {
    const key = newKey();
    rig.service.ledger.lag = { ms: 0, lookups: 1000 };
    rig.service.next(`create-${kind}`, { acts: true, reply });
    expect(await rig.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
    rig.service.ledger.lag = { ms: 0, lookups: 0 };
    const [entry] = rig.service.created(key);
    return { key, kind, entry: entry!, address: addressOf(rig, key) };
  }

  const untilSucceeded = (rig: Rig, key: string) =>
    until(
      () => rig.attempt(key),
      (attempt) => attempt?.outcome === 'SUCCEEDED',
    );

  test.each<[Kind, string, typeof reset]>([
    ['payment', 'was cut off', reset],
    ['payment', 'never came', silence],
    ['payout', 'was cut off', reset],
    ['payout', 'ended at once', hangUp],
  ])('makes the gateway find the %s out at once, where the answer %s', async (kind, _how, reply) => {
    // Nothing that is done now and then is done while this clock stands.
    const rig = await rigs.start({ env: HINTED, clock: movedClock(Date.now()) });
    const { key, entry, address } = await lose(rig, kind, reply);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', [kind]: null });
    entry.hiddenLookups = 0;
    entry.status = 'completed';
    await callBack(rig, address);
    const { transactionId } = entry;
    expect(await untilSucceeded(rig, key)).toMatchObject({ [kind]: { transactionId, status: 'COMPLETED' } });
    expect(await rig.create(kind, key)).toMatchObject({ replayed: true, transactionId, status: 'COMPLETED' });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('that comes before any lookup shows it leaves it unknown, and the next finds it', async () => {
    const clock = movedClock(Date.now());
    const rig = await rigs.start({ env: HINTED, clock });
    const { key, entry, address } = await lose(rig, 'payment');
    const before = rig.service.asked('look-up-payment').length;
    await callBack(rig, address, '{"status":"completed"}');
    await until(() => rig.service.asked('look-up-payment').length > before, Boolean);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', payment: null });
    entry.hiddenLookups = 0;
    await callBack(rig, address);
    await until(async () => {
      // The two came within half a second of this clock.
      clock.advance(100);
      return (await rig.attempt(key))?.outcome === 'SUCCEEDED';
    }, Boolean);
  });

  test('may come to another instance, and by hundreds: it is found once', async () => {
    const clock = movedClock(Date.now());
    const rig = await rigs.start({ env: HINTED, clock });
    const other = await rigs.start({ env: HINTED, clock, service: rig.service });
    const { key, entry, address } = await lose(rig, 'payment');
    entry.hiddenLookups = 0;
    const before = rig.service.asked('look-up-payment').length;
    await Promise.all(Array.from({ length: 100 }, (_, place) => callBack(place % 2 ? rig : other, address)));
    await untilSucceeded(other, key);
    expect(rig.service.asked('look-up-payment').length - before).toBeLessThanOrEqual(8);
    expect(rig.service.created(key)).toHaveLength(1);
  });
});

describeStores('A callback that comes before the answer to the create', (rigs) => {
  test.each<Kind>(['payment', 'payout'])('of a %s breaks nothing, and its end arrives', async (kind) => {
    const rig = await rigs.start({ env: HINTED });
    const key = newKey();
    const [called, answered] = [gate(), gate()];
    rig.service.next(`create-${kind}`, {
      acts: true,
      reply: (connection, answer) => {
        rig.service.created(key)[0]!.status = 'completed';
        called.open();
        // What it says is older than the callback.
        void answered.opened.then(() => connection.send(answer));
      },
    });
    const created = rig.create(kind, key);
    await called.opened;
    const address = addressOf(rig, key);
    for (let times = 0; times < 3; times += 1) await callBack(rig, address);
    answered.open();
    const [entry] = rig.service.created(key);
    const { transactionId } = entry!;
    expect(await created).toMatchObject({ replayed: false, transactionId, status: 'PROCESSING' });
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
    const watching = await watch(rig, { kind, entry: entry! });
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('COMPLETED'));
  });
});

describeStores('While the service is down, callbacks', (rigs) => {
  test.each<Kind>(['payment', 'payout'])(
    'of a %s end nothing, and afterwards they are heard',
    async (kind) => {
      const rig = await rigs.start({ env: HINTED });
      const sold = await sell(rig, kind);
      const watching = await watch(rig, sold);
      await rig.service.close();
      for (let times = 0; times < 5; times += 1) await callBack(rig, sold.address);
      expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
      await rig.service.listen();
      sold.entry.status = 'completed';
      await until(async () => {
        await callBack(rig, sold.address);
        return watching.completed || watching.errors;
      }, Boolean);
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
      expect(lookups(rig, sold)).toBeGreaterThan(1);
    },
  );

  test('that come to nothing do not stand in the way of the schedule', async () => {
    const clock = movedClock(Date.now());
    const rig = await rigs.start({ env: { ...HINTED, WATCH_PACE_PAYER: '5s' }, clock });
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    await rig.service.close();
    await callBack(rig, sold.address);
    await rig.service.listen();
    sold.entry.status = 'completed';
    await until(() => {
      clock.advance(500);
      return watching.completed || watching.errors;
    }, Boolean);
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });
});

describeStores('While the journal cannot be reached', (rigs) => {
  test.each(Object.entries(OUTAGES[rigs.kind]))(
    '(%s) callbacks are answered, watchers stay, and afterwards they hear',
    async (_name, prepare) => {
      const store = await openStore(rigs.kind);
      rigs.closeAtEnd(() => store.drop());
      const outage = await prepare(store);
      rigs.closeAtEnd(() => outage.close());
      const rig = await rigs.start({ store: outage.store, env: HINTED });
      const sold = await sell(rig);
      const watching = await watch(rig, sold);
      await outage.down();
      for (let times = 0; times < 5; times += 1) await callBack(rig, sold.address);
      expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
      await outage.up();
      sold.entry.status = 'completed';
      await until(async () => {
        await callBack(rig, sold.address);
        return watching.completed || watching.errors;
      }, Boolean);
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
      await until(async () => (await rig.create('payment', newKey())).result === 'PaymentSuccess', Boolean);
      await roundTrip(rig);
    },
  );
});
