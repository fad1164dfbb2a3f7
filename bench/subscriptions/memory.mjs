// Memory of the gateway per idle subscriber.
import { sleep } from './clock.mjs';
import { idsOf, NEW, payments } from './payments.mjs';
import { constantPace, oneEach, startSubscribers, startGateway } from './harness.mjs';

/** Subscribers that connect and disconnect before the measurement, so that loading and compiling code is not counted. */
const WARM_UP = 200;
/** Wait that is longer than the timeout for connection_init, so that its timers have ended. */
const IDLE_MS = 6000;

/** Ways of connecting: what each connection subscribes to. */
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
    // Prevents pings during the measurement.
    SUBSCRIPTION_PING_SECONDS: '3600',
  });
  const warmUp = await startSubscribers(gateway.url, way, listsOf(Math.min(WARM_UP, watchers), ids));
  await warmUp.open();
  await warmUp.close();
  await sleep(1000);
  const before = await gateway.memory();
  const crowd = await startSubscribers(gateway.url, way, listsOf(watchers, ids));
  await crowd.open();
  await sleep(IDLE_MS);
  const after = await gateway.memory();
  await crowd.check();
  for (const part of [warmUp, crowd, gateway]) await part.stop();
  const each = (figure) => (after[figure] - before[figure]) / watchers / 1024;
  return { rss: each('rss'), heapUsed: each('heapUsed'), external: each('external') };
}

/** Measures kilobytes per subscriber, by way of connecting. */
export async function measureMemory(service, { watchers, paymentCount }) {
  const ids = idsOf(paymentCount);
  await service.ask({ command: 'seed', payments: payments(paymentCount, NEW) });
  const measured = [];
  for (const [name, how] of Object.entries(WAYS))
    measured.push({ name, ...(await measureWay(service, { watchers, ids, ...how })) });
  return measured;
}
