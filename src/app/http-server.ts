import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { Authenticator } from '../auth/authenticator';
import type { AuditLog } from '../observability/audit/audit-log';
import type { Clock } from '../shared/clock';
import { ConfigError, type Config } from '../config';
import { Admission } from '../http/graphql/admission';
import { createApolloServer, errorFormatter, type ApolloOptions } from '../http/graphql/apollo-server';
import { connectionCapacity, descriptorLimit } from '../shared/file-descriptors';
import { createApp } from '../http/server/app';
import { addCallbacks } from '../http/server/callback-route';
import { connectionLog } from '../http/server/connection-log';
import { Connections } from '../http/server/connections';
import { DocumentLimits } from '../http/limits/document-limits';
import { EventLoopLag } from '../http/server/event-loop-lag';
import { addExplorer } from '../http/server/explorer';
import { GracefulShutdown } from '../http/server/graceful-shutdown';
import { addGraphql } from '../http/graphql/graphql-route';
import type { HealthParts } from '../http/server/health';
import { startLive } from '../http/subscriptions';
import { loggable, operationLog, type OperationLog } from '../http/graphql/operation-log';
import { PersistedOperations } from '../http/persisted/persisted-operations';
import { CompiledOperationCache } from '../http/compiled/compiled-operation-cache';
import { RateLimit } from '../http/limits/rate-limit';
import { UnreadResponses } from '../http/server/unread-responses';
import type { Operations } from '../core';
import type { Metrics } from '../observability/metrics/metrics';
import { gatewaySchema, subgraphSchema } from '../resolvers';
import { contextFactory } from '../resolvers/context-factory';
import type { Tracing } from '../observability/tracing/start-tracing';
import { describeFileError } from '../shared/hot-reloaded-file';
import { createMetricsServer, recordAndCount, registerServerGauges, webListeners } from './server-metrics';

/** The gateway's web server, listening. */
export interface WebServer {
  /** Without a slash at its end. */
  url: string;
  /** The server at METRICS_PORT; null without METRICS_PORT. */
  metricsUrl: string | null;
  /**
   * Fails readiness and asks clients to go elsewhere, while everything is still served. Closing afterwards waits for
   * requests on connections that were accepted at the last moment.
   */
  drain(): void;
  /** Takes no more work and resolves when what is under way has been answered. */
  close(): Promise<void>;
  /** Ends the connections that are still open. */
  abandon(): void;
}

interface WebServerParts {
  config: Config;
  log: Logger;
  clock: Clock;
  operations: Operations;
  audit: AuditLog;
  /** Why the journal cannot be written; null where it can. */
  journalReason(): string | null;
  /** Whether the payment service counts as down. */
  isServiceDown(): boolean;
  metrics: Metrics;
  tracing?: Tracing | undefined;
}

/** Of the connections, as many as one address may have unless MAX_CONNECTIONS_PER_ADDRESS says otherwise. */
const SHARE_OF_ONE_ADDRESS = 0.75;

/** Puts the web server together and listens. */
export async function startWebServer(parts: WebServerParts): Promise<WebServer> {
  const { config, operations, audit, metrics, tracing } = parts;
  const { introspection, explorer, subgraph, limits } = config;
  const schema = subgraph ? subgraphSchema() : gatewaySchema();
  const landingPage = config.sandbox !== null;
  const { admission, rate } = admissionOf(parts, schema);
  const authenticator = readAuthenticator(parts);
  const { apollo, prepared } = await startApollo({ schema, landingPage, rate, ...parts });
  const { app, connections, unread, lag, stop } = createLimitedApp(parts);
  const shutdown = new GracefulShutdown(app, connections);
  tracing?.follow(app);
  addCallbacks(app, { hint: (token) => operations.callbacks.onCallback(token) });
  const metricsServer = createMetricsServer(app, parts, healthParts(parts, shutdown));
  if (explorer) addExplorer(app, { sandbox: landingPage, credentials: !authenticator.isOpen });
  const contextFor = contextFactory(operations, recordAndCount(audit, metrics));
  const listeners = webListeners(lag, metrics);
  const live = startLive(app, {
    ...parts,
    ...listeners,
    ...config.live,
    ...limits,
    schema,
    introspection,
    admission,
    authenticator,
    contextFor,
    connections,
    trace: tracing?.subscription,
  });
  await addGraphql(app, {
    apollo,
    prepared,
    contextFor,
    authenticator,
    admission,
    landingPage,
    ...listeners,
    ...limits,
    ...live,
    connections,
  });
  registerServerGauges(parts, { live, prepared, connections, unread });
  const urls = await listen(app, metricsServer, config);
  const close = async (): Promise<void> => {
    await closeGracefully({ app, live, shutdown, maxWaitMs: config.shutdownGraceMs / 4 });
    await apollo.stop();
    await metricsServer?.close();
    stop();
    authenticator.close();
  };
  return {
    ...urls,
    drain: () => shutdown.drain(),
    close,
    abandon: () => {
      live.abandon();
      app.server.closeAllConnections();
    },
  };
}

