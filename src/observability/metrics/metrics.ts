import { Registry, collectDefaultMetrics } from 'prom-client';
import {
  paymentMetrics,
  registerPaymentGauges,
  type PaymentMetrics,
  type JournalAndAuditState,
} from './money';
import { operationMetrics, type OperationEnded } from './operations';
import { registerGauge } from './register';
import { serviceMetrics, registerServiceGauges, type ServiceMetrics, type ServiceState } from './service';
import {
  registerClientKeyGauges,
  registerServerGauges,
  serverMetrics,
  type ClientKeyState,
  type ServerMetrics,
  type ServerState,
} from './web';

/** A page of metrics in the text format of Prometheus. */
interface MetricsPage {
  contentType: string;
  text: string;
}

/** Default metrics of prom-client that are removed: gauges named like counters, and gauges without a measured value. */
const EXCLUDED_METRICS =
  /^nodejs_(active_(resources|handles|requests)(_total)?|eventloop_lag_(min|stddev|mean)_seconds)$/;

let processRegistry: Registry | undefined;

/** Returns the default metrics of the process, measured since the first call. All gateways of a process share them. */
function processMetrics(): Registry {
  if (processRegistry) return processRegistry;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of registry.getMetricsAsArray()) {
    if (EXCLUDED_METRICS.test(metric.name)) registry.removeSingleMetric(metric.name);
  }
  const help = 'System clock of this instance, in seconds since 1970.';
  registerGauge(registry, 'paygraph_time_seconds', help, () => Date.now() / 1000);
  processRegistry = registry;
  return registry;
}

/**
 * The metrics of one gateway (docs/observability.md). Events are counted as they occur; states are read at each scrape.
 * Callers and payers choose no label values, except the operation names, of which only the first 200 become labels.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #process = processMetrics();
  readonly operationEnded: OperationEnded = operationMetrics(this.#registry);
  readonly service: ServiceMetrics = serviceMetrics(this.#registry);
  readonly payments: PaymentMetrics = paymentMetrics(this.#registry);
  readonly server: ServerMetrics = serverMetrics(this.#registry);
  #readJournal: () => Promise<void> = () => Promise.resolve();
  #page: Promise<MetricsPage> | undefined;

  /** Registers the gauges of the connection to the payment service. Call it once. */
  registerServiceGauges(state: ServiceState): void {
    registerServiceGauges(this.#registry, state);
  }

  /** Registers the gauges of journal and audit log. Call it once. */
  registerPaymentGauges(state: JournalAndAuditState): void {
    this.#readJournal = registerPaymentGauges(this.#registry, state);
  }

  /** Registers the gauges of the HTTP server. Call it once. */
  registerServerGauges(state: ServerState): void {
    registerServerGauges(this.#registry, state);
  }

  /** Registers the gauges of last use and expiry of client keys. Call it once. */
  registerClientKeyGauges(read: () => readonly ClientKeyState[]): void {
    registerClientKeyGauges(this.#registry, read);
  }

  /** Returns the metrics in the text format of Prometheus. Concurrent calls share one page. */
  page(): Promise<MetricsPage> {
    this.#page ??= this.#render().finally(() => {
      this.#page = undefined;
    });
    return this.#page;
  }

  async #render(): Promise<MetricsPage> {
    await this.#readJournal();
    const all = Registry.merge([this.#registry, this.#process]);
    return { contentType: all.contentType, text: await all.metrics() };
  }
}
