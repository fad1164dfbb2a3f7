import { Counter, Gauge, type Registry } from 'prom-client';
import { registerScrapedMetrics, registerLabelledCounter } from './register';

/** Functions that read the state of the HTTP server, and its limits. */
interface ServerState {
  /** Returns the number of open subscriptions. */
  subscriptions: () => number;
  maxSubscriptions: number;
  /** Returns the number of open connections for subscriptions, by transport. */
  subscriptionConnections: () => Readonly<Record<string, number>>;
  /** Returns the number of all open client connections. */
  connections: () => number;
  maxConnections: number;
  /** Returns the number of response bytes that are buffered because clients have not read them. */
  unreadBytes: () => number;
  /** Returns the number of operations that compiled code has executed since the start. */
  compiledExecutions: () => number;
}

interface ClientKeyTimes {
  /** The client's id in CLIENT_KEYS_FILE. */
  client: string;
  /** The key's label in CLIENT_KEYS_FILE; by default, the first 8 digits of its `keySha256`. */
  label: string;
  /** Last use, in milliseconds since 1970; null if the key has not been used since the process started. */
  keyLastUsedAt: number | null;
  /** Expiry, in milliseconds since 1970; null if the key does not expire. */
  expiresAt: number | null;
}

/** Creates the counters of rejected requests, of rejected and closed connections, and of polls. */
export function serverMetrics(registry: Registry) {
  const pollCounter = new Counter({
    name: 'paygraph_polls_total',
    help: 'Lookups of transactions for subscriptions, by result.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  return {
    requestRejected: registerLabelledCounter(registry, {
      name: 'paygraph_requests_rejected_total',
      help: 'Requests and subscriptions that were rejected before execution, by reason.',
      label: 'reason',
      initial: ['rate_limited', 'overloaded', 'subscription_limit', 'unauthenticated'],
    }),
    connectionRejected: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_rejected_total',
      help: 'Client connections that were not accepted, by reason.',
      label: 'reason',
      initial: ['limit', 'address_limit', 'dropped', 'accept_failed'],
    }),
    connectionClosed: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_closed_total',
      help: 'Client connections that the gateway closed, by reason: evicted (idle while the connection limit was reached), write_timeout (the client did not read its responses for too long), unread_limit (too many unread bytes of responses), pipeline_limit (too many pipelined requests).',
      label: 'reason',
      initial: ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'],
    }),
    /** Counts a lookup for the subscriptions of a transaction. `kind`: payment or payout. `result`: a PollResult. */
    onPoll: (kind: string, result: string): void => pollCounter.inc({ kind, result }),
  };
}

/** Registers the gauges of the HTTP server. */
export function registerServerGauges(registry: Registry, state: ServerState): void {
  registerScrapedMetrics(registry, {
    paygraph_subscriptions: { help: 'Open subscriptions.', read: state.subscriptions },
    paygraph_subscriptions_max: {
      help: 'Maximum number of open subscriptions (MAX_SUBSCRIPTIONS).',
      read: () => state.maxSubscriptions,
    },
    paygraph_subscription_connections: {
      help: 'Open connections for subscriptions, by transport.',
      label: 'transport',
      read: state.subscriptionConnections,
    },
    paygraph_connections: { help: 'All open client connections.', read: state.connections },
    paygraph_connections_max: {
      help: 'Maximum number of client connections.',
      read: () => state.maxConnections,
    },
    paygraph_unread_response_bytes: {
      help: 'Response bytes that are buffered because clients have not read them.',
      read: state.unreadBytes,
    },
    paygraph_compiled_operations_total: {
      help: 'Operations executed by compiled code. Apollo Server executes all others, which takes more CPU time: if the share of compiled operations falls, CPU usage rises.',
      read: state.compiledExecutions,
    },
  });
}

/**
 * Registers the gauges of client keys. Their metric labels `client` and `key` contain the client's id and the key's
 * label. Neither is a secret.
 */
export function registerClientKeyGauges(registry: Registry, read: () => readonly ClientKeyTimes[]): void {
  const registerGauge = (name: string, help: string, timeField: 'keyLastUsedAt' | 'expiresAt'): void => {
    new Gauge({
      name,
      help,
      labelNames: ['client', 'key'],
      registers: [registry],
      collect() {
        // Remove the values of keys that were removed from the file since the last scrape.
        this.reset();
        for (const { client, label: key, [timeField]: ms } of read())
          if (ms !== null) this.set({ client, key }, ms / 1000);
      },
    });
  };
  registerGauge(
    'paygraph_client_key_last_used_timestamp_seconds',
    'Last use of a client key, in seconds since 1970. No value for a key not used since the process started.',
    'keyLastUsedAt',
  );
  registerGauge(
    'paygraph_client_key_expiry_timestamp_seconds',
    'Expiry of a client key, in seconds since 1970. No value for a key that does not expire.',
    'expiresAt',
  );
}
