import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';

/** Default metrics of prom-client that are not exported: gauges named like counters, and values without a measurement. */
const EXCLUDED =
  /^nodejs_(active_(resources|handles|requests)(_total)?|eventloop_lag_(min|stddev|mean)_seconds)$/;

let shared: Registry | undefined;

/** Default metrics of the process, measured from the first call on. One registry, as the metrics are the process's. */
export function processMetrics(): Registry {
  if (shared) return shared;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of registry.getMetricsAsArray()) {
    if (EXCLUDED.test(metric.name)) registry.removeSingleMetric(metric.name);
  }
  new Gauge({
    name: 'paygraph_time_seconds',
    help: 'System clock of this instance, in seconds since 1970.',
    registers: [registry],
    collect() {
      this.set(Date.now() / 1000);
    },
  });
  shared = registry;
  return registry;
}
