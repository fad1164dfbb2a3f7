// What a second process brings: the gateway with WORKERS=1 and with WORKERS=2, in turn, each free to use both cores.
// Those who ask and the service need the same two cores, so requests per second cannot double here, but for work that
// costs the gateway nearly all there is (`crowd`). What holds on a machine with cores to spare is the processor time of
// a request: two workers on two cores of their own do 2 × (time with one) / (time with two) as much.
import { performance } from 'node:perf_hooks';
import { startGateway } from './gateway.mjs';
import { onBothCores } from './machine.mjs';

export const COUNTS = [1, 2];

/** Each work with its connections and how often it is asked before it is measured. */
const WORKS = {
  one: { connections: 50, warmUp: 20_000 },
  create: { connections: 50, warmUp: 10_000 },
  crowd: { connections: 10, warmUp: 1000 },
};
const WARM_UP_MOST_MS = 20_000;
/** No two runs ask about the same ids. */
const IDS_OF_A_RUN = 2_000_000;
/** Beyond those of the other parts. */
let from = 1_000_000_000;

/** The gateway of the list with so many workers. */
const withWorkers = (entry, count) => ({
  ...entry,
  onAllCores: true,
  start(options) {
    const program = entry.start(options);
    return { ...program, env: { ...program.env, WORKERS: String(count) } };
  },
});

async function measureOnce({ load }, { gateway, work, amount }) {
  const { name } = gateway.entry;
  const { connections } = WORKS[work];
  from += IDS_OF_A_RUN;
  const [cpu, at] = [gateway.cpuMs(), performance.now()];
  const asked = await load.ask({ name, port: gateway.port, work, connections, from, ...amount });
  const used = gateway.cpuMs() - cpu;
  return {
    perSecond: asked.requests / asked.seconds,
    cpuMs: used / asked.requests,
    cores: used / (performance.now() - at),
    p99: asked.p99,
  };
}

/** By work and number of workers, the figures of each round. */
export async function measureWorkers(stage, entry, { rounds, milliseconds, warmUp, works, print }) {
  const results = {};
  const gateways = [];
  const named = Object.keys(WORKS).filter((work) => !works || works.includes(work));
  const measureAll = async () => {
    for (let round = 0; round <= rounds; round += 1) {
      print(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const work of named)
        for (const [place, gateway] of gateways.entries()) {
          // Each worker has to be warm.
          const requests = Math.ceil(WORKS[work].warmUp * warmUp * COUNTS[place]);
          const warm = { requests, milliseconds: COUNTS[place] * WARM_UP_MOST_MS };
          const amount = round === 0 ? warm : { milliseconds };
          const measured = await measureOnce(stage, { gateway, work, amount });
          const ofWork = (results[work] ??= {});
          (ofWork[COUNTS[place]] ??= []).push(...(round === 0 ? [] : [measured]));
        }
    }
  };
  try {
    for (const count of COUNTS)
      gateways.push(await startGateway(withWorkers(entry, count), stage.service.ready, stage.folder));
    await onBothCores([stage.service.pid, stage.load.pid], measureAll);
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
  return { workers: results };
}
