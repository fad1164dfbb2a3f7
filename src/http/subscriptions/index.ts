import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../auth/authenticator';
import type { Connections } from '../server/connections';
import { QuotaLimiter } from './quota-limiter';
import { SharedInterval } from './shared-interval';
import { SseHandler } from './sse-handler';
import { SubscriptionDocuments } from './subscription-documents';
import { SubscriptionService, type SubscriptionOptions } from './subscription-service';
import { WebSocketHandler } from './websocket-handler';

interface SubscriptionServerOptions extends Omit<SubscriptionOptions, 'documents' | 'quota'> {
  introspection: boolean;
  authenticator: Authenticator;
  corsOrigins: readonly string[];
  maxSubscriptions: number;
  maxSubscriptionsPerClient: number;
  heartbeatMs: number;
  onUnauthenticated(): void;
  /** Called for each subscription or WebSocket connection that is rejected because of a limit. */
  onLimitReached(): void;
  connections: Connections;
}

/** Serves subscriptions over WebSocket and server-sent events (SSE), with the same checks and limits. */
export function startSubscriptions(app: FastifyInstance, options: SubscriptionServerOptions) {
  const { authenticator, corsOrigins, connections, log, onUnauthenticated } = options;
  const limits = {
    total: options.maxSubscriptions,
    perCaller: options.maxSubscriptionsPerClient,
    onRejected: options.onLimitReached,
  };
  const subscriptionQuota = new QuotaLimiter(limits);
  const heartbeat = new SharedInterval(options.clock, options.heartbeatMs);
  const documents = new SubscriptionDocuments(options.schema, options.introspection);
  const service = new SubscriptionService({ ...options, documents, quota: subscriptionQuota });
  const sse = new SseHandler(service, heartbeat);
  const webSockets = new WebSocketHandler({
    service,
    authenticator,
    quota: new QuotaLimiter(limits),
    heartbeat,
    corsOrigins,
    connections,
    log,
    onUnauthenticated,
  });
  app.server.on('upgrade', (request, socket, head) => webSockets.upgrade(request, socket, head));
  return {
    /** Handler of server-sent events. Its route must be added to a Fastify scope that authenticates requests. */
    sse,
    openSubscriptionCount: () => subscriptionQuota.openCount,
    /** Returns the number of open connections for subscriptions, by transport. */
    connectionCounts: () => ({ websocket: webSockets.openCount, sse: sse.openCount }),
    /** Ends all subscriptions, so that clients reconnect to other instances. */
    close: async (): Promise<void> => {
      sse.close();
      await webSockets.close();
    },
    terminate: () => webSockets.terminateAll(),
  };
}
