import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { AuditEntry, AuditLog } from '../observability/audit/audit-log';
import type { Config } from '../config';
import { createApp, loadCheck } from '../http/server/app';
import { Connections } from '../http/server/connections';
import type { EventLoopLag } from '../http/server/event-loop-lag';
import { addHealth, type HealthParts } from '../http/server/health';
import { addMetrics } from '../http/server/metrics-route';
import type { Metrics } from '../observability/metrics/metrics';

/** Counts what the web server rejects and responds to. */
export const webListeners = (lag: EventLoopLag, { web, operationEnded }: Metrics) => ({
  checkLoad: loadCheck(lag, () => web.refused('overloaded')),
  unauthenticated: () => web.refused('unauthenticated'),
  noSeat: () => web.refused('no_seat'),
  count: operationEnded,
});

/** Writes a mutation to the audit log and counts it. */
export const recordAndCount =
  (audit: AuditLog, { money }: Metrics) =>
  (entry: AuditEntry): void => {
    audit.record(entry);
    money.moneyCall(entry.operation, entry.outcome, entry.replayed === true);
  };

interface PageParts {
  config: Config;
  metrics: Metrics;
}

/** Adds /metrics, /healthz and /readyz. */
function addMonitoring(app: FastifyInstance, { config, metrics }: PageParts, health: HealthParts): void {
  addHealth(app, health);
  addMetrics(app, { page: () => metrics.page(), token: config.metricsToken?.reveal() ?? null });
}

/** Connections that the server at METRICS_PORT accepts. */
const MAX_METRICS_CONNECTIONS = 32;

/**
 * Adds /metrics, /healthz and /readyz to the gateway's server, or to a server of their own at METRICS_PORT. Health checks
 * are served at both: load balancers use PORT.
 * @returns the server at METRICS_PORT, not yet listening; null without METRICS_PORT
 */
export function createMetricsServer(
  app: FastifyInstance,
  parts: PageParts & { log: Logger },
  health: HealthParts,
): FastifyInstance | null {
  const { config, log } = parts;
  if (config.metricsPort === null) {
    addMonitoring(app, parts, health);
    return null;
  }
  addHealth(app, health);
  const limits = {
    maxConnections: MAX_METRICS_CONNECTIONS,
    maxConnectionsPerAddress: 0,
    trustedProxies: [],
  };
  const connections = new Connections(limits, {
    connectionRefused: () => undefined,
    connectionEnded: () => undefined,
  });
  const { clientTimeoutMs } = config.limits;
  const server = createApp({ log, trustedProxies: [], clientTimeoutMs, connections });
  addMonitoring(server, parts, health);
  return server;
}

/** Connections, subscriptions and buffers of the web server. */
interface OpenResources {
  live: { watchers(): number; connections(): Readonly<Record<string, number>> };
  prepared: { answered: number };
  connections: Connections;
  unread: { bytes: number };
}

/** Registers the gauges of OpenResources. */
export function registerServerGauges(
  { config, metrics }: PageParts,
  { live, prepared, connections, unread }: OpenResources,
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
