import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { Authenticator } from '../auth/authenticator';
import type { AuditEntry, AuditLog } from '../observability/audit/audit-log';
import { withSettingFileError, type Config } from '../config';
import { Admission } from '../http/graphql/admission';
import { createApolloServer, createErrorFormatter } from '../http/graphql/apollo-server';
import type { GraphqlDependencies } from '../http/graphql/dependencies';
import { maxClientConnections, fileDescriptorLimit } from '../shared/file-descriptors';
import { createApp } from '../http/server/app';
import { BodyQuota } from '../http/server/body-quota';
import { addCallbackRoute } from '../http/server/callback-route';
import { loggingConnectionObserver } from '../http/server/connection-log';
import { Connections } from '../http/server/connections';
import { EventLoopLagGuard } from '../http/server/event-loop-lag';
import { addExplorer } from '../http/server/explorer';
import { GracefulShutdown } from '../http/server/graceful-shutdown';
import { addGraphqlEndpoints } from '../http/graphql/graphql-route';
import { startSubscriptions } from '../http/subscriptions';
import { createOperationLogger } from '../http/graphql/operation-log';
import { PersistedOperations } from '../http/persisted/persisted-operations';
import { CompiledOperationCache } from '../http/compiled/compiled-operation-cache';
import { CallerRateLimiter } from '../http/limits/caller-rate-limiter';
import { UnreadResponseLimiter } from '../http/server/unread-response-limiter';
import type { Operations } from '../core';
import { buildGatewaySchema, buildSubgraphSchema } from '../resolvers';
import { CallerBulkheads } from '../datasources/payment-service/http/resilience';
import { OperationContext } from '../resolvers/context';
import { registerClientKeyGauges, registerHttpGauges } from './gauges';
import { addHealthAndMetrics } from './metrics-server';
import type { SharedDependencies } from './shared-dependencies';

/** The gateway's listening web server. */
export interface WebServer {
  /** URL of the server, without a trailing slash. */
  url: string;
  /** URL of the server at METRICS_PORT, without a trailing slash; null if METRICS_PORT is not set. */
  metricsUrl: string | null;
  /**
   * Makes readiness checks fail, and closes HTTP connections after their next response, so that clients move to other
   * instances. Requests are still served. A later close() waits up to 1 s for requests from open connections.
   */
  startDraining(): void;
  /** Stops accepting requests and ends subscriptions. Resolves when the requests in flight have ended. */
  close(): Promise<void>;
  /** Closes all client connections immediately, without waiting for work in flight. */
  closeAllConnections(): void;
}

interface WebServerDependencies {
  operations: Operations;
  auditLog: AuditLog;
  /** Returns the reason why the journal is unavailable, such as `disk_full`; null if it is available. */
  journalFailureReason(): string | null;
  /** Whether a circuit breaker for the payment service is open or half open. */
  isServiceDown(): boolean;
}

/** Starts the public server (GraphQL, callbacks, explorer) and, if METRICS_PORT is set, the metrics server. */
export async function startWebServer(
  shared: SharedDependencies,
  dependencies: WebServerDependencies,
): Promise<WebServer> {
  const { config, metrics, tracing } = shared;
  const { operations, journalFailureReason, isServiceDown } = dependencies;
  const serverParts = await createServerWithoutRoutes(shared, dependencies);
  const { app, apollo, compiledCache, graphqlDependencies, unreadResponseLimiter } = serverParts;
  const { authenticator, connections, eventLoopLagGuard } = graphqlDependencies;
  const gracefulShutdown = new GracefulShutdown(app, connections);
  tracing?.instrument(app);
  addCallbackRoute(app, (callbackToken) => operations.callbackHandler.onCallback(callbackToken));
  const metricsServer = addHealthAndMetrics(app, shared, {
    journalFailureReason,
    isServiceDown,
    isClockSteady: () => operations.isClockSteady(),
    fence: () => operations.fence(),
    isDraining: () => gracefulShutdown.isDraining,
  });
  if (config.explorer)
    addExplorer(app, { isSandbox: config.sandbox !== null, requiresCredentials: !authenticator.isDisabled });
  const subscriptionHandlers = await addGraphqlRoutes(shared, serverParts);
  registerHttpGauges(metrics, {
    subscriptionHandlers,
    maxSubscriptions: config.subscriptions.maxSubscriptions,
    connections,
    unreadResponseLimiter,
    compiledCache,
  });
  const serverUrls = await listen(app, metricsServer, config);
  const close = async (): Promise<void> => {
    // After startDraining(), close the listener before subscriptions end, so that subscribers reconnect to other
    // instances.
    if (gracefulShutdown.isDraining) await gracefulShutdown.stopAccepting(config.shutdownGraceMs / 4);
    gracefulShutdown.startDraining();
    subscriptionHandlers.sseHandler.close();
    await subscriptionHandlers.webSocketHandler.close();
    await app.close();
    await apollo.stop();
    await metricsServer?.close();
    unreadResponseLimiter.stop();
    eventLoopLagGuard.stop();
    authenticator.close();
  };
  const closeAllConnections = (): void => {
    subscriptionHandlers.webSocketHandler.terminateAll();
    app.server.closeAllConnections();
  };
  return { ...serverUrls, startDraining: () => gracefulShutdown.startDraining(), close, closeAllConnections };
}

