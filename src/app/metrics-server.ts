import type { FastifyInstance } from 'fastify';
import { createApp } from '../http/server/app';
import { Connections } from '../http/server/connections';
import { addHealthRoutes, type HealthSources } from '../http/server/health';
import { addMetricsRoute } from '../http/server/metrics-route';
import type { SharedDependencies } from './shared-dependencies';

const MAX_METRICS_CONNECTIONS = 32;

/**
 * Adds /healthz and /readyz to the gateway's server. Adds /metrics to the same server or, if METRICS_PORT is set, to a
 * separate server, which also has /healthz and /readyz.
 * @returns the server for METRICS_PORT, which is not listening yet; null if METRICS_PORT is not set
 */
export function addHealthAndMetrics(
  app: FastifyInstance,
  { config, log, metrics }: SharedDependencies,
  healthSources: HealthSources,
): FastifyInstance | null {
  const metricsRouteOptions = {
    render: () => metrics.renderMetrics(),
    token: config.metricsToken?.reveal() ?? null,
  };
  addHealthRoutes(app, healthSources);
  if (config.metricsPort === null) {
    addMetricsRoute(app, metricsRouteOptions);
    return null;
  }
  const connections = new Connections(
    { maxConnections: MAX_METRICS_CONNECTIONS, maxConnectionsPerAddress: 0, trustedProxies: [] },
    { onConnectionRefused: () => undefined, onConnectionClosed: () => undefined },
  );
  const { clientTimeoutMs } = config.limits;
  const server = createApp({ log, trustedProxies: [], clientTimeoutMs, connections });
  addHealthRoutes(server, healthSources);
  addMetricsRoute(server, metricsRouteOptions);
  return server;
}
