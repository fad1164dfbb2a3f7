import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';

/** Of each of these the worst process is what matters, and not their mean. */
const WORST = [
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  // The youngest process: it changes with every one that is started.
  'process_start_time_seconds',
];

/** Names that promise counters and hold none, and numbers that mean nothing where nothing was measured. */
const LEFT_OUT =
  /^nodejs_(active_(resources|handles|requests)(_total)?|eventloop_lag_(min|stddev|mean)_seconds)$/;

let shared: Registry | undefined;

/** What there is to say of this process, measured from the first call on. There is one such registry, as there is one process. */
export function processMetrics(): Registry {
  if (shared) return shared;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of registry.getMetricsAsArray()) {
    if (WORST.includes(metric.name)) Object.assign(metric, { aggregator: 'max' });
    if (LEFT_OUT.test(metric.name)) registry.removeSingleMetric(metric.name);
  }
  new Gauge({
    name: 'paygraph_processes',
    help: 'The processes that this page tells of: the WORKERS that answered.',
    registers: [registry],
  }).set(1);
  new Gauge({
    name: 'paygraph_time_seconds',
    help: 'What time this machine thinks it is, in seconds since 1970.',
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(Date.now() / 1000);
    },
  });
  shared = registry;
  return registry;
}
