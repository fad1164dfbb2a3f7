import { LatestChanges } from '../../src/cli/reconcile/latest-changes';
import { describeJournals } from '../journal/support/fixture';
import { COMPLETED, created, observationOf } from '../journal/support/observations';

describeJournals('The latest changes that `paygraph reconcile` reads', (fixture) => {
  test('are read once for all checks that wait for them', async () => {
    const payment = await created(fixture.journal);
    await fixture.journal.recordObservation(observationOf(payment, COMPLETED));
    const readChanges = jest.spyOn(fixture.journal, 'readChanges');
    using latest = new LatestChanges(fixture.journal, { service: payment.service, channel: null, from: 0 });
    await latest.update();
    readChanges.mockClear();
    await latest.update();
    const readsPerUpdate = readChanges.mock.calls.length;
    readChanges.mockClear();
    const current = latest.update();
    await new Promise(setImmediate);
    await Promise.all([current, ...Array.from({ length: 8 }, () => latest.update())]);
    expect(readChanges.mock.calls.length).toBe(2 * readsPerUpdate);
    expect(latest.find(payment.kind, payment.transactionId)).toMatchObject({ status: 'COMPLETED' });
  });
});
