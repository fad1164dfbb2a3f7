import { randomUUID } from 'node:crypto';
import type { Journal } from '../../src/datasources/journal/journal';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import { until } from '../support/latch';
import { SECRET_KEY, openPatiently } from '../support/gateway';
import { movedClock } from '../support/fake-clock';
import { OUTAGES } from '../support/outage';
import { describeStores, newKey } from '../support/harness';
import { openStore } from '../support/stores';
import {
  HINTED,
  callBack,
  endedAt,
  lose,
  outcome,
  roundTrip,
  sell,
  stillAt,
  untilSucceeded,
  watch,
} from './support/harness';

function recording(journal: Journal, calls: string[]): Journal {
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        calls.push(String(name));
        return Reflect.apply(value, target, given);
      };
    },
  });
}

describeStores('A callback', (rigs) => {
  test('for a lost create may arrive at another instance, hundreds of times, and resolves it once', async () => {
    const clock = movedClock(Date.now());
    const rig = await rigs.start({ env: HINTED, clock });
    const other = await rigs.start({ env: HINTED, clock, service: rig.service });
    const { key, entry, address } = await lose(rig, 'payment');
    entry.hiddenLookups = 0;
    const before = rig.service.requestsTo('look-up-payment').length;
    await Promise.all(Array.from({ length: 100 }, (_, place) => callBack(place % 2 ? rig : other, address)));
    await untilSucceeded(other, key);
    expect(rig.service.requestsTo('look-up-payment').length - before).toBeLessThanOrEqual(8);
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('reads the journal a few times with a good token, and never with another', async () => {
    const calls: string[] = [];
    const rig = await rigs.start({
      env: HINTED,
      clock: movedClock(Date.now()),
      open: async (url) => recording(await openPatiently(url), calls),
    });
    const others = new CallbackTokens('another secret');
    const bad = Array.from({ length: 100 }, () => others.of(randomUUID()));
    calls.length = 0;
    for (const token of [...bad, 'a', 'A'.repeat(43), 'A'.repeat(5000), randomUUID()])
      await callBack(rig, token);
    expect(calls).toEqual([]);
    const token = new CallbackTokens(SECRET_KEY).of(randomUUID());
    for (let count = 0; count < 50; count += 1) await callBack(rig, token);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(4);
    expect(rig.service.requests).toEqual([]);
  });

  test.each(Object.entries(OUTAGES[rigs.kind]))(
    'gets a response while the journal is unreachable (%s), and a later one updates subscribers',
    async (_name, prepare) => {
      const store = await openStore(rigs.kind);
      rigs.closeAtEnd(() => store.drop());
      const outage = await prepare(store);
      rigs.closeAtEnd(() => outage.close());
      const rig = await rigs.start({ store: outage.store, env: HINTED });
      const sold = await sell(rig);
      const watching = await watch(rig, sold);
      await outage.down();
      for (let count = 0; count < 5; count += 1) await callBack(rig, sold.address);
      expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
      await outage.up();
      sold.entry.status = 'completed';
      await until(async () => {
        await callBack(rig, sold.address);
        return watching.completed || watching.errors;
      });
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
      await until(async () => (await rig.create('payment', newKey())).result === 'PaymentSuccess');
      await roundTrip(rig);
    },
  );

  if (rigs.kind === 'SQLite') return;

  test('updates subscribers on every instance', async () => {
    const rig = await rigs.start({ env: HINTED });
    const other = await rigs.start({ env: HINTED, service: rig.service, clock: rig.clock });
    for (const kind of ['payment', 'payout'] as const) {
      const sold = await sell(rig, kind);
      const watchers = [await watch(rig, sold), await watch(other, sold)];
      for (const [status, instance] of [
        ['pending', other],
        ['completed', rig],
      ] as const) {
        sold.entry.status = status;
        await callBack(instance, sold.address);
        await until(() => watchers.every(({ last }) => last?.['status'] === status.toUpperCase()));
      }
      for (const one of watchers) {
        await one.ended();
        expect(outcome(one)).toEqual(endedAt('PROCESSING', 'PENDING', 'COMPLETED'));
      }
    }
  });
});
