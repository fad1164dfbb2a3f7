import { Counter, Histogram, type Registry } from 'prom-client';

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
  return {
    /** Records a request that has ended. `call` and `result` become labels, so they must have few values. */
    requestEnded: (call: string, result: string, seconds: number): void => {
      durationHistogram.observe({ call, result }, seconds);
      if (result === 'unauthorized') unauthorizedCounter.inc();
    },
    lookupRetried: (): void => retryCounter.inc(),
  };
}
