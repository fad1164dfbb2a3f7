import { Counter, Gauge, type Registry } from 'prom-client';
import { registerCounter, registerGauge, registerGauges } from './register';

/** Why a request was rejected before execution. */
const REASONS = ['rate_limited', 'overloaded', 'subscription_limit', 'unauthenticated'] as const;

/** Reasons of src/http/server/connections.ts, shown as 0 from the start. */
const REJECTED_CONNECTIONS = ['limit', 'address_limit', 'dropped', 'accept_failed'];
const CLOSED_CONNECTIONS = ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'];

/** Counts events of the HTTP server, besides operations. */
export interface ServerMetrics {
  /** A request or subscription was rejected before execution. */
  rejected(reason: (typeof REASONS)[number]): void;
  /** A connection was rejected. */
  connectionRejected(reason: string): void;
  /** A connection was closed because of its client. */
  connectionClosed(reason: string): void;
  /** A transaction was polled for subscriptions. */
  onPoll(kind: string, result: string): void;
}

/** State of the HTTP server. */
export interface ServerState {
  /** Open subscriptions. */
  subscriptions: () => number;
  maxSubscriptions: number;
  /** Connections for subscriptions, by transport. */
  subscriptionConnections: () => Readonly<Record<string, number>>;
  /** All connections of the server. */
  connections: () => number;
  maxConnections: number;
  /** Bytes that are buffered because clients do not read them. */
  unreadBytes: () => number;
  /** Number of operations executed without Apollo Server. */
  compiledOperations: () => number;
}

/** A client key. */
export interface ClientKeyState {
  /** The client's id in CLIENT_KEYS_FILE. */
  client: string;
  label: string;
  /** In milliseconds since 1970; null: not used since the process started. */
  lastUsedAt: number | null;
  /** In milliseconds since 1970; null: the key does not expire. */
  expiresAt: number | null;
}

export function serverMetrics(registry: Registry): ServerMetrics {
  const polls = new Counter({
    name: 'paygraph_polls_total',
    help: 'Lookups of transactions for subscriptions, by result.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  /** A counter by reason, which starts at 0 for each of them. */
  const countByReason = (name: string, help: string, reasons: readonly string[]) => {
    const counter = new Counter({ name, help, labelNames: ['reason'], registers: [registry] });
    for (const reason of reasons) counter.inc({ reason }, 0);
    return (reason: string): void => counter.inc({ reason });
  };
  return {
    rejected: countByReason(
      'paygraph_requests_rejected_total',
      'Requests and subscriptions that were rejected before execution.',
      REASONS,
    ),
    connectionRejected: countByReason(
      'paygraph_connections_rejected_total',
      'Connections of clients that were not accepted.',
      REJECTED_CONNECTIONS,
    ),
    connectionClosed: countByReason(
      'paygraph_connections_closed_total',
      'Connections that the gateway closed because they were idle at the limit, or because their clients did not read.',
      CLOSED_CONNECTIONS,
    ),
    onPoll: (kind, result) => polls.inc({ kind, result }),
  };
}

/** Registers gauges of the HTTP server. */
export function registerServerGauges(registry: Registry, state: ServerState): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    registerGauge(registry, name, help, read);
  gauge('paygraph_subscriptions', 'Open subscriptions.', state.subscriptions);
  gauge(
    'paygraph_subscriptions_max',
    'Maximum of open subscriptions (MAX_SUBSCRIPTIONS).',
    () => state.maxSubscriptions,
  );
  gauge('paygraph_connections', 'Client connections of any kind.', state.connections);
  gauge('paygraph_connections_max', 'Maximum of client connections.', () => state.maxConnections);
  gauge(
    'paygraph_unread_response_bytes',
    'Bytes that are buffered because clients do not read them.',
    state.unreadBytes,
  );
  registerGauges(
    registry,
    {
      name: 'paygraph_subscription_connections',
      help: 'Connections for subscriptions, by transport.',
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

/** Registers last use and expiry of client keys. Both labels are names that the operator chose in CLIENT_KEYS_FILE. */
export function registerClientKeyGauges(registry: Registry, read: () => readonly ClientKeyState[]): void {
  const gauge = (name: string, help: string, timeOf: (key: ClientKeyState) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames: ['client', 'key'],
      registers: [registry],
      collect() {
        // Keys are revoked while the gateway runs.
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
