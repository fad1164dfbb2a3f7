import { Door } from '../changes/support/door';
import { inPostgres } from '../journal/support/stores';
import { until } from '../changes/support/feeds';
import { CountedService } from './support/counted-service';
import { instanceIn, listening } from './support/instances';
import { askPayment, liveClient, watchPayment } from './support/watching';

inPostgres((room) => {
  test('While PostgreSQL is away each instance tells its own watchers, and all of them when it is back', async () => {
    const service = await CountedService.start();
    const door = await Door.to(room.place.url);
    await door.open();
    const a = await instanceIn({ url: door.url }, service.url);
    const b = await instanceIn({ url: door.url }, service.url);
    await listening(room.place.url, 2);
    const id = service.payment();
    const [onA, onB] = [watchPayment(liveClient(a), id), watchPayment(liveClient(b), id)];
    await Promise.all([onA.told(1), onB.told(1)]);
    try {
      await door.shut();
      service.change(id, { status: 'mispaid' });
      await askPayment(a, id);
      await onA.sees({ status: 'MISPAID' });
      expect(onB.outcome).toEqual({ statuses: ['PROCESSING'], completed: false, codes: [] });
      await door.open();
      // What was told meanwhile is lost where the other one is back later: both have to be there.
      await listening(room.place.url, 2);
      service.change(id, { status: 'completed' });
      await askPayment(b, id);
      await Promise.all([onA.ended(), onB.ended()]);
      expect([onA, onB].map(({ statuses }) => statuses.at(-1))).toEqual(['COMPLETED', 'COMPLETED']);
    } finally {
      await door.shut().catch(() => undefined);
    }
  });

  test('While PostgreSQL is away those who watch hear by looking, and new ones may come', async () => {
    const service = await CountedService.start();
    const door = await Door.to(room.place.url);
    await door.open();
    const pace = { env: { WATCH_PACE_PAYER: '200ms', WATCH_PACE_MISPAID: '200ms' } };
    const gateways = [
      await instanceIn({ url: door.url }, service.url, pace),
      await instanceIn({ url: door.url }, service.url, pace),
    ];
    const id = service.payment();
    const watchers = gateways.map((gateway) => watchPayment(liveClient(gateway), id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    await door.shut();
    service.change(id, { status: 'mispaid' });
    await Promise.all(watchers.map((watcher) => watcher.sees({ status: 'MISPAID' })));
    const late = gateways.map((gateway) => watchPayment(liveClient(gateway), id));
    await Promise.all(late.map((watcher) => watcher.sees({ status: 'MISPAID' })));
    service.change(id, { status: 'completed' });
    await until('all have ended', () => [...watchers, ...late].every(({ completed }) => completed));
  });
});
