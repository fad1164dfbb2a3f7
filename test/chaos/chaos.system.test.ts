import { check } from '../history/checker';
import type { HistoryLine } from '../history/format';
import { temporaryFolder } from '../support/cleanup';
import { noPostgres, openStore, type StoreKind } from '../support/stores';
import { chaos } from './chaos';
import { singleDatabase } from './database';

jest.setTimeout(180_000);

if (noPostgres) console.warn(noPostgres);
const KINDS: StoreKind[] = noPostgres ? ['SQLite'] : ['SQLite', 'PostgreSQL'];

describe('After random calls, faults and kills', () => {
  /** A short version of `npm run chaos`. */
  test.each(KINDS)('the history has no violation, but a changed line causes one (%s)', async (kind) => {
    const store = await openStore(kind);
    try {
      const { judged, failedShutdowns, figures } = await chaos({
        seed: 20261121,
        database: singleDatabase(store),
        folder: temporaryFolder(),
        trafficMs: 4000,
        minCreated: 25,
        recoveryMs: 60_000,
        callers: 12,
        faultIntervalMs: 1500,
      });
      const { history, ledger, violations } = judged;
      expect({ violations, failedShutdowns }).toEqual({ violations: [], failedShutdowns: [] });
      expect(figures['faults of machine and network']).not.toBe('none');

      const isChangeFound = (changed: readonly HistoryLine[], entries = ledger): boolean =>
        check(changed, entries).violations.length > 0;
      const place = history.findIndex((line) => line.event === 'ok' && line.result.replayed === false);
      const success = history[place] as HistoryLine & { event: 'ok'; call: number };
      const invocation = history.findIndex((line) => line.event === 'invoke' && line.call === success.call);
      const { transactionId } = success.result;
      const found = [
        isChangeFound(history.toSpliced(invocation, 1)),
        isChangeFound(history.with(place, { ...success, result: { ...success.result, transactionId: 'T' } })),
        isChangeFound(
          history.with(place, { ...success, event: 'fail', result: { type: 'InvalidInputError' } }),
        ),
        isChangeFound(
          history,
          ledger.filter((entry) => entry.transactionId !== transactionId),
        ),
        isChangeFound(history, [...ledger, { ...ledger[0]!, transactionId: 'T' }]),
        isChangeFound(history, [...ledger, { ...ledger[0]!, transactionId: 'T', key: 'K' }]),
      ];
      expect(found).not.toContain(false);
    } finally {
      await store.drop();
    }
  });
});
