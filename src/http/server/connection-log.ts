import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionObserver } from './connections';

const LOG_INTERVAL_MS = 10_000;

/**
 * Returns an observer of refused and closed connections. It counts them in `metrics`, and logs their number at most
 * every 10 s.
 */
export function loggingConnectionObserver(
  log: Logger,
  clock: Clock,
  metrics: ConnectionObserver,
): ConnectionObserver {
  const counts = new Map<string, number>();
  const count = (reason: string): void => {
    if (counts.size === 0) clock.after(LOG_INTERVAL_MS, logCounts);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  };
  const logCounts = (): void => {
    const facts = { event: 'connections_refused_or_closed', ...Object.fromEntries(counts) };
    log.warn(facts, 'the gateway refused or closed client connections');
    counts.clear();
  };
  return {
    connectionRejected(reason) {
      metrics.connectionRejected(reason);
      count(`refused_${reason}`);
    },
    connectionClosed(reason) {
      metrics.connectionClosed(reason);
      count(`closed_${reason}`);
    },
  };
}