/** Creates the web server without routes, and the objects that its routes need. */
async function createServerWithoutRoutes(
  shared: SharedDependencies,
  { operations, auditLog }: WebServerDependencies,
) {
  const { config, log, clock, metrics } = shared;
  const { limits } = config;
  const schema = config.subgraph ? buildSubgraphSchema() : buildGatewaySchema();
  const authenticator = withSettingFileError('CLIENT_KEYS_FILE', () => {
    const { clientKeysFile, jwtOptions } = config.access;
    return new Authenticator({ clientKeysPath: clientKeysFile, jwtOptions, clock, log });
  });
  registerClientKeyGauges(metrics, authenticator);
  const rateLimiter = new CallerRateLimiter(limits.ratePerMinute, () =>
    metrics.server.onRequestRejected('rate_limited'),
  );
  const onUnlisted = (operationName: string | null): void =>
    log.warn(
      { event: 'operation_not_persisted', name: operationName },
      'operation is not in the manifest (PERSISTED_OPERATIONS); allowed, because PERSISTED_OPERATIONS_FRONTENDS or PERSISTED_OPERATIONS_SERVICES is warn',
    );
  const persistedOperations = withSettingFileError('PERSISTED_OPERATIONS', () => {
    return new PersistedOperations({ settings: limits.persisted, schema, onUnlisted });
  });
  const { apollo, compiledCache } = await startApollo(shared, schema, rateLimiter);
  const connections = createConnections(shared);
  const unreadResponseLimiter = new UnreadResponseLimiter(connections, limits);
  const eventLoopLagGuard = new EventLoopLagGuard(limits.maxEventLoopLagMs, () =>
    metrics.server.onRequestRejected('overloaded'),
  );
  const { trustedProxies, clientTimeoutMs, corsOrigins } = limits;
  const app = createApp({ log, trustedProxies, clientTimeoutMs, connections });
  const recordAuditEntry = (entry: AuditEntry): void => {
    auditLog.recordMutation(entry);
    metrics.payments.onMutationEnded(entry.operation, entry.outcome, entry.replayed === true);
  };
  const callerBulkheads = new CallerBulkheads();
  const graphqlDependencies: GraphqlDependencies = {
    schema,
    authenticator,
    admission: new Admission(rateLimiter, persistedOperations),
    contextFor: (identity) => new OperationContext(operations, recordAuditEntry, identity, callerBulkheads),
    eventLoopLagGuard,
    bodyQuota: new BodyQuota(() => metrics.server.onRequestRejected('rate_limited')),
    connections,
    corsOrigins,
    onUnauthenticated: () => metrics.server.onRequestRejected('unauthenticated'),
    log,
  };
  return { app, apollo, compiledCache, graphqlDependencies, unreadResponseLimiter };
}

