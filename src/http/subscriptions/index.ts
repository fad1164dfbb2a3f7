import type { FastifyInstance } from 'fastify';
import type { GraphqlDependencies } from '../graphql/dependencies';
import { QuotaLimiter } from './quota-limiter';
import { SharedInterval } from './shared-interval';
import { SseHandler } from './sse-handler';
import { SubscriptionService, type SubscriptionOptions } from './subscription-service';
import { WebSocketHandler } from './websocket-handler';

/** Serves subscriptions over WebSocket and server-sent events (SSE), with the same checks and limits. */
export function startSubscriptions(
  app: FastifyInstance,
  dependencies: GraphqlDependencies,
  options: SubscriptionOptions & {
    /** Interval of pings, in milliseconds. */
    heartbeatMs: number;
  },
) {
  const heartbeatInterval = new SharedInterval(options.clock, options.heartbeatMs);
  const service = new SubscriptionService(dependencies, options);
  const sse = new SseHandler(service, heartbeatInterval);
  const connectionQuota = new QuotaLimiter(options.limits);
  const webSockets = new WebSocketHandler(dependencies, { service, heartbeatInterval, connectionQuota });
  app.server.on('upgrade', (request, socket, head) => webSockets.upgrade(request, socket, head));
  return { service, sse, webSockets };
}
