import { noCluster } from '../journal/support/private-cluster';
import { temporaryFolder } from '../support/cleanup';
import { MODES, failover } from './failover';

(noCluster ? describe.skip : describe)('The failover of PostgreSQL to a standby, under load,', () => {
  test.each(MODES)('violates no rule of the exactly-once guarantee (%s replication)', async (mode) => {
    const { judged, figures } = await failover({ seed: 1, mode, folder: temporaryFolder() });
    expect(judged.violations).toEqual([]);
    // Otherwise the run did not test the fence.
    if (mode === 'asynchronous') expect(figures.lost).toBeGreaterThan(0);
  });
});
