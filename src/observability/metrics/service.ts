import { Counter, Histogram, type Registry } from 'prom-client';
import { cachedSeries, registerScrapedMetrics } from './register';

/** Functions that read the state of the payment service client. */
interface ServiceState {
  /** Returns for each circuit breaker, by its name, whether it is open or half open. */
  isOpenByBreaker(): Readonly<Record<string, boolean>>;
  /**
   * Returns for each bulkhead (concurrency limit; a `lane` in the metrics), by its name, the number of requests in
   * flight (`inFlight`) and in its queue (`waiting`).
   */
  bulkheads(): Readonly<Record<string, { inFlight: number; waiting: number }>>;
  /** Returns the absolute clock skew in seconds by which signatures are corrected; 0 if they are not corrected. */
  clockSkew(): number;
}

/** Creates the metrics of requests to the payment service. */
export function serviceMetrics(registry: Registry) {
  const registers = [registry];
  const durationHistogram = new Histogram({
    name: 'paygraph_service_request_duration_seconds',
    help: 'Duration of requests to the payment service, by result.',
    labelNames: ['call', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const unauthorizedCounter = new Counter({
    name: 'paygraph_service_unauthorized_total',
    help: 'Requests that the payment service rejected with 401, even when repeated with the time of its clock and with the other secret key, if there is one. Check the credentials and the clock.',
    registers,
  });
  const retryCounter = new Counter({
    name: 'paygraph_service_retries_total',
    help: 'Lookups that were sent again because the payment service was unavailable.',
    registers,
  });
  const durationSeries = cachedSeries((call, result) => durationHistogram.labels(call, result));
  return {
    /** Records a request that has ended. `call` and `result` become labels, so they must have few values. */
    requestEnded: (call: string, result: string, seconds: number): void => {
      durationSeries(call, result).observe(seconds);
      if (result === 'unauthorized') unauthorizedCounter.inc();
    },
    lookupRetried: (): void => retryCounter.inc(),
  };
}

/** Registers the gauges of the payment service client. */
export function registerServiceGauges(registry: Registry, state: ServiceState): void {
  const mapValues = <T>(values: Readonly<Record<string, T>>, read: (value: T) => number) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, read(value)]));
  registerScrapedMetrics(registry, {
    paygraph_service_breaker_open: {
      help: '1 while a circuit breaker is open (requests to the payment service are rejected) or half open (one probing request is sent); otherwise 0.',
      label: 'breaker',
      read: () => mapValues(state.isOpenByBreaker(), Number),
    },
    paygraph_service_requests_in_flight: {
      help: 'Requests to the payment service in flight, by lane (lookups, payments, payouts).',
      label: 'lane',
      read: () => mapValues(state.bulkheads(), ({ inFlight }) => inFlight),
    },
    paygraph_service_requests_queued: {
      help: 'Requests to the payment service that wait in a queue, by lane (lookups, payments, payouts).',
      label: 'lane',
      read: () => mapValues(state.bulkheads(), ({ waiting }) => waiting),
    },
    paygraph_service_clock_skew_seconds: {
      help: 'Clock correction of request signatures in seconds, without sign. Above 0: the service rejected the time of this machine, and requests are signed with the time of the service.',
      read: () => state.clockSkew(),
    },
  });
}
