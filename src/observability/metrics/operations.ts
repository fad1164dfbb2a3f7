import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, OTHER } from './register';

/**
 * Counts an operation that has ended.
 * @param type query, mutation or subscription; undefined where no operation of the document was selected
 * @param name the name of a valid operation, in a form fit for logs
 * @param code the code of its first error
 * @param seconds undefined for subscriptions
 */
export type OperationEnded = (
  type: string | undefined,
  name: string | undefined,
  code: string | undefined,
  seconds: number | undefined,
) => void;

/** Distinct operation names in labels; callers choose them. */
const MAX_NAMES = 200;
const MAX_OUTCOMES = 40;
const ANONYMOUS = 'anonymous';
const UNKNOWN_TYPE = 'unknown';
const OK = 'ok';
const BUG = 'INTERNAL_SERVER_ERROR';

/** The series of one operation. Finding a series by its labels takes longer than adding to it. */
interface Series {
  name: string;
  observe(seconds: number): void;
  /** By outcome. */
  counts: Map<string, { inc(): void }>;
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
  // Without labels, so that it starts at 0: the first increase of a new series is not visible as one.
  const bugs = new Counter({
    name: 'paygraph_internal_errors_total',
    help: 'Operations that ended with INTERNAL_SERVER_ERROR, a bug of the gateway.',
    registers: [registry],
  });
  const nameLabel = boundedLabel(MAX_NAMES);
  const outcomeLabel = boundedLabel(MAX_OUTCOMES);
  const all = new Map<string, Map<string, Series>>();

  const seriesOf = (type: string, operationName: string): Series => {
    const ofType = all.get(type) ?? new Map<string, Series>();
    all.set(type, ofType);
    const name = nameLabel(operationName);
    const { observe } = duration.labels(type, name);
    const series = ofType.get(name) ?? { name, observe, counts: new Map() };
    ofType.set(name, series);
    return series;
  };
  const countOf = (type: string, { name, counts }: Series, code: string): { inc(): void } => {
    const outcome = outcomeLabel(code);
    const count = counts.get(outcome) ?? total.labels(type, name, outcome);
    counts.set(outcome, count);
    return count;
  };

  return (type = UNKNOWN_TYPE, operationName = ANONYMOUS, code = OK, seconds) => {
    // The name of an operation that was not selected is not known.
    const name = type === UNKNOWN_TYPE ? OTHER : operationName;
    const series = all.get(type)?.get(name) ?? seriesOf(type, name);
    if (seconds !== undefined) series.observe(seconds);
    if (code === BUG) bugs.inc();
    (series.counts.get(code) ?? countOf(type, series, code)).inc();
  };
}