async function addGraphqlRoutes(
  { config, clock, metrics, tracing }: SharedDependencies,
  { app, apollo, compiledCache, graphqlDependencies }: Awaited<ReturnType<typeof createServerWithoutRoutes>>,
) {
  const { maxSubscriptions, maxSubscriptionsPerClient, heartbeatMs } = config.subscriptions;
  const subscriptionHandlers = startSubscriptions(app, graphqlDependencies, {
    introspection: config.introspection,
    quotaLimits: {
      maxTotal: maxSubscriptions,
      maxPerCaller: maxSubscriptionsPerClient,
      onRejected: () => metrics.server.onRequestRejected('subscription_limit'),
    },
    heartbeatMs,
    countOperation: metrics.onOperationEnded,
    clock,
    startTrace: tracing?.startSubscriptionSpan,
  });
  const hasLandingPage = config.sandbox !== null;
  const endpointOptions = {
    apollo,
    compiledCache,
    sseHandler: subscriptionHandlers.sseHandler,
    hasLandingPage,
  };
  await addGraphqlEndpoints(app, graphqlDependencies, endpointOptions);
  return subscriptionHandlers;
}

async function listen(
  app: FastifyInstance,
  metricsServer: FastifyInstance | null,
  { host, port, reusePort, metricsPort }: Config,
): Promise<Pick<WebServer, 'url' | 'metricsUrl'>> {
  await metricsServer?.listen({ host, port: metricsPort ?? 0 });
  // Fastify's types lack reusePort, but Fastify passes it to net.Server. An inline literal would not compile.
  const listenOptions = { host, port, reusePort };
  await app.listen(listenOptions);
  const boundUrl = ({ server }: FastifyInstance): string => {
    const boundAddress = server.address();
    const boundPort = typeof boundAddress === 'object' && boundAddress !== null ? boundAddress.port : 0;
    return `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`;
  };
  return { url: boundUrl(app), metricsUrl: metricsServer && boundUrl(metricsServer) };
}

/** Default of MAX_CONNECTIONS_PER_ADDRESS, as a fraction of the maximum number of all connections. */
const MAX_CONNECTION_FRACTION_PER_ADDRESS = 0.75;

/**
 * Creates the object that limits the number of client connections. The limit is MAX_CONNECTIONS, if set, but at most
 * maxClientConnections().
 */
function createConnections({ config, metrics, log, clock }: SharedDependencies): Connections {
  const { maxConnections: wantedConnections, maxConnectionsPerAddress, trustedProxies } = config.limits;
  const capacity = maxClientConnections(fileDescriptorLimit());
  const maxConnections = Math.min(wantedConnections ?? capacity, capacity);
  if (wantedConnections !== null && wantedConnections > capacity)
    log.warn(
      { event: 'descriptor_limit_low', wanted: wantedConnections, maxConnections },
      `accepting at most ${maxConnections} connections instead of MAX_CONNECTIONS (${wantedConnections}): an instance accepts at most 18000, and fewer if its limit of open files (ulimit -n) is low`,
    );
  const maxPerAddress =
    maxConnectionsPerAddress ?? Math.ceil(maxConnections * MAX_CONNECTION_FRACTION_PER_ADDRESS);
  return new Connections(
    { maxConnections, maxConnectionsPerAddress: maxPerAddress, trustedProxies },
    loggingConnectionObserver(log, clock, metrics.server),
  );
}

async function startApollo(
  { config, log, metrics, tracing }: SharedDependencies,
  schema: GraphQLSchema,
  rateLimiter: CallerRateLimiter,
) {
  const logOperation = createOperationLogger(log, ({ type, name, errorCodes, durationMs }) => {
    metrics.onOperationEnded(type, name, errorCodes[0], durationMs / 1000);
    tracing?.onOperationEnded({ type, name, errorCodes });
  });
  const formatError = createErrorFormatter(log);
  const compiledCache = new CompiledOperationCache({ rateLimiter, logOperation, formatError });
  const apollo = createApolloServer({
    schema,
    introspection: config.introspection,
    hasExplorer: config.explorer,
    hasLandingPage: config.sandbox !== null,
    log,
    logOperation,
    formatError,
    rateLimiter,
    compilePlugin: compiledCache.compilePlugin,
  });
  await apollo.start();
  return { apollo, compiledCache };
}
