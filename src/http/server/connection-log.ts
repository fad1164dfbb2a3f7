import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionListener } from './connections';

/** The interval of log lines, in milliseconds. */
const INTERVAL_MS = 10_000;

/** Counts refused and closed connections in the metrics, and logs their numbers by reason at intervals. */
export function connectionLog(log: Logger, clock: Clock, metrics: ConnectionListener): ConnectionListener {
  let counts: Record<string, number> = {};
  const count = (reason: string): void => {
    if (Object.keys(counts).length === 0) clock.after(INTERVAL_MS, write);
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
