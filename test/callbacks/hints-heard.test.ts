import { describeStores, type Rig } from '../exactly-once/support/rig';
import type { Kind } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import {
  HINTED,
  callBack,
  endedAt,
  lookedUp,
  lookups,
  outcome,
  roundTrip,
  sell,
  shown,
  stillAt,
  tokenIn,
  watch,
} from './support/called-back';

describeStores('Where nobody looks by a schedule, a callback', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: HINTED });
  });

  test.each<[Kind, string, string]>([
    ['payment', 'completed', 'COMPLETED'],
    ['payment', 'failed', 'FAILED'],
    ['payout', 'completed', 'COMPLETED'],
    ['payout', 'failed', 'FAILED'],
  ])('of a %s that is %s reaches who watches it, by one lookup', async (kind, status, seen) => {
    const sold = await sell(rig, kind);
    const watching = await watch(rig, sold);
    expect(lookups(rig, sold)).toBe(1);
    sold.entry.status = status;
    await callBack(rig, sold.address);
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', seen));
    expect(lookups(rig, sold)).toBe(2);
  });

  test('tells of every change, to all who watch, as if there were one', async () => {
    const sold = await sell(rig);
    const all = await Promise.all(Array.from({ length: 20 }, () => watch(rig, sold)));
    const before = lookups(rig, sold);
    sold.entry.status = 'mispaid';
    await callBack(rig, sold.address);
    await Promise.all(all.map((one) => one.sees({ status: 'MISPAID' })));
    expect(lookups(rig, sold)).toBe(before + 1);
    sold.entry.status = 'completed';
    await callBack(rig, sold.address);
    await Promise.all(all.map((one) => one.ended()));
    for (const one of all) expect(outcome(one)).toEqual(endedAt('PROCESSING', 'MISPAID', 'COMPLETED'));
    expect(lookups(rig, sold)).toBe(before + 2);
  });

  test.each<Kind>(['payment', 'payout'])(
    'of a %s that nobody watches costs one lookup and tells nobody',
    async (kind) => {
      const sold = await sell(rig, kind);
      sold.entry.status = 'completed';
      await callBack(rig, sold.address);
      await lookedUp(rig, sold, 1);
      await roundTrip(rig);
      expect(lookups(rig, sold)).toBe(1);
    },
  );

  test('of nothing new is heard by nobody, and costs one lookup', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    await callBack(rig, sold.address);
    await lookedUp(rig, sold, 2);
    await roundTrip(rig);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
    expect(lookups(rig, sold)).toBe(2);
  });

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])(
    'may come by %s as well',
    async (method) => {
      const sold = await sell(rig);
      const watching = await watch(rig, sold);
      sold.entry.status = 'completed';
      const target = rig.url.replace('/graphql', `/callbacks/${tokenIn(sold.address)}?order=1`);
      expect((await fetch(target, { method })).status).toBe(204);
      await watching.ended();
      expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    },
  );

  test('is never believed: neither its state, nor whose it says it is', async () => {
    const [sold, other] = [await sell(rig), await sell(rig)];
    const [watching, elsewhere] = [await watch(rig, sold), await watch(rig, other)];
    for (const [place, entry] of [sold.entry, other.entry].entries()) {
      const lie = { type: 'payment', transaction_id: entry.transactionId, channel: entry.channel };
      const says = {
        ...lie,
        status: 'completed',
        state: null,
        amount: { ...entry.amount, received: '10.00' },
      };
      await callBack(rig, sold.address, JSON.stringify(says));
      await lookedUp(rig, sold, 2 + place);
    }
    await roundTrip(rig);
    expect(await shown(rig, sold)).toBe('PROCESSING');
    expect(await rig.attempt(sold.key)).toMatchObject({ payment: { status: 'PROCESSING' } });
    for (const one of [watching, elsewhere]) expect(outcome(one)).toEqual(stillAt('PROCESSING'));
    expect(lookups(rig, other)).toBe(1);
    const rows = await rig.store.rows(`SELECT status FROM attempts WHERE key = '${sold.key}'`);
    expect(rows).toEqual([{ status: 'processing' }]);
  });

  test('of a payment that is over changes nothing more, and a new watcher is told its end', async () => {
    const sold = await sell(rig);
    const first = await watch(rig, sold);
    sold.entry.status = 'completed';
    await callBack(rig, sold.address);
    await first.ended();
    const before = lookups(rig, sold);
    await callBack(rig, sold.address, '{"status":"failed"}');
    await lookedUp(rig, sold, before + 1);
    const second = await watch(rig, sold);
    await second.ended();
    expect(outcome(first)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    expect(outcome(second)).toEqual(endedAt('COMPLETED'));
  });

  test('of a payment that the service has lost ends nothing', async () => {
    const sold = await sell(rig);
    const watching = await watch(rig, sold);
    sold.entry.hiddenLookups = 1;
    sold.entry.status = 'completed';
    await callBack(rig, sold.address);
    await lookedUp(rig, sold, 2);
    await roundTrip(rig);
    expect(outcome(watching)).toEqual(stillAt('PROCESSING'));
    await callBack(rig, sold.address);
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
  });

  test('finds its way after the gateway was started again', async () => {
    const before = await rigs.start({ env: HINTED });
    const { service, clock } = before;
    const [watched, unwatched] = [await sell(before), await sell(before, 'payout')];
    await before.close();
    const after = await rigs.start({ env: HINTED, service, clock });
    const watching = await watch(after, watched);
    watched.entry.status = 'completed';
    await callBack(after, watched.address);
    await watching.ended();
    expect(outcome(watching)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
    await callBack(after, unwatched.address);
    await lookedUp(after, unwatched, 1);
  });

  if (rigs.kind === 'PostgreSQL')
    test('reaches who watches on another instance', async () => {
      const other = await rigs.start({ env: HINTED, service: rig.service, clock: rig.clock });
      for (const kind of ['payment', 'payout'] as const) {
        const sold = await sell(rig, kind);
        const [here, there] = [await watch(rig, sold), await watch(other, sold)];
        for (const [status, instance] of [
          ['pending', other],
          ['completed', rig],
        ] as const) {
          sold.entry.status = status;
          await callBack(instance, sold.address);
          await until(
            () => [here, there].every(({ last }) => last?.['status'] === status.toUpperCase()),
            Boolean,
          );
        }
        for (const one of [here, there]) {
          await one.ended();
          expect(outcome(one)).toEqual(endedAt('PROCESSING', 'PENDING', 'COMPLETED'));
        }
      }
    });

  if (rigs.kind === 'PostgreSQL')
    test('reaches them also where the instance that is called has nobody who watches', async () => {
      const other = await rigs.start({ env: HINTED, service: rig.service, clock: rig.clock });
      const sold = await sell(rig);
      const there = await watch(other, sold);
      const before = lookups(rig, sold);
      sold.entry.status = 'completed';
      await callBack(rig, sold.address);
      await there.ended();
      expect(outcome(there)).toEqual(endedAt('PROCESSING', 'COMPLETED'));
      // One where the callback came, one where somebody watches.
      expect(lookups(rig, sold)).toBe(before + 2);
    });
});
