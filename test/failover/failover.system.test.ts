import { INVARIANTS } from '../chaos/invariants';
import { noCluster } from '../journal/support/private-cluster';
import { MODES, failover } from './failover';

jest.setTimeout(180_000);

(noCluster ? describe.skip : describe)(
  'A primary that is killed under load, and its promoted standby',
  () => {
    /** A short version of `npm run failover`. */
    test.each(MODES)('break no invariant (%s replication)', async (mode) => {
      const options = { seed: 1, mode, beforeMs: 1500, lagMs: 500, afterMs: 1000, callers: 8 };
      const { violations, figures } = await failover(options);
      const nothing = Object.keys(INVARIANTS).map((name) => [name, []]);
      expect(violations).toEqual(Object.fromEntries(nothing));
      // Otherwise the fence has not been tried.
      if (mode === 'asynchronous') expect(Number(figures['attempts lost'])).toBeGreaterThan(0);
    });
  },
);
