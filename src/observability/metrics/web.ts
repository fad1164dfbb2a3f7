import { Counter, Gauge, type Registry } from 'prom-client';
import { registerCounter, registerGauge, registerLabelledGauge } from './register';

/** Reasons for which a request is rejected before execution. */
const REJECTION_REASONS = ['rate_limited', 'overloaded', 'subscription_limit', 'unauthenticated'] as const;

/** Reasons that src/http/server/connections.ts uses. Their counters start at 0. */
const CONNECTION_REJECTION_REASONS = ['limit', 'address_limit', 'dropped', 'accept_failed'];
const CONNECTION_CLOSE_REASONS = ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'];

/** Counts events of the HTTP server other than operations. */
export interface ServerMetrics {
  /** Counts a request or subscription that was rejected before execution. */
  rejected(reason: (typeof REJECTION_REASONS)[number]): void;
  /** Counts a connection that was not accepted. */
  connectionRejected(reason: string): void;
  /** Counts a connection that the gateway closed. */
  connectionClosed(reason: string): void;
  /** Counts a lookup of a transaction for its subscriptions. */
  onPoll(kind: string, result: string): void;
}

/** State of the HTTP server. */
export interface ServerState {
  /** Number of open subscriptions. */
  subscriptions: () => number;
  maxSubscriptions: number;
  /** Number of connections for subscriptions, by transport. */
  subscriptionConnections: () => Readonly<Record<string, number>>;
  /** Number of all client connections. */
  connections: () => number;
  maxConnections: number;
  /** Number of response bytes that are buffered because clients have not read them. */
  unreadBytes: () => number;
  /** Number of operations that were executed as compiled operations, without Apollo Server. */
  compiledOperations: () => number;
}

/** The state of a client key. */
export interface ClientKeyState {
  /** The client's id in CLIENT_KEYS_FILE. */
  client: string;
  label: string;
  /** Last use, in milliseconds since 1970; null if the key was not used since the process started. */
  lastUsedAt: number | null;
  /** Expiry, in milliseconds since 1970; null if the key does not expire. */
  expiresAt: number | null;
}

export function serverMetrics(registry: Registry): ServerMetrics {
  const polls = new Counter({
    name: 'paygraph_polls_total',
    help: 'Lookups of transactions for subscriptions, by result.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  /** Creates a counter by reason that starts at 0 for each of `reasons`. */
  const countByReason = (name: string, help: string, reasons: readonly string[]) => {
    const counter = new Counter({ name, help, labelNames: ['reason'], registers: [registry] });
    for (const reason of reasons) counter.inc({ reason }, 0);
    return (reason: string): void => counter.inc({ reason });
  };
  return {
    rejected: countByReason(
      'paygraph_requests_rejected_total',
      'Requests and subscriptions that were rejected before execution, by reason.',
      REJECTION_REASONS,
    ),
    connectionRejected: countByReason(
      'paygraph_connections_rejected_total',
      'Client connections that were not accepted, by reason.',
      CONNECTION_REJECTION_REASONS,
    ),
    connectionClosed: countByReason(
      'paygraph_connections_closed_total',
      'Connections that the gateway closed, by reason: evicted (idle while the connection limit was reached), write_timeout and unread_limit (the client did not read its responses), pipeline_limit (too many pipelined requests).',
      CONNECTION_CLOSE_REASONS,
    ),
    onPoll: (kind, result) => polls.inc({ kind, result }),
  };
}

/** Registers the gauges of the HTTP server. */
export function registerServerGauges(registry: Registry, state: ServerState): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    registerGauge(registry, name, help, read);
  gauge('paygraph_subscriptions', 'Open subscriptions.', state.subscriptions);
  gauge(
    'paygraph_subscriptions_max',
    'Maximum number of open subscriptions (MAX_SUBSCRIPTIONS).',
    () => state.maxSubscriptions,
  );
  gauge('paygraph_connections', 'Open client connections of any kind.', state.connections);
  gauge('paygraph_connections_max', 'Maximum number of client connections.', () => state.maxConnections);
  gauge(
    'paygraph_unread_response_bytes',
    'Response bytes that are buffered because clients have not read them.',
    state.unreadBytes,
  );
  registerLabelledGauge(
    registry,
    {
      name: 'paygraph_subscription_connections',
      help: 'Open connections for subscriptions, by transport.',
      label: 'transport',
    },
    state.subscriptionConnections,
  );
  registerCounter(
    registry,
    'paygraph_compiled_operations_total',
    'Operations that were executed as compiled operations, without Apollo Server.',
    state.compiledOperations,
  );
}

/** Registers the gauges of client keys. Both labels are names that the operator chose in CLIENT_KEYS_FILE. */
export function registerClientKeyGauges(registry: Registry, read: () => readonly ClientKeyState[]): void {
  const gauge = (name: string, help: string, timeOf: (key: ClientKeyState) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames: ['client', 'key'],
      registers: [registry],
      collect() {
        // Keys may have been revoked since the last scrape.
        this.reset();
        for (const key of read()) {
          const ms = timeOf(key);
          if (ms !== null) this.set({ client: key.client, key: key.label }, ms / 1000);
        }
      },
    });
  };
  gauge(
    'paygraph_client_key_last_used_timestamp_seconds',
    'Last use of a client key, in seconds since 1970. No value for a key not used since the process started.',
    ({ lastUsedAt }) => lastUsedAt,
  );
  gauge(
    'paygraph_client_key_expiry_timestamp_seconds',
    'Expiry of a client key, in seconds since 1970. No value for a key that does not expire.',
    ({ expiresAt }) => expiresAt,
  );
}
