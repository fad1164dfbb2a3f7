import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, OTHER } from './register';

/**
 * Counts an operation that has ended.
 * @param type query, mutation or subscription; undefined if no operation of the document was selected
 * @param name the name of the operation, if it has one that may be logged
 * @param code the code of the first error; undefined if there is none
 * @param seconds the duration; undefined for subscriptions
 */
export type OperationEnded = (
  type: string | undefined,
  name: string | undefined,
  code: string | undefined,
  seconds: number | undefined,
) => void;

/** Maximum number of distinct operation names in labels. It is limited, because callers choose the names. */
const MAX_NAME_LABELS = 200;
const MAX_OUTCOME_LABELS = 40;
const ANONYMOUS = 'anonymous';
const UNKNOWN_TYPE = 'unknown';
const OK = 'ok';
const INTERNAL_ERROR = 'INTERNAL_SERVER_ERROR';

/** The series of one operation, cached because finding a series by its labels takes longer than adding to it. */
interface Series {
  name: string;
  observe(seconds: number): void;
  /** Counters by outcome label. */
  counters: Map<string, { inc(): void }>;
}

export function operationMetrics(registry: Registry): OperationEnded {
  const total = new Counter({
    name: 'paygraph_operations_total',
    help: 'Operations that have ended, by outcome: ok, or the code of the first error.',
    labelNames: ['type', 'name', 'outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'paygraph_operation_duration_seconds',
    help: 'Duration of queries and mutations.',
    labelNames: ['type', 'name'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Has no labels, so that it starts at 0: Prometheus does not see the first value of a new series as an increase.
  const bugs = new Counter({
    name: 'paygraph_internal_errors_total',
    help: 'Operations that ended with INTERNAL_SERVER_ERROR, a bug of the gateway.',
    registers: [registry],
  });
  const nameLabel = boundedLabel(MAX_NAME_LABELS);
  const outcomeLabel = boundedLabel(MAX_OUTCOME_LABELS);
  const seriesByType = new Map<string, Map<string, Series>>();

  const seriesOf = (type: string, operationName: string): Series => {
    const ofType = seriesByType.get(type) ?? new Map<string, Series>();
    seriesByType.set(type, ofType);
    const name = nameLabel(operationName);
    const { observe } = duration.labels(type, name);
    const series = ofType.get(name) ?? { name, observe, counters: new Map() };
    ofType.set(name, series);
    return series;
  };
  const counterOf = (type: string, { name, counters }: Series, code: string): { inc(): void } => {
    const outcome = outcomeLabel(code);
    const count = counters.get(outcome) ?? total.labels(type, name, outcome);
    counters.set(outcome, count);
    return count;
  };

  return (type = UNKNOWN_TYPE, operationName = ANONYMOUS, code = OK, seconds) => {
    // If no operation was selected, its name is unknown.
    const name = type === UNKNOWN_TYPE ? OTHER : operationName;
    const series = seriesByType.get(type)?.get(name) ?? seriesOf(type, name);
    if (seconds !== undefined) series.observe(seconds);
    if (code === INTERNAL_ERROR) bugs.inc();
    (series.counters.get(code) ?? counterOf(type, series, code)).inc();
  };
}
