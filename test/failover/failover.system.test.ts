import { noCluster } from '../journal/support/private-cluster';
import { temporaryFolder } from '../support/cleanup';
import { MODES, failover } from './failover';

(noCluster ? describe.skip : describe)(
  'A primary that is killed under load, and its promoted standby',
  () => {
    test.each(MODES)('leave a history without violations (%s replication)', async (mode) => {
      const { judged, figures } = await failover({ seed: 1, mode, folder: temporaryFolder() });
      expect(judged.violations).toEqual([]);
      // Otherwise the run did not test the fence.
      if (mode === 'asynchronous') expect(figures.lost).toBeGreaterThan(0);
    });
  },
);
