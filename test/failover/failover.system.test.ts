import { noCluster } from '../journal/support/private-cluster';
import { temporaryFolder } from '../support/cleanup';
import { MODES, failover } from './failover';

jest.setTimeout(180_000);

(noCluster ? describe.skip : describe)(
  'A primary that is killed under load, and its promoted standby',
  () => {
    /** A short version of `npm run failover`. */
    test.each(MODES)('leave a history without violations (%s replication)', async (mode) => {
      const folder = temporaryFolder();
      const options = { seed: 1, mode, beforeMs: 1500, lagMs: 500, afterMs: 1000, callers: 8, folder };
      const { judged, figures } = await failover(options);
      expect(judged.violations).toEqual([]);
      // Otherwise the run did not test the fence.
      if (mode === 'asynchronous') expect(figures.lost).toBeGreaterThan(0);
    });
  },
);
