import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionObserver } from './connections';

const CONNECTION_LOG_INTERVAL_MS = 10_000;

/**
 * Returns an observer of refused and closed connections. It counts them in `metricsObserver`, and logs their numbers by
 * reason at most every 10 s.
 */
export function loggingConnectionObserver(
  log: Logger,
  clock: Clock,
  metricsObserver: ConnectionObserver,
): ConnectionObserver {
  const countByLogField = new Map<string, number>();
  const incrementCount = (logField: string): void => {
    if (countByLogField.size === 0) clock.after(CONNECTION_LOG_INTERVAL_MS, logCounts);
    countByLogField.set(logField, (countByLogField.get(logField) ?? 0) + 1);
  };
  const logCounts = (): void => {
    const logFields = { event: 'connections_refused_or_closed', ...Object.fromEntries(countByLogField) };
    log.warn(logFields, 'the gateway refused or closed client connections');
    countByLogField.clear();
  };
  return {
    onConnectionRefused(reason) {
      metricsObserver.onConnectionRefused(reason);
      incrementCount(`refused_${reason}`);
    },
    onConnectionClosed(reason) {
      metricsObserver.onConnectionClosed(reason);
      incrementCount(`closed_${reason}`);
    },
  };
}
