import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator';
import type { Clock } from '../../shared/clock';
import type { ContextFactory } from '../../resolvers/context-factory';
import type { Admission } from '../graphql/admission';
import type { Connections } from '../server/connections';
import type { CountOperation } from '../graphql/operation-log';
import { errorLocation } from '../graphql/error-location';
import { SseHandler } from './sse-handler';
import { Heartbeat } from './heartbeat';
import { SubscriptionService, type TraceSubscription } from './subscription-service';
import { QuotaLimiter } from './quota-limiter';
import { SubscriptionDocuments } from './subscription-documents';
import { WebSocketHandler } from './websocket-handler';

interface LiveOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  admission: Admission;
  authenticator: Authenticator;
  contextFor: ContextFactory;
  corsOrigins: readonly string[];
  maxWatchers: number;
  maxWatchersPerClient: number;
  heartbeatMs: number;
  /** Throws a Refusal while the process is too late with its work to take on more. */
  checkLoad(): void;
  /** Hears of a connection whose caller is not known. */
  unauthenticated(): void;
  /** Hears of a subscription, or connection, that would be one too many. */
  noSeat(): void;
  count: CountOperation;
  connections: Connections;
  clock: Clock;
  log: Logger;
  trace?: TraceSubscription | undefined;
}

/** Live updates: subscriptions over WebSockets and over server-sent events, with one set of checks and limits. */
export function startLive(app: FastifyInstance, options: LiveOptions) {
  const { schema, introspection, clock, heartbeatMs, authenticator, corsOrigins } = options;
  const limits = {
    all: options.maxWatchers,
    perCaller: options.maxWatchersPerClient,
    refused: options.noSeat,
  };
  const watchers = new QuotaLimiter(limits);
  const heartbeat = new Heartbeat(clock, heartbeatMs);
  const live = new SubscriptionService({
    ...options,
    documents: new SubscriptionDocuments(schema, introspection),
    seats: watchers,
  });
  const events = new SseHandler({ live, heartbeat });
  const sockets = new WebSocketHandler({
    live,
    authenticator,
    unauthenticated: options.unauthenticated,
    identified: (socket, callerId) => options.connections.identified(socket, callerId),
    heartbeat,
    seats: new QuotaLimiter(limits),
    isOriginAllowed: (origin) => corsOrigins.includes(origin),
    bug: (error) => options.log.error(errorLocation(error), 'unexpected error'),
  });
  app.server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  return {
    /** To be added where it is known who asks. */
    events,
    /** How many subscriptions are open. */
    watchers: () => watchers.taken,
    /** Connections for subscriptions, by transport. */
    connections: () => ({ websocket: sockets.size, sse: events.size }),
    /** Ends all that is watched, so that clients go elsewhere. */
    close: async (): Promise<void> => {
      events.close();
      await sockets.close();
    },
    /** Ends the connections that are still open. */
    abandon: () => sockets.abandon(),
  };
}