async function listen(
  app: FastifyInstance,
  metricsServer: FastifyInstance | null,
  { host, port, reusePort, metricsPort }: Config,
): Promise<Pick<WebServer, 'url' | 'metricsUrl'>> {
  await metricsServer?.listen({ host, port: metricsPort ?? 0 });
  // Fastify passes reusePort on to net.Server.listen, but does not declare it.
  const address = { host, port, reusePort };
  await app.listen(address);
  const urlOf = ({ server }: FastifyInstance): string => `http://${addressText(server.address(), host)}`;
  return { url: urlOf(app), metricsUrl: metricsServer && urlOf(metricsServer) };
}

const healthParts = (parts: WebServerParts, shutdown: GracefulShutdown): HealthParts => ({
  journalReason: parts.journalReason,
  isServiceDown: parts.isServiceDown,
  isClockSteady: () => parts.operations.isClockSteady(),
  isDraining: () => shutdown.isDraining,
});

interface Closing {
  app: FastifyInstance;
  live: Pick<ReturnType<typeof startLive>, 'close'>;
  shutdown: GracefulShutdown;
  /** How long to wait for a moment to close the listener. */
  maxWaitMs: number;
}

async function closeGracefully({ app, live, shutdown, maxWaitMs }: Closing): Promise<void> {
  // Before subscriptions end: their clients must not connect again to this instance.
  if (shutdown.isDraining) await shutdown.stopAccepting(maxWaitMs);
  shutdown.drain();
  await live.close();
  await app.close();
}

/** The web server without routes, and what bounds its connections, unread responses and load. */
function createLimitedApp(parts: WebServerParts) {
  const { limits } = parts.config;
  const connections = connectionsOf(parts);
  const unread = new UnreadResponses(connections, limits);
  const lag = new EventLoopLag(limits.maxEventLoopLagMs);
  const stop = (): void => {
    unread.stop();
    lag.stop();
  };
  return { app: createApp({ ...parts, ...limits, connections }), connections, unread, lag, stop };
}

/** The limits of connections that the settings ask for, as far as this process has file descriptors for them. */
function connectionsOf({ config, metrics, log, clock }: WebServerParts): Connections {
  const { maxConnections: wanted, maxConnectionsPerAddress, trustedProxies } = config.limits;
  const capacity = connectionCapacity(descriptorLimit());
  const maxConnections = Math.min(wanted ?? capacity, capacity);
  if (wanted !== null && wanted > capacity) {
    log.warn(
      { event: 'descriptor_limit_low', wanted, maxConnections },
      'descriptor limit below MAX_CONNECTIONS',
    );
  }
  return new Connections(
    {
      maxConnections,
      maxConnectionsPerAddress: maxConnectionsPerAddress ?? Math.ceil(maxConnections * SHARE_OF_ONE_ADDRESS),
      trustedProxies,
    },
    connectionLog(log, clock, metrics.web),
  );
}

/** What is let in, and how much of it a minute. */
function admissionOf(
  parts: WebServerParts,
  schema: GraphQLSchema,
): { admission: Admission; rate: RateLimit } {
  const refused = (): void => parts.metrics.web.refused('rate_limited');
  const rate = new RateLimit(parts.config.limits.ratePerMinute, refused);
  const persisted = readPersistedOperations(parts, schema);
  return { admission: new Admission({ limits: new DocumentLimits(), persisted, rate }), rate };
}

type ApolloParts = Pick<ApolloOptions, 'schema' | 'landingPage' | 'log' | 'rate'> &
  Pick<WebServerParts, 'config' | 'metrics' | 'tracing'>;

/** Starts Apollo Server, and what learns from it to answer in its place. */
async function startApollo(parts: ApolloParts) {
  const { config, log, rate, metrics, tracing } = parts;
  const { introspection, explorer } = config;
  const counted = operationLog(log, metrics.operationEnded);
  const ended = tracing ? tracedLog(counted, tracing) : counted;
  const shared = { rate, operationLog: ended, formatError: errorFormatter(log) };
  const prepared = new CompiledOperationCache(shared);
  const shown = { introspection, explorer };
  const apollo = createApolloServer({ ...parts, ...shown, ...shared, learner: prepared.learnOperations });
  await apollo.start();
  return { apollo, prepared };
}

/** The same log; the span of each operation hears of its end too. */
const tracedLog =
  (log: OperationLog, tracing: Tracing): OperationLog =>
  (operation) => {
    log(operation);
    const { operation: type, name, errors = [] } = operation;
    const codes = errors.map(({ extensions }) => extensions?.['code']);
    tracing.ended({ type, name: loggable(name), codes });
  };

/** What a file that a setting names holds; a ConfigError that names the setting where it cannot be used. */
function fromFile<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([`${setting}: ${describeFileError(error)}.`]);
  }
}

const readPersistedOperations = (
  { config, log }: WebServerParts,
  schema: GraphQLSchema,
): PersistedOperations =>
  fromFile(
    'PERSISTED_OPERATIONS',
    () =>
      new PersistedOperations({
        settings: config.limits.persisted,
        schema,
        onUnlisted: (name) =>
          log.warn({ event: 'operation_not_persisted', name }, 'operation is not in PERSISTED_OPERATIONS'),
      }),
  );

function readAuthenticator({ config, clock, log, metrics }: WebServerParts): Authenticator {
  const read = (): Authenticator => new Authenticator({ ...config.access, clock, log });
  const authenticator = fromFile('CLIENT_KEYS_FILE', read);
  metrics.showClientKeys(() => authenticator.clientKeys());
  return authenticator;
}

function addressText(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
