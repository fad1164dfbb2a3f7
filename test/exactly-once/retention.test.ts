import type { Journal, PurgeStep } from '../../src/datasources/journal/journal';
import { openPatiently } from '../support/gateway';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Opens a journal, and puts something before each step of its purge. */
const openWith = (before: (step: PurgeStep) => Promise<unknown>) => async (url: string) => {
  const journal = await openPatiently(url);
  const purgeStep: Journal['purgeStep'] = async (step) => {
    await before(step);
    return journal.purgeStep(step);
  };
  return new Proxy(journal, {
    get: (target, name) => {
      if (name === 'purgeStep') return purgeStep;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
};

describeStores('Retention', (rigs) => {
  const attemptsOf = async ({ store }: Rig): Promise<number> =>
    Number((await store.rows('SELECT count(*) AS count FROM attempts'))[0]?.['count']);
  /** Makes attempts that were settled before all that is kept. */
  const settleLongAgo = async (rig: Rig, count: number): Promise<void> => {
    for (let created = 0; created < count; created += 1) await rig.create('payout', newKey());
    await rig.store.rows("UPDATE attempts SET settled_at = 1 WHERE outcome = 'succeeded'");
  };

  test('deletes attempts that are no longer kept with their reservations, soon after the start', async () => {
    const rig = await rigs.start();
    await settleLongAgo(rig, 2);
    rig.clock.advance(MINUTE);
    await until(
      () => attemptsOf(rig),
      (count) => count === 0,
    );
    expect(await rig.store.rows('SELECT * FROM reservations')).toEqual([]);
    const key = newKey();
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess' });
    rig.clock.advance(2 * 60 * MINUTE);
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    await rig.close();
  });

  test('goes on where it was within a minute of a failure', async () => {
    const steps: PurgeStep[] = [];
    const open = openWith(async (step) => {
      steps.push(step);
      if (steps.length <= 3) throw new Error('The journal does not answer.');
    });
    const rig = await rigs.start({ open });
    await settleLongAgo(rig, 1);
    rig.clock.advance(10 * SECOND);
    for (let failures = 1; failures <= 3; failures += 1) {
      await until(
        () => steps.length,
        (count) => count >= failures,
      );
      // The step has to have failed before its timer is there.
      await new Promise(setImmediate);
      rig.clock.advance(MINUTE);
    }
    await until(
      () => attemptsOf(rig),
      (count) => count === 0,
    );
    await rig.close();
  });

  test('ends with the step under way when the gateway stops', async () => {
    const [begun, held] = [gate(), gate()];
    const steps: PurgeStep[] = [];
    const open = openWith(async (step) => {
      steps.push(step);
      begun.open();
      await held.opened;
    });
    const rig = await rigs.start({ open });
    await settleLongAgo(rig, 1);
    rig.clock.advance(MINUTE);
    await begun.opened;
    let isClosed = false;
    const closed = rig.close().finally(() => (isClosed = true));
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    held.open();
    await closed;
    expect(steps).toHaveLength(1);
    expect(await attemptsOf(rig)).toBe(0);
  });
});
