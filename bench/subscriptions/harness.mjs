// What every measurement needs: gateways before one service, and crowds of those who watch.
import { start } from '../journal/processes.mjs';

/** One process can hold no more connections than it has file descriptors. */
const MOST_CONNECTIONS = 5000;
/** What a service takes to answer. */
const LATENCY_MS = 20;

const programOf = (name) => `../subscriptions/${name}-process.mjs`;

export const startService = () => start(programOf('service'), { latencyMs: LATENCY_MS });

/** A gateway before the service, which counts its lookups under its name. */
export async function startGateway(service, name, settings) {
  const gateway = await start(programOf('gateway'), { serviceUrl: `${service.ready}${name}/`, settings });
  return { name, ...gateway.ready, memory: () => gateway.ask(), stop: () => gateway.stop() };
}

export const startPollers = (url, transactionIds, everyMs) =>
  start(programOf('pollers'), { url, transactionIds, everyMs });

/** Those who watch, in as many processes as it takes; each list is what one connection subscribes to. */
export async function startCrowd(url, way, lists) {
  const shares = [];
  for (let from = 0; from < lists.length; from += MOST_CONNECTIONS)
    shares.push(lists.slice(from, from + MOST_CONNECTIONS));
  const parts = await Promise.all(
    shares.map(async (share) => ({ process: await start(programOf('watchers'), {}), share })),
  );
  const ask = (question) => Promise.all(parts.map(({ process }) => process.ask(question)));
  return {
    /** Lets them come, spread over some time; resolves when each has its first result. */
    open: (overMs = 0) =>
      Promise.all(
        parts.map(({ process, share }) => process.ask({ command: 'open', url, way, lists: share, overMs })),
      ),
    /** When the last of all watchers had a version. */
    last: async (version) =>
      Math.max(
        ...(await Promise.all(
          parts.map(({ process, share }) =>
            process.ask({ command: 'last', version, expected: share.length }),
          ),
        )),
      ),
    /** The same for a version that one of them watches. */
    one: (version) => parts[0].process.ask({ command: 'last', version, expected: 1 }),
    results: async () => (await ask({ command: 'results' })).reduce((sum, each) => sum + each, 0),
    /** Throws where any watcher was let down. */
    async check() {
      const faults = await ask({ command: 'faults' });
      const some = faults.flatMap((each) => each.some);
      if (some.length > 0) throw new Error(`Watchers were let down: ${some.join('\n')}`);
    },
    close: () => ask({ command: 'close' }),
    stop: () => Promise.all(parts.map(({ process }) => process.stop())),
  };
}

/** So many watchers over these payments, each with a connection of its own: those of one payment come one after another. */
export const oneEach = (watchers, transactionIds) =>
  Array.from({ length: watchers }, (_, number) => [
    transactionIds[Math.floor((number * transactionIds.length) / watchers)],
  ]);

/** A pace that looks so often whatever the state and the age. */
export const constantPace = (every) => ({
  POLL_INTERVALS_PAYER: every,
  POLL_INTERVALS_PROVIDER: every,
  POLL_INTERVALS_MISPAID: every,
});
