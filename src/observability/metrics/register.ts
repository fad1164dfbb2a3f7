import { Counter, Gauge, type Registry } from 'prom-client';

/** Label value that replaces unknown values, and values beyond the maximum number of distinct values of a label. */
export const OTHER_LABEL = 'other';

/** Returns a function that keeps the first `maxValues` distinct values of a label, and replaces all others by `other`. */
export function createLabelLimiter(maxValues: number): (value: string) => string {
  const keptValues = new Set<string>();
  return (value) => {
    if (keptValues.size < maxValues) keptValues.add(value);
    return keptValues.has(value) ? value : OTHER_LABEL;
  };
}

interface LabelledCounterOptions<V> {
  name: string;
  help: string;
  label: string;
  /** Label values whose series start at 0. Prometheus then sees the first event as an increase. */
  initialLabelValues?: readonly V[];
}

/** Registers a counter with one label. Returns a function that counts an event with a label value. */
export function registerLabelledCounter<V extends string>(
  registry: Registry,
  { name, help, label, initialLabelValues = [] }: LabelledCounterOptions<V>,
): (value: V) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const value of initialLabelValues) counter.inc({ [label]: value }, 0);
  return (value) => counter.inc({ [label]: value });
}

/** Value of a metric: a number, one number for each set of labels if the metric has labels, or null for no value. */
type MetricValue = number | null | readonly (readonly [labels: Record<string, string>, value: number])[];

interface ScrapedMetric {
  help: string;
  labels?: readonly string[];
  read(): MetricValue | Promise<MetricValue>;
}

/**
 * Registers metrics whose values are read at each scrape. If the name of a metric ends in _total, the metric is a
 * counter; otherwise, it is a gauge.
 */
export function registerScrapedMetrics(
  registry: Registry,
  metrics: Readonly<Record<string, ScrapedMetric>>,
): void {
  for (const [name, { help, labels = [], read }] of Object.entries(metrics))
    new (name.endsWith('_total') ? Counter : Gauge)({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const value = await read();
        this.reset();
        if (value === null) this.remove();
        else if (typeof value === 'number') this.inc(value);
        else for (const [ofLabels, number] of value) this.inc(ofLabels, number);
      },
    });
}
