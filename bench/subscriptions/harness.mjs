// Common set-up: gateways in front of one service, and subscribers.
import { start } from '../journal/processes.mjs';

/** Maximum number of connections per process, because of its limit on file descriptors. */
const MAX_CONNECTIONS_PER_PROCESS = 5000;
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

/** Starts subscribers in as many processes as necessary. Each list has the payments of one connection. */
export async function startSubscribers(url, way, lists) {
  const shares = [];
  for (let from = 0; from < lists.length; from += MAX_CONNECTIONS_PER_PROCESS)
    shares.push(lists.slice(from, from + MAX_CONNECTIONS_PER_PROCESS));
  const parts = await Promise.all(
    shares.map(async (share) => ({ process: await start(programOf('subscribers'), {}), share })),
  );
  const ask = (question) => Promise.all(parts.map(({ process }) => process.ask(question)));
  return {
    /** Connects the subscribers, spread over `overMs`. Resolves when each has its first result. */
    open: (overMs = 0) =>
      Promise.all(
        parts.map(({ process, share }) => process.ask({ command: 'open', url, way, lists: share, overMs })),
      ),
    /** Resolves with the time at which the last subscriber received a version. */
    last: async (version) =>
      Math.max(
        ...(await Promise.all(
          parts.map(({ process, share }) =>
            process.ask({ command: 'last', version, expected: share.length }),
          ),
        )),
      ),
    /** Resolves with the time at which the first subscriber received a version. */
    one: (version) => parts[0].process.ask({ command: 'last', version, expected: 1 }),
    results: async () => (await ask({ command: 'results' })).reduce((sum, each) => sum + each, 0),
    /** Throws if a subscriber failed. */
    async check() {
      const faults = await ask({ command: 'faults' });
      const some = faults.flatMap((each) => each.some);
      if (some.length > 0) throw new Error(`Subscribers received errors: ${some.join('\n')}`);
    },
    close: () => ask({ command: 'close' }),
    stop: () => Promise.all(parts.map(({ process }) => process.stop())),
  };
}

/** Returns lists for startSubscribers: one payment per connection; subscribers of one payment follow each other. */
export const oneEach = (watchers, transactionIds) =>
  Array.from({ length: watchers }, (_, number) => [
    transactionIds[Math.floor((number * transactionIds.length) / watchers)],
  ]);

/** Returns settings with the same poll interval for every state and age. */
export const constantPace = (every) => ({
  POLL_INTERVALS_PAYER: every,
  POLL_INTERVALS_PROVIDER: every,
  POLL_INTERVALS_MISPAID: every,
});
