// Subscribers compared with as many polling clients, each group on its own gateway, at the same time.
import { CHANGE_EVERY_MS, measureRound } from './calls.mjs';
import { sleep } from './clock.mjs';
import { idsOf, payments } from './payments.mjs';
import { oneEach, startSubscribers, startGateway, startPollers } from './harness.mjs';

const SETTLE_MS = 6000;
const ROUNDS = 5;
const POLL_EVERY_MS = 1000;

/** Measures rounds of subscribers and of polling clients. Also returns the total number of rejected polls. */
export async function measurePolling(service, { clients, paymentCount, mix, roundMs }) {
  const ids = idsOf(paymentCount);
  await service.ask({ command: 'seed', payments: payments(paymentCount, mix) });
  const watched = await startGateway(service, 'watched', {});
  const polled = await startGateway(service, 'polled', {});
  const lists = oneEach(clients, ids);
  const crowd = await startSubscribers(watched.url, 'webSocket', lists);
  await crowd.open();
  const pollers = await startPollers(polled.url, lists.flat(), POLL_EVERY_MS);
  const sides = [
    { gateway: watched, crowd },
    { gateway: polled, polls: async () => (await pollers.ask()).polls },
  ];
  await service.ask({ command: 'keepChanging', everyMs: CHANGE_EVERY_MS });
  await sleep(SETTLE_MS);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(service, sides, roundMs));
  await service.ask({ command: 'keepChanging' });
  const { refused } = await pollers.ask();
  await crowd.check();
  for (const part of [pollers, crowd, watched, polled]) await part.stop();
  return { watching: rounds.map(([each]) => each), asking: rounds.map(([, each]) => each), refused };
}
