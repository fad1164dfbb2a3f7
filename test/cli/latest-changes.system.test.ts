import { Client } from 'pg';
import { LatestChanges } from '../../src/cli/reconcile/latest-changes';
import { describePostgresJournal } from '../journal/support/fixture';
import { COMPLETED, created, observationOf } from '../journal/support/observations';

describePostgresJournal('The latest changes that `paygraph reconcile` reads', (fixture) => {
  test('are read once for all checks that wait for them while a database transaction hides the newest changes', async () => {
    const first = await created(fixture.journal);
    const other = new Client(fixture.store.url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('INSERT INTO changes SELECT * FROM changes LIMIT 0');
    await other.query('SELECT txid_current()');
    await fixture.journal.recordObservation(observationOf(first, COMPLETED));
    using latest = new LatestChanges(fixture.journal, { service: first.service, channel: null, from: 0 });
    const startedAt = Date.now();
    await Promise.all(Array.from({ length: 8 }, () => latest.update()));
    const ms = Date.now() - startedAt;
    await other.query('ROLLBACK');
    await other.end();
    expect(ms).toBeLessThan(6000);
  }, 60_000);
});
