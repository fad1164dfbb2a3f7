import { Registry, collectDefaultMetrics } from 'prom-client';
import { singleFlight } from '../../shared/single-flight';
import { changeMetrics, operationMetrics, paymentMetrics, serverMetrics, serviceMetrics } from './events';
import { registerScrapedMetrics } from './register';

/**
 * Matches default metrics of prom-client that the gateway omits: active resources, handles and requests, and three
 * metrics of the event loop lag. These three are NaN or wrong if nothing was measured since the last scrape.
 */
const EXCLUDED_METRIC_PATTERN =
  /^nodejs_(active_(resources|handles|requests)(_total)?|eventloop_lag_(min|stddev|mean)_seconds)$/;

let processRegistry: Registry | undefined;

/** Returns the metrics of this process, measured since the first call. All gateways in the process share them. */
function getProcessRegistry(): Registry {
  if (processRegistry) return processRegistry;
  processRegistry = new Registry();
  collectDefaultMetrics({ register: processRegistry });
  for (const { name } of processRegistry.getMetricsAsArray())
    if (EXCLUDED_METRIC_PATTERN.test(name)) processRegistry.removeSingleMetric(name);
  registerScrapedMetrics(processRegistry, {
    paygraph_time_seconds: {
      help: 'System clock of this instance, in seconds since 1970.',
      read: () => Date.now() / 1000,
    },
  });
  return processRegistry;
}

/**
 * The metrics of one gateway (docs/observability.md). Events are counted when they occur, gauges are read at scrapes.
 * The only label values that callers or payers can choose are operation names. After the first 200 names, others become
 * `other`.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #processRegistry = getProcessRegistry();
  readonly onOperationEnded = operationMetrics(this.#registry);
  readonly service = serviceMetrics(this.#registry);
  readonly payments = paymentMetrics(this.#registry);
  readonly changes = changeMetrics(this.#registry);
  readonly server = serverMetrics(this.#registry);
  /** Registers metrics whose values are read at each scrape, by name. A name may be registered only once. */
  readonly registerScraped = registerScrapedMetrics.bind(null, this.#registry);
  /** Returns the metrics in the text format of Prometheus. Concurrent calls share one result. */
  readonly renderMetrics = singleFlight(async () => {
    const mergedRegistry = Registry.merge([this.#registry, this.#processRegistry]);
    return { contentType: mergedRegistry.contentType, text: await mergedRegistry.metrics() };
  });
}
