// Whether the service sees how many watch: many watchers of each payment, and one of each, before the same service over
// the same payments at the same time.
import { performance } from 'node:perf_hooks';
import { cpuMs, sleep } from './clock.mjs';
import { idsOf, payments } from './payments.mjs';
import { oneEach, startCrowd, startGateway } from './harness.mjs';

/** So long do those who watch take to come: payments that were all looked at in one moment would be so for minutes. */
const COMING_MS = 20_000;
/** Until what those who come cause has passed. */
const SETTLE_MS = 6000;
/** All of them together are as long as the slowest step of the schedule: each payment then has its looks, wherever they fall. */
const ROUNDS = 6;
/** How often some payment changes meanwhile. */
export const CHANGE_EVERY_MS = 500;

/** The figures of each side so far. */
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

/** What each side asks of the service, uses of the processor and sends to those who watch, in each second of a round. */
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

/** The rounds of the gateway that many watch and of the one where each payment has a single watcher. */
export async function measureCalls(service, { name, watchers, paymentCount, mix, settings, roundMs }) {
  const ids = idsOf(paymentCount);
  await service.ask({ command: 'seed', payments: payments(paymentCount, mix) });
  const open = async (side, count) => {
    const gateway = await startGateway(service, `${name}-${side}`, settings);
    const crowd = await startCrowd(gateway.url, 'webSocket', oneEach(count, ids));
    await crowd.open(COMING_MS);
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
