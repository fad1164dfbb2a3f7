// Measures whether service requests depend on the number of subscribers: many subscribers of each payment and one of
// each, with the same service and payments, at the same time.
import { performance } from 'node:perf_hooks';
import { cpuMs, sleep } from './clock.mjs';
import { idsOf, payments } from './payments.mjs';
import { oneEach, startSubscribers, startGateway } from './harness.mjs';

/** Time over which subscribers connect, so that polls of different payments do not coincide. */
const CONNECT_SPREAD_MS = 20_000;
/** Wait after all have connected, until the effects of connecting are over. */
const SETTLE_MS = 6000;
/** Number of rounds; together they last as long as the longest poll interval, so that every payment is polled. */
const ROUNDS = 6;
/** Interval between changes of some payment. */
export const CHANGE_EVERY_MS = 500;

/** Returns the figures of each side so far. */
async function look(service, sides) {
  const counts = await service.ask({ command: 'counts' });
  const at = performance.now();
  return Promise.all(
    sides.map(async ({ gateway, crowd, polls }) => ({
      at,
      lookups: counts[gateway.name] ?? 0,
      cpuMs: cpuMs(gateway.pid),
      results: crowd ? await crowd.results() : await polls(),
    })),
  );
}

/** Measures a round. Returns service requests, CPU and results per second of each side. */
export async function measureRound(service, sides, roundMs) {
  const before = await look(service, sides);
  await sleep(roundMs);
  const after = await look(service, sides);
  return after.map((side, place) => {
    const seconds = (side.at - before[place].at) / 1000;
    const rate = (figure) => (side[figure] - before[place][figure]) / seconds;
    return { lookups: rate('lookups'), cpuPercent: rate('cpuMs') / 10, results: rate('results') };
  });
}

/** Measures rounds of two gateways at once: with many subscribers per payment (`many`) and with one each (`single`). */
export async function measureCalls(service, { name, watchers, paymentCount, mix, settings, roundMs }) {
  const ids = idsOf(paymentCount);
  await service.ask({ command: 'seed', payments: payments(paymentCount, mix) });
  const open = async (side, count) => {
    const gateway = await startGateway(service, `${name}-${side}`, settings);
    const crowd = await startSubscribers(gateway.url, 'webSocket', oneEach(count, ids));
    await crowd.open(CONNECT_SPREAD_MS);
    return { gateway, crowd };
  };
  const sides = await Promise.all([open('many', watchers), open('single', paymentCount)]);
  await service.ask({ command: 'keepChanging', everyMs: CHANGE_EVERY_MS });
  await sleep(SETTLE_MS);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(service, sides, roundMs));
  await service.ask({ command: 'keepChanging' });
  for (const { gateway, crowd } of sides) {
    await crowd.check();
    await crowd.stop();
    await gateway.stop();
  }
  return { many: rounds.map(([many]) => many), single: rounds.map(([, single]) => single) };
}
