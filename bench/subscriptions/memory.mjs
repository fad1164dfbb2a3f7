// What a watcher that waits costs the gateway in memory.
import { sleep } from './clock.mjs';
import { idsOf, NEW, payments } from './payments.mjs';
import { constantPace, oneEach, startCrowd, startGateway } from './harness.mjs';

/** So many come and go before, so that what is loaded and compiled by the first is not counted. */
const WARM_UP = 200;
/** Longer than the time that a client has to say who it is: that timer has to be gone. */
const IDLE_MS = 6000;

/** How the watchers come: what each connection subscribes to. */
const WAYS = {
  'a WebSocket each': { way: 'webSocket', listsOf: oneEach },
  'an event stream each': { way: 'eventStream', listsOf: oneEach },
  'all over one WebSocket': {
    way: 'webSocket',
    listsOf: (watchers, ids) => [oneEach(watchers, ids).flat()],
  },
};

async function measureWay(service, { watchers, ids, way, listsOf }) {
  const gateway = await startGateway(service, 'memory', {
    ...constantPace('60s'),
    // Nobody is pinged while it is measured.
    SUBSCRIPTION_PING_SECONDS: '3600',
  });
  const warmUp = await startCrowd(gateway.url, way, listsOf(Math.min(WARM_UP, watchers), ids));
  await warmUp.open();
  await warmUp.close();
  await sleep(1000);
  const before = await gateway.memory();
  const crowd = await startCrowd(gateway.url, way, listsOf(watchers, ids));
  await crowd.open();
  await sleep(IDLE_MS);
  const after = await gateway.memory();
  await crowd.check();
  for (const part of [warmUp, crowd, gateway]) await part.stop();
  const each = (figure) => (after[figure] - before[figure]) / watchers / 1024;
  return { rss: each('rss'), heapUsed: each('heapUsed'), external: each('external') };
}

/** Kilobytes per watcher, by the way in which they came. */
export async function measureMemory(service, { watchers, paymentCount }) {
  const ids = idsOf(paymentCount);
  await service.ask({ command: 'seed', payments: payments(paymentCount, NEW) });
  const measured = [];
  for (const [name, how] of Object.entries(WAYS))
    measured.push({ name, ...(await measureWay(service, { watchers, ids, ...how })) });
  return measured;
}
