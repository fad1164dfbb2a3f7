import type { FastifyInstance } from 'fastify';
import type { AuditEntry, AuditLog } from './audit/audit-log';
import type { Config } from './config';
import { loadCheck } from './http/app';
import type { Connections } from './http/connections';
import type { EventLoopLag } from './http/event-loop-lag';
import { addMetrics } from './http/metrics-route';
import type { Metrics } from './metrics/metrics';
import type { Siblings } from './siblings';

/** How the web server tells the metrics what it refuses and what it has answered. */
export const webListeners = (lag: EventLoopLag, { web, operationEnded }: Metrics) => ({
  checkLoad: loadCheck(lag, () => web.refused('overloaded')),
  unauthenticated: () => web.refused('unauthenticated'),
  noSeat: () => web.refused('no_seat'),
  count: operationEnded,
});

/** Puts a call on record, and counts it. */
export const recordAndCount =
  (audit: AuditLog, { money }: Metrics) =>
  (entry: AuditEntry): void => {
    audit.record(entry);
    money.moneyCall(entry.operation, entry.outcome, entry.replayed === true);
  };

interface PageParts {
  config: Config;
  metrics: Metrics;
  /** The other workers, where this is one of several: the page shows all of them together. */
  siblings?: Siblings | undefined;
}

/** Adds /metrics. */
export function addMetricsPage(app: FastifyInstance, { config, metrics, siblings }: PageParts): void {
  siblings?.reportWith(() => metrics.report());
  addMetrics(app, {
    page: () => metrics.page(siblings && ((own) => siblings.exchangeReports(own))),
    token: config.metricsToken?.reveal() ?? null,
  });
}

/** What a web server holds open. */
interface Held {
  live: { watchers(): number; connections(): Readonly<Record<string, number>> };
  prepared: { answered: number };
  connections: Connections;
  unread: { bytes: number };
}

/** Shows what the web server holds open. */
export function showHeld(
  { config, metrics }: PageParts,
  { live, prepared, connections, unread }: Held,
): void {
  metrics.showWeb({
    watchers: live.watchers,
    maxWatchers: config.live.maxWatchers,
    liveConnections: live.connections,
    connections: () => connections.size,
    maxConnections: connections.max,
    unreadBytes: () => unread.bytes,
    preparedOperations: () => prepared.answered,
  });
}
