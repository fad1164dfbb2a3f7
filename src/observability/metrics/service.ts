import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Hears of the calls to the payment service. */
export interface ServiceListener {
  /** A call has ended. Both words come from short lists of the gateway's own. */
  ended(call: string, result: string, seconds: number): void;
  /** A lookup is tried again. */
  retried(): void;
}

/** What is known at any time of the way to the service. */
export interface ServiceState {
  /** The circuit breakers by name: whether the service counts as down. */
  breakers(): Readonly<Record<string, boolean>>;
  /** The lanes by name: calls that are under way, and calls that wait for their turn. */
  lanes(): Readonly<Record<string, { underWay: number; waiting: number }>>;
  /** How far the service's clock is from ours, as far as it mattered, in seconds; never negative. */
  clockSkew(): number;
}

const UNAUTHORIZED = 'unauthorized';

/** Counts and measures the calls to the service. */
export function serviceMetrics(registry: Registry): ServiceListener {
  const registers = [registry];
  const duration = new Histogram({
    name: 'paygraph_service_request_duration_seconds',
    help: 'How long calls to the payment service took, by what became of them.',
    labelNames: ['call', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const unauthorized = new Counter({
    name: 'paygraph_service_unauthorized_total',
    help: 'Calls that the service refused with 401, also after what may mend it was tried.',
    registers,
  });
  const retries = new Counter({
    name: 'paygraph_service_retries_total',
    help: 'Lookups that were tried again. Calls that move money never are.',
    registers,
  });
  const observers = new Map<string, (seconds: number) => void>();
  return {
    ended: (call, result, seconds) => {
      const series = `${call} ${result}`;
      let observe = observers.get(series);
      if (!observe) observers.set(series, (observe = duration.labels(call, result).observe));
      observe(seconds);
      if (result === UNAUTHORIZED) unauthorized.inc();
    },
    retried: () => retries.inc(),
  };
}

/** Registers gauges of the connection to the payment service. */
export function registerServiceGauges(registry: Registry, state: ServiceState): void {
  const registers = [registry];
  new Gauge({
    name: 'paygraph_service_breaker_open',
    help: '1 while the service counts as down and calls are not sent; by what trips the breaker.',
    labelNames: ['breaker'],
    aggregator: 'max',
    registers,
    collect() {
      for (const [breaker, isOpen] of Object.entries(state.breakers())) this.set({ breaker }, Number(isOpen));
    },
  });
  new Gauge({
    name: 'paygraph_service_requests_in_flight',
    help: 'Calls to the service that are under way, by lane.',
    labelNames: ['lane'],
    registers,
    collect() {
      for (const [lane, { underWay }] of Object.entries(state.lanes())) this.set({ lane }, underWay);
    },
  });
  new Gauge({
    name: 'paygraph_service_requests_queued',
    help: 'Calls to the service that wait for their turn, by lane.',
    labelNames: ['lane'],
    registers,
    collect() {
      for (const [lane, { waiting }] of Object.entries(state.lanes())) this.set({ lane }, waiting);
    },
  });
  new Gauge({
    name: 'paygraph_service_clock_skew_seconds',
    help: "How far the service's clock is from this one, as far as calls had to be signed by it; else 0.",
    aggregator: 'max',
    registers,
    collect() {
      this.set(state.clockSkew());
    },
  });
}
