import { noPostgres, openStore, type StoreKind } from '../support/stores';
import { chaos } from './chaos';
import { INVARIANTS } from './invariants';

jest.setTimeout(180_000);

if (noPostgres) console.warn(noPostgres);
const KINDS: StoreKind[] = noPostgres ? ['SQLite'] : ['SQLite', 'PostgreSQL'];

describe('After random calls, faults and kills', () => {
  /** A short version of `npm run chaos`. */
  test.each(KINDS)('every invariant holds (%s)', async (kind) => {
    const store = await openStore(kind);
    try {
      const report = await chaos({
        seed: 20261121,
        store,
        trafficMs: 4000,
        minCreated: 25,
        recoveryMs: 60_000,
        callers: 12,
        faultIntervalMs: 1500,
      });
      const nothing = Object.keys(INVARIANTS).map((name) => [name, []]);
      expect(report.violations).toEqual(Object.fromEntries(nothing));
      expect(report.figures['machine faults']).not.toBe('none');
    } finally {
      await store.drop();
    }
  });
});
