import { make } from '../gateway/fixtures/calls';
import { inPostgres } from '../journal/support/stores';
import { CHANNEL, testGateway } from '../support/gateway';
import { CountedService } from './support/counted-service';
import { liveClient, Watching } from './support/watching';
import { until } from '../changes/support/feeds';

inPostgres((room) => {
  test('A watched payout does not lose what the journal knows of it while the journal is slow', async () => {
    const service = await CountedService.start();
    const gateway = await testGateway(service.url, {
      env: { DATABASE_URL: room.place.url, PAYOUT_PREFLIGHT: 'off', WATCH_PACE_PROVIDER: '200ms' },
    });
    const id = service.payout();
    service.money = () => ({
      status: 201,
      json: { transaction_id: id, status: 'processing', external_id: null },
    });
    const input = {
      idempotencyKey: 'key-slow-journal',
      externalId: 'order-slow-journal',
      channel: CHANNEL,
      amount: { currency: 'BDT', value: '10.00' },
      method: { bkash: { accountNumber: '01711111111' } },
    };
    const { result, text } = await make(gateway, { mutation: 'createPayout', input });
    if (result?.__typename !== 'PayoutSuccess') throw new Error(text);
    const watcher = new Watching(
      liveClient(gateway),
      `subscription { payoutUpdated(channel: "${CHANNEL}", transactionId: "${id}") { ... on PayoutResource { status amount { value } } } }`,
      'payoutUpdated',
    );
    await watcher.told(1);
    const letGo = await room.place.hold();
    try {
      const before = service.count(id);
      await until('it was looked at meanwhile', () => service.count(id) >= before + 3);
    } finally {
      await letGo();
    }
    service.change(id, { status: 'completed' });
    await watcher.ended();
    expect(watcher.values).toEqual([
      { status: 'PROCESSING', amount: { value: '10.00' } },
      { status: 'COMPLETED', amount: { value: '10.00' } },
    ]);
  });
});
