import { Counter, Gauge, type Registry } from 'prom-client';

/** Why a request was refused before anything of it was carried out. */
export type RefusalReason = 'rate_limited' | 'overloaded' | 'no_seat' | 'unauthenticated';

/** Hears of what the web server does besides operations. */
export interface WebListener {
  /** A request, or a connection, was refused before anything of it was carried out. */
  refused(reason: RefusalReason): void;
  /** A watch has looked at its transaction. */
  looked(kind: string, result: string): void;
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
  connections(): Promise<number>;
  /** How many operations were answered without Apollo. */
  preparedOperations(): number;
}

const REASONS: readonly RefusalReason[] = ['rate_limited', 'overloaded', 'no_seat', 'unauthenticated'];

/** Counts what the web server refuses, and the looks of watches. */
export function webMetrics(registry: Registry): WebListener {
  const registers = [registry];
  const refused = new Counter({
    name: 'paygraph_refused_total',
    help: 'Requests and connections that were refused before anything of them was carried out.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of REASONS) refused.inc({ reason }, 0);
  const looks = new Counter({
    name: 'paygraph_watch_looks_total',
    help: 'Looks at transactions that somebody watches.',
    labelNames: ['kind', 'result'],
    registers,
  });
  return {
    refused: (reason) => refused.inc({ reason }),
    looked: (kind, result) => looks.inc({ kind, result }),
  };
}

/** Shows what the web server holds open. */
export function showWeb(registry: Registry, state: WebState): void {
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
  gauge('paygraph_watchers_max', 'How many may be open: MAX_WATCHERS.', () => state.maxWatchers);
  new Gauge({
    name: 'paygraph_connections',
    help: 'Connections of clients, of any kind.',
    registers: [registry],
    async collect() {
      this.set(await state.connections());
    },
  });
  new Gauge({
    name: 'paygraph_live_connections',
    help: 'Connections for subscriptions, by transport.',
    labelNames: ['transport'],
    registers: [registry],
    collect() {
      for (const [transport, count] of Object.entries(state.liveConnections()))
        this.set({ transport }, count);
    },
  });
  new Counter({
    name: 'paygraph_prepared_operations_total',
    help: 'Operations that were answered without Apollo Server, as it had answered them before.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(state.preparedOperations());
    },
  });
}
