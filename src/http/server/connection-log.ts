import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionListener } from './connections';

const LOG_INTERVAL_MS = 10_000;

/** Returns a listener that counts refused and closed connections in the metrics, and logs the counts at intervals. */
export function connectionLog(log: Logger, clock: Clock, metrics: ConnectionListener): ConnectionListener {
  let counts: Record<string, number> = {};
  const count = (reason: string): void => {
    if (Object.keys(counts).length === 0) clock.after(LOG_INTERVAL_MS, write);
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  const write = (): void => {
    log.warn({ event: 'connections_refused_or_closed', ...counts }, 'client connections refused or closed');
    counts = {};
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
