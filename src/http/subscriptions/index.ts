import type { FastifyInstance } from 'fastify';
import type { GraphqlDependencies } from '../graphql/dependencies';
import { QuotaLimiter } from '../limits/quota-limiter';
import { SharedTimer } from './shared-timer';
import { SseHandler } from './sse-handler';
import { SubscriptionService, type SubscriptionServiceOptions } from './subscription-service';
import { WebSocketHandler } from './websocket-handler';

/** Serves subscriptions over WebSocket and server-sent events (SSE), with the same checks and limits. */
export function startSubscriptions(
  app: FastifyInstance,
  dependencies: GraphqlDependencies,
  options: SubscriptionServiceOptions & {
    /** Interval of pings, in milliseconds. */
    heartbeatMs: number;
  },
) {
  const heartbeatTimer = new SharedTimer(options.clock, options.heartbeatMs);
  const subscriptionService = new SubscriptionService(dependencies, options);
  const sseHandler = new SseHandler(subscriptionService, heartbeatTimer);
  const connectionQuota = new QuotaLimiter(options.quotaLimits);
  const webSocketOptions = { subscriptionService, heartbeatTimer, connectionQuota };
  const webSocketHandler = new WebSocketHandler(dependencies, webSocketOptions);
  app.server.on('upgrade', (request, socket, head) => webSocketHandler.upgrade(request, socket, head));
  return { subscriptionService, sseHandler, webSocketHandler };
}
