import type { Logger } from 'pino';
import type { Clock } from '../../shared/clock';
import type { ConnectionListener } from './connections';

/** One line for all connections that were refused or closed within so many milliseconds. */
const INTERVAL_MS = 10_000;

/** Logs how many connections were refused or closed, by reason, and passes each of them on to the metrics. */
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
    connectionRefused(reason) {
      metrics.connectionRefused(reason);
      count(`refused_${reason}`);
    },
    connectionEnded(reason) {
      metrics.connectionEnded(reason);
      count(`closed_${reason}`);
    },
  };
}
