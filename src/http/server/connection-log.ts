import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionObserver } from './connections';

const LOG_INTERVAL_MS = 10_000;

/**
 * Returns an observer of refused and closed connections. It counts them in `metricsObserver`, and logs their number at most
 * every 10 s.
 */
export function loggingConnectionObserver(
  log: Logger,
  clock: Clock,
  metricsObserver: ConnectionObserver,
): ConnectionObserver {
  const countByReason = new Map<string, number>();
  const count = (reason: string): void => {
    if (countByReason.size === 0) clock.after(LOG_INTERVAL_MS, logCounts);
    countByReason.set(reason, (countByReason.get(reason) ?? 0) + 1);
  };
  const logCounts = (): void => {
    const logFields = { event: 'connections_refused_or_closed', ...Object.fromEntries(countByReason) };
    log.warn(logFields, 'the gateway refused or closed client connections');
    countByReason.clear();
  };
  return {
    onConnectionRefused(reason) {
      metricsObserver.onConnectionRefused(reason);
      count(`refused_${reason}`);
    },
    onConnectionClosed(reason) {
      metricsObserver.onConnectionClosed(reason);
      count(`closed_${reason}`);
    },
  };
}
