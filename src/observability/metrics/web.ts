import { Counter, Gauge, type Registry } from 'prom-client';

/** Why a request was refused before anything of it was carried out. */
export type RefusalReason = 'rate_limited' | 'overloaded' | 'no_seat' | 'unauthenticated';

/** Hears of what the web server does besides operations. */
export interface WebListener {
  /** A request, or a connection, was refused before anything of it was carried out. */
  refused(reason: RefusalReason): void;
  /** A connection was refused. */
  connectionRefused(reason: string): void;
  /** A connection was closed because of its client. */
  connectionEnded(reason: string): void;
  /** A watch has looked at its transaction. */
  onPoll(kind: string, result: string): void;
}

/** What the web server holds open, at any time. */
export interface WebState {
  /** Subscriptions. */
  watchers(): number;
  /** How many subscriptions this process serves at most. */
  maxWatchers: number;
  /** Connections for subscriptions, by transport. */
  liveConnections(): Readonly<Record<string, number>>;
  /** All connections of the server. */
  connections(): number;
  /** How many connections this process accepts at most. */
  maxConnections: number;
  /** Bytes that are buffered because clients do not read them. */
  unreadBytes(): number;
  /** How many operations were answered without Apollo. */
  preparedOperations(): number;
}

const REASONS: readonly RefusalReason[] = ['rate_limited', 'overloaded', 'no_seat', 'unauthenticated'];

/** Reasons of src/http/server/connections.ts, shown as 0 from the start. */
const REFUSED_CONNECTIONS = ['limit', 'address_limit', 'dropped', 'accept_failed'];
const ENDED_CONNECTIONS = ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'];

/** Counts what the web server refuses, and the looks of watches. */
export function webMetrics(registry: Registry): WebListener {
  const registers = [registry];
  const refused = new Counter({
    name: 'paygraph_requests_rejected_total',
    help: 'Requests and connections that were refused before anything of them was carried out.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of REASONS) refused.inc({ reason }, 0);
  const looks = new Counter({
    name: 'paygraph_polls_total',
    help: 'Looks at transactions that somebody watches.',
    labelNames: ['kind', 'result'],
    registers,
  });
  const connectionRefused = countByReason(registry, REFUSED_CONNECTIONS, {
    name: 'paygraph_connections_rejected_total',
    help: 'Connections of clients that were not accepted.',
  });
  const connectionEnded = countByReason(registry, ENDED_CONNECTIONS, {
    name: 'paygraph_connections_closed_total',
    help: 'Connections that the gateway closed because they were idle at the limit, or because their clients did not read.',
  });
  return {
    connectionRefused,
    connectionEnded,
    refused: (reason) => refused.inc({ reason }),
    onPoll: (kind, result) => looks.inc({ kind, result }),
  };
}

/** Registers a counter by reason. Returns how to increment it. */
function countByReason(
  registry: Registry,
  reasons: readonly string[],
  named: { name: string; help: string },
): (reason: string) => void {
  const counter = new Counter({ ...named, labelNames: ['reason'], registers: [registry] });
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}

/** Shows what the web server holds open. */
export function registerWebGauges(registry: Registry, state: WebState): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('paygraph_watchers', 'Subscriptions that are open.', state.watchers);
  gauge('paygraph_watchers_max', 'How many may be open: MAX_SUBSCRIPTIONS.', () => state.maxWatchers);
  gauge('paygraph_connections', 'Connections of clients, of any kind.', state.connections);
  gauge('paygraph_connections_max', 'How many connections are accepted.', () => state.maxConnections);
  gauge(
    'paygraph_unread_response_bytes',
    'Bytes that are buffered because clients do not read them.',
    state.unreadBytes,
  );
  new Gauge({
    name: 'paygraph_subscription_connections',
    help: 'Connections for subscriptions, by transport.',
    labelNames: ['transport'],
    registers: [registry],
    collect() {
      for (const [transport, count] of Object.entries(state.liveConnections()))
        this.set({ transport }, count);
    },
  });
  new Counter({
    name: 'paygraph_compiled_operations_total',
    help: 'Operations that were answered without Apollo Server, as it had answered them before.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(state.preparedOperations());
    },
  });
}
