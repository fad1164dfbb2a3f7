// Common set-up: gateways in front of one service, and subscribers.
import { start } from '../journal/processes.mjs';

/** Limit per process, because of its file descriptors. */
const MOST_CONNECTIONS = 5000;
/** Response time of the service. */
const LATENCY_MS = 20;

const programOf = (name) => `../subscriptions/${name}-process.mjs`;

export const startService = () => start(programOf('service'), { latencyMs: LATENCY_MS });

/** Starts a gateway; the service counts its lookups under its name. */
export async function startGateway(service, name, settings) {
  const gateway = await start(programOf('gateway'), { serviceUrl: `${service.ready}${name}/`, settings });
  return { name, ...gateway.ready, memory: () => gateway.ask(), stop: () => gateway.stop() };
}

export const startPollers = (url, transactionIds, everyMs) =>
  start(programOf('pollers'), { url, transactionIds, everyMs });

/** Subscribers in as many processes as necessary; each list is what one connection subscribes to. */
export async function startCrowd(url, way, lists) {
  const shares = [];
  for (let from = 0; from < lists.length; from += MOST_CONNECTIONS)
    shares.push(lists.slice(from, from + MOST_CONNECTIONS));
  const parts = await Promise.all(
    shares.map(async (share) => ({ process: await start(programOf('subscribers'), {}), share })),
  );
  const ask = (question) => Promise.all(parts.map(({ process }) => process.ask(question)));
  return {
    /** Connects them, spread over `overMs`; resolves when each has its first result. */
    open: (overMs = 0) =>
      Promise.all(
        parts.map(({ process, share }) => process.ask({ command: 'open', url, way, lists: share, overMs })),
      ),
    /** Time at which the last subscriber received a version. */
    last: async (version) =>
      Math.max(
        ...(await Promise.all(
          parts.map(({ process, share }) =>
            process.ask({ command: 'last', version, expected: share.length }),
          ),
        )),
      ),
    /** Time at which the first subscriber received a version. */
    one: (version) => parts[0].process.ask({ command: 'last', version, expected: 1 }),
    results: async () => (await ask({ command: 'results' })).reduce((sum, each) => sum + each, 0),
    /** Throws if a subscriber failed. */
    async check() {
      const faults = await ask({ command: 'faults' });
      const some = faults.flatMap((each) => each.some);
      if (some.length > 0) throw new Error(`Watchers were let down: ${some.join('\n')}`);
    },
    close: () => ask({ command: 'close' }),
    stop: () => Promise.all(parts.map(({ process }) => process.stop())),
  };
}

/** Subscribers of these payments, each with its own connection; those of one payment are neighbours. */
export const oneEach = (watchers, transactionIds) =>
  Array.from({ length: watchers }, (_, number) => [
    transactionIds[Math.floor((number * transactionIds.length) / watchers)],
  ]);

/** Poll intervals that are the same for every state and age. */
export const constantPace = (every) => ({
  POLL_INTERVALS_PAYER: every,
  POLL_INTERVALS_PROVIDER: every,
  POLL_INTERVALS_MISPAID: every,
});
