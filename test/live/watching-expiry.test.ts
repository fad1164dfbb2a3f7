import { Issuer, newKey, tokenBy } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { CHANNEL, testGateway } from '../support/gateway';
import { movedClock } from '../support/moved-clock';
import { CountedService } from './support/counted-service';
import { askPayment, liveClient, watchPayment } from './support/watching';

test('A payment is not looked at any more when the token of its last watcher has expired', async () => {
  const clock = movedClock(Date.now());
  const service = await CountedService.start(clock);
  const key = await newKey('RS256');
  const issuer = await Issuer.start(key);
  const gateway = await testGateway(service.url, {
    clock,
    env: { ...issuer.settings, WATCH_HEARTBEAT_SECONDS: '3600' },
  });
  const exp = Math.floor(clock.now() / 1000) + 120;
  const token = await tokenBy(key, { claims: { channels: [CHANNEL], exp } });
  const id = service.payment();
  const watcher = watchPayment(liveClient(gateway, bearer(token).authorization), id);
  await watcher.told(1);
  await service.looksAgain(clock, id);
  for (let round = 0; round < 20 && !watcher.errors; round += 1) {
    clock.advance(60_000);
    await askPayment(gateway, service.payment());
  }
  await watcher.ended();
  expect(watcher.codes).toEqual(['UNAUTHENTICATED']);
  const before = service.count(id);
  for (let minute = 0; minute < 10; minute += 1) {
    clock.advance(60_000);
    await askPayment(gateway, service.payment());
  }
  expect(service.count(id)).toBe(before);
});
