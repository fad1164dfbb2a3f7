// Measurements: start-up time, rounds of every workload over all gateways in turn, and memory after many requests.
import { performance } from 'node:perf_hooks';
import { median } from '../journal/stats.mjs';
import { startGateway } from './gateway.mjs';
import { busyMs, GATEWAY_CORE } from './machine.mjs';

/**
 * Workloads with their number of connections and warm-up requests (until the JIT has compiled the hot functions).
 * `create alone` sends one create after another, which shows the latency of a single caller.
 */
export const WORKS = {
  one: { connections: 50, warmUp: 20_000 },
  hot: { connections: 50, warmUp: 20_000 },
  page: { connections: 10, warmUp: 1000 },
  create: { connections: 50, warmUp: 10_000 },
  'create alone': { connections: 1, asks: 'create', warmUp: 500 },
  tiny: { connections: 50, warmUp: 20_000 },
};
/** Maximum duration of a warm-up. */
const MAX_WARM_UP_MS = 20_000;

const SYNCS = 100;

/** Number of ids that are set aside for each run, so that every run uses different ids. */
const IDS_PER_RUN = 2_000_000;
let runs = 0;

export const asks = (work) => WORKS[work].asks ?? work;

/** Whether a gateway supports a workload. */
const can = (entry, work) => entry.requests[asks(work)] !== undefined && (entry.only?.includes(work) ?? true);

async function checkSignatures(service, entry) {
  const { checked, wrong, first } = await service.ask({ command: 'signatures' });
  if (!entry.unsigned && wrong > 0)
    throw new Error(`${entry.name}: ${wrong} of ${checked} requests are badly signed; one has ${first}.`);
}

/** Measures one run of a workload against a gateway that has its core to itself. */
async function measureOnce(stage, gateway, work, amount) {
  const { service, load } = stage;
  const { entry, port } = gateway;
  const { connections } = WORKS[work];
  const look = async () => ({
    cpu: gateway.cpuMs(),
    busy: busyMs(GATEWAY_CORE),
    at: performance.now(),
    counts: await service.ask({ command: 'counts' }),
  });
  runs += 1;
  const before = await look();
  const question = { name: entry.name, port, work: asks(work), connections, from: runs * IDS_PER_RUN };
  const { requests, refused, seconds, p50, p99 } = await load.ask({ ...question, ...amount });
  const after = await look();
  await checkSignatures(service, entry);
  const since = (figure) => after[figure] - before[figure];
  const calls = (kind) => after.counts[kind] - before.counts[kind];
  return {
    requests,
    refused,
    cpuMs: since('cpu') / requests,
    perSecond: requests / seconds,
    p50,
    p99,
    calls: (calls('lookups') + calls('creates')) / requests,
    usedPercent: (100 * since('cpu')) / since('at'),
    strangersPercent: (100 * Math.max(0, since('busy') - since('cpu'))) / since('at'),
  };
}

/** Returns the current duration of a disk sync in the journal's folder, in milliseconds (median). */
const measureSync = (disk) => median(Array.from({ length: SYNCS }, () => disk.append()));

/** Measures rounds of every workload with all gateways in turn, so that disturbances affect all of them alike. */
export async function measureRounds(stage, entries, { works, rounds, milliseconds, warmUp, print }) {
  const results = {};
  const syncMs = [];
  const gateways = [];
  try {
    for (const entry of entries) gateways.push(await startGateway(entry, stage.service.ready, stage.folder));
    for (let round = 0; round <= rounds; round += 1) {
      if (round > 0) syncMs.push(measureSync(stage.disk));
      print(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const work of works) {
        const able = gateways.filter(({ entry }) => can(entry, work));
        const ofWork = (results[work] ??= Object.fromEntries(able.map(({ entry }) => [entry.name, []])));
        for (let place = 0; place < able.length; place += 1) {
          // The order rotates from round to round.
          const gateway = able[(place + round) % able.length];
          const amount = round === 0 ? warmUpOf(work, warmUp) : { milliseconds };
          const measured = await measureOnce(stage, gateway, work, amount);
          ofWork[gateway.entry.name].push(...(round === 0 ? [] : [measured]));
        }
      }
    }
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
  return { rounds: results, syncMs };
}

const warmUpOf = (work, part) => ({
  requests: Math.ceil(WORKS[work].warmUp * part),
  milliseconds: MAX_WARM_UP_MS,
});

/** Measures the time from spawning each program to its first successful response, in milliseconds. */
export async function measureStarts(stage, entries, times) {
  const took = {};
  for (let turn = 0; turn < times; turn += 1)
    for (const entry of entries) {
      const gateway = await startGateway(entry, stage.service.ready, stage.folder);
      await gateway.stop();
      (took[entry.name] ??= []).push(gateway.startMs);
    }
  return took;
}

/** Measures the memory of a gateway in MB: at its first response, and after each of `parts` parts of the requests. */
export async function measureMemory(stage, entry, { requests, parts }) {
  const gateway = await startGateway(entry, stage.service.ready, stage.folder);
  try {
    const held = [gateway.rss()];
    for (let part = 0; part < parts; part += 1) {
      await measureOnce(stage, gateway, 'one', { requests: Math.ceil(requests / parts) });
      held.push(gateway.rss());
    }
    return { requests, held };
  } finally {
    await gateway.stop();
  }
}
