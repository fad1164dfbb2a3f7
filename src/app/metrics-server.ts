import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config';
import { createApp } from '../http/server/app';
import { Connections } from '../http/server/connections';
import { addHealth, type HealthParts } from '../http/server/health';
import { addMetrics } from '../http/server/metrics-route';
import type { Metrics } from '../observability/metrics/metrics';

interface MetricsServerParts {
  config: Config;
  metrics: Metrics;
  log: Logger;
}

/** Adds /metrics, /healthz and /readyz. */
function addMonitoring(
  app: FastifyInstance,
  { config, metrics }: MetricsServerParts,
  health: HealthParts,
): void {
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
  parts: MetricsServerParts,
  health: HealthParts,
): FastifyInstance | null {
  const { config, log } = parts;
  if (config.metricsPort === null) {
    addMonitoring(app, parts, health);
    return null;
  }
  addHealth(app, health);
  const connections = new Connections(
    { maxConnections: MAX_METRICS_CONNECTIONS, maxConnectionsPerAddress: 0, trustedProxies: [] },
    { connectionRejected: () => undefined, connectionClosed: () => undefined },
  );
  const { clientTimeoutMs } = config.limits;
  const server = createApp({ log, trustedProxies: [], clientTimeoutMs, connections });
  addMonitoring(server, parts, health);
  return server;
}
