import { inPostgres } from '../journal/support/stores';
import { CountedService } from './support/counted-service';
import { instanceIn, listening } from './support/instances';
import { askPayment, liveClient, watchPayment } from './support/watching';

inPostgres((room) => {
  test('Two instances whom the service tells different things do not ask it again and again', async () => {
    const service = await CountedService.start();
    const a = await instanceIn(room.place, service.url, { env: { SERVICE_API_KEY: 'key-of-a' } });
    const b = await instanceIn(room.place, service.url, { env: { SERVICE_API_KEY: 'key-of-b' } });
    await listening(room.place.url, 2);
    const id = service.payment();
    const watchers = [a, b].map((gateway) => watchPayment(liveClient(gateway), id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    // As of two copies of the service's data of which one is behind.
    service.instead = ({ query, headers }) =>
      query.includes(id)
        ? {
            status: 200,
            json: {
              ...service.said(id),
              status: headers['x-api-key'] === 'key-of-a' ? 'mispaid' : 'processing',
            },
          }
        : undefined;
    await askPayment(a, id);
    await watchers[0]?.sees({ status: 'MISPAID' });
    const probe = service.payment();
    const onB = watchPayment(liveClient(b), probe);
    await onB.told(1);
    // Ten changes of another payment, each of which has gone from one to the other before the next.
    for (let turn = 1; turn <= 10; turn += 1) {
      const amount = { currency: 'INR', value: '1.00', received: `${turn}.00` };
      service.change(probe, { amount });
      await askPayment(a, probe);
      await onB.sees({ amount: { value: '1.00', received: `${turn}.00` } });
    }
    // The two that began, the one of the caller, and a few that look for what the other has seen.
    expect(service.count(id)).toBeLessThanOrEqual(8);
  });
});
