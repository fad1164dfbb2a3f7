import { temporaryFolder } from '../support/cleanup';
import { noPostgres, openStore, type StoreKind } from '../support/stores';
import { chaos } from './chaos';
import { singleDatabase } from './database';

if (noPostgres) console.warn(noPostgres);
const KINDS: StoreKind[] = noPostgres ? ['SQLite'] : ['SQLite', 'PostgreSQL'];

describe('After random calls, faults and kills of gateways,', () => {
  test.each(KINDS)('the recorded calls violate no rule of the exactly-once guarantee (%s)', async (kind) => {
    const store = await openStore(kind);
    try {
      const { judged, failedShutdowns, figures } = await chaos({
        seed: 20261121,
        database: singleDatabase(store),
        folder: temporaryFolder(),
        trafficMs: 4000,
        minCreated: 25,
        callers: 12,
        faultIntervalMs: 1500,
      });
      const { violations } = judged;
      expect({ violations, failedShutdowns }).toEqual({ violations: [], failedShutdowns: [] });
      expect(judged.created).toBeGreaterThanOrEqual(25);
      expect(figures['faults of machine and network']).not.toBe('none');
    } finally {
      await store.drop();
    }
  });
});
