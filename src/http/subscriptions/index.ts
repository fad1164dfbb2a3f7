import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../auth/authenticator';
import { errorLocation } from '../graphql/error-location';
import type { Connections } from '../server/connections';
import { Heartbeat } from './heartbeat';
import { QuotaLimiter } from './quota-limiter';
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
  /** Called when authentication fails. */
  onUnauthenticated(): void;
  /** Called when a limit of subscriptions or connections is reached. */
  onLimitReached(): void;
  connections: Connections;
}

/** Serves subscriptions over WebSocket and server-sent events, with the same checks and limits. */
export function startSubscriptions(app: FastifyInstance, options: SubscriptionServerOptions) {
  const { schema, introspection, clock, heartbeatMs, authenticator, corsOrigins } = options;
  const limits = {
    all: options.maxSubscriptions,
    perCaller: options.maxSubscriptionsPerClient,
    onRejected: options.onLimitReached,
  };
  const subscriptions = new QuotaLimiter(limits);
  const heartbeat = new Heartbeat(clock, heartbeatMs);
  const service = new SubscriptionService({
    ...options,
    documents: new SubscriptionDocuments(schema, introspection),
    quota: subscriptions,
  });
  const sse = new SseHandler({ service, heartbeat });
  const sockets = new WebSocketHandler({
    service,
    authenticator,
    onUnauthenticated: options.onUnauthenticated,
    onIdentified: (socket, callerId) => options.connections.setCaller(socket, callerId),
    heartbeat,
    quota: new QuotaLimiter(limits),
    isOriginAllowed: (origin) => corsOrigins.includes(origin),
    reportBug: (error) => options.log.error(errorLocation(error), 'unexpected error at connection_init'),
  });
  app.server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  return {
    /** Handler of server-sent events. Its route must be added behind authentication. */
    sse,
    /** Number of open subscriptions. */
    open: () => subscriptions.open,
    /** Number of connections for subscriptions, by transport. */
    connections: () => ({ websocket: sockets.size, sse: sse.size }),
    /** Ends all subscriptions, so that clients reconnect to other instances. */
    close: async (): Promise<void> => {
      sse.close();
      await sockets.close();
    },
    abandon: () => sockets.abandon(),
  };
}
