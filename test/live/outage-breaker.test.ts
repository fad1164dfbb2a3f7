import { movedClock } from '../support/moved-clock';
import { testGateway } from '../support/gateway';
import { until } from '../changes/support/feeds';
import { CountedService } from './support/counted-service';
import { askPayment, liveClient, watchPayment } from './support/watching';

test('A service that counts as down is left in peace by watches, and changes are told when it is back', async () => {
  const clock = movedClock();
  const service = await CountedService.start(clock);
  const gateway = await testGateway(service.url, { clock, env: { WATCH_HEARTBEAT_SECONDS: '3600' } });
  const ids = Array.from({ length: 60 }, () => service.payment());
  const client = liveClient(gateway);
  const watchers = ids.map((id) => watchPayment(client, id));
  await Promise.all(watchers.map((watcher) => watcher.told(1)));
  service.instead = () => ({ status: 500, json: {} });
  // Fifty failures in a row, and it counts as down.
  const failing = service.lookups.length;
  await until('it counts as down', async () => {
    const before = service.lookups.length;
    await askPayment(gateway, ids[0]!);
    return service.lookups.length === before;
  });
  expect(service.lookups.length - failing).toBeGreaterThanOrEqual(50);
  for (const id of ids) service.change(id, { status: 'completed' });
  // A minute of sixty watches would be hundreds of calls; those that are made try whether it is back.
  const before = service.lookups.length;
  for (let second = 0; second < 60; second += 1) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(service.lookups.length - before).toBeLessThan(20);
  expect(watchers.filter(({ errors }) => errors)).toEqual([]);
  service.instead = () => undefined;
  await until('all are told', () => {
    clock.advance(500);
    return watchers.every(({ completed }) => completed);
  });
  expect(watchers.map(({ statuses }) => statuses)).toEqual(watchers.map(() => ['PROCESSING', 'COMPLETED']));
});
