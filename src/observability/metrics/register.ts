import { Counter, Gauge, type Registry } from 'prom-client';

/** Label value that replaces unknown values, and values beyond the maximum number of distinct values of a label. */
export const OTHER_LABEL = 'other';

/** Returns a function that keeps the first `maxValueCount` distinct label values and replaces all others by `other`. */
export function createLabelLimiter(maxValueCount: number): (value: string) => string {
  const keptValues = new Set<string>();
  return (labelValue) => {
    if (keptValues.size < maxValueCount) keptValues.add(labelValue);
    return keptValues.has(labelValue) ? labelValue : OTHER_LABEL;
  };
}

interface LabelledCounterOptions<V> {
  name: string;
  help: string;
  labelName: string;
  /** Label values whose series start at 0. Prometheus then sees the first event as an increase. */
  initialLabelValues?: readonly V[];
}

/** Registers a counter with one label. Returns a function that counts an event with a label value. */
export function registerLabelledCounter<V extends string>(
  registry: Registry,
  { name, help, labelName, initialLabelValues = [] }: LabelledCounterOptions<V>,
): (value: V) => void {
  const counter = new Counter({ name, help, labelNames: [labelName], registers: [registry] });
  for (const labelValue of initialLabelValues) counter.inc({ [labelName]: labelValue }, 0);
  return (labelValue) => counter.inc({ [labelName]: labelValue });
}

/** Value of a metric: a number, one number for each set of labels if the metric has labels, or null for no value. */
type MetricValue = number | null | readonly (readonly [labels: Record<string, string>, value: number])[];

interface ScrapedMetric {
  help: string;
  labelNames?: readonly string[];
  read(): MetricValue | Promise<MetricValue>;
}

/** Registers metrics whose values are read at each scrape: counters if their names end in _total, otherwise gauges. */
export function registerScrapedMetrics(
  registry: Registry,
  metricByName: Readonly<Record<string, ScrapedMetric>>,
): void {
  for (const [name, { help, labelNames = [], read }] of Object.entries(metricByName))
    new (name.endsWith('_total') ? Counter : Gauge)({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const metricValue = await read();
        this.reset();
        if (metricValue === null) this.remove();
        else if (typeof metricValue === 'number') this.inc(metricValue);
        else for (const [ofLabels, number] of metricValue) this.inc(ofLabels, number);
      },
    });
}
