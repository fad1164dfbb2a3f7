import { Counter, Histogram, type Registry } from 'prom-client';
import { registerGauge, registerGauges } from './register';

/** Counts requests to the payment service. */
export interface ServiceMetrics {
  /** A request has ended. `call` and `result` each have a few values. */
  ended(call: string, result: string, seconds: number): void;
  /** A lookup is retried. */
  retried(): void;
}

/** State of the connection to the payment service. */
export interface ServiceState {
  /** The circuit breakers by name: whether they are open. */
  breakers(): Readonly<Record<string, boolean>>;
  /** The bulkheads by name: requests in flight and queued. */
  lanes(): Readonly<Record<string, { underWay: number; waiting: number }>>;
  /** Correction of the timestamps in signatures, in seconds; never negative. */
  clockSkew: () => number;
}

const UNAUTHORIZED = 'unauthorized';

export function serviceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry];
  const duration = new Histogram({
    name: 'paygraph_service_request_duration_seconds',
    help: 'Duration of requests to the payment service, by result.',
    labelNames: ['call', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const unauthorized = new Counter({
    name: 'paygraph_service_unauthorized_total',
    help: 'Requests to the payment service that ended with status 401, after retries with another key or clock.',
    registers,
  });
  const retries = new Counter({
    name: 'paygraph_service_retries_total',
    help: 'Retried lookups. Mutations are never retried.',
    registers,
  });
  // Finding a series by its labels takes longer than adding to it.
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
  const byLane = (countOf: (lane: { underWay: number; waiting: number }) => number): Record<string, number> =>
    Object.fromEntries(Object.entries(state.lanes()).map(([name, lane]) => [name, countOf(lane)]));
  registerGauges(
    registry,
    {
      name: 'paygraph_service_breaker_open',
      help: '1 while a circuit breaker is open: requests to the payment service are not sent.',
      label: 'breaker',
    },
    () =>
      Object.fromEntries(Object.entries(state.breakers()).map(([name, isOpen]) => [name, Number(isOpen)])),
  );
  registerGauges(
    registry,
    {
      name: 'paygraph_service_requests_in_flight',
      help: 'Requests to the payment service in flight, by bulkhead.',
      label: 'lane',
    },
    () => byLane(({ underWay }) => underWay),
  );
  registerGauges(
    registry,
    {
      name: 'paygraph_service_requests_queued',
      help: 'Requests to the payment service that wait in the queue of their bulkhead.',
      label: 'lane',
    },
    () => byLane(({ waiting }) => waiting),
  );
  registerGauge(
    registry,
    'paygraph_service_clock_skew_seconds',
    "Difference between the payment service's clock and this one, where signatures had to be corrected by it; else 0.",
    state.clockSkew,
  );
}
