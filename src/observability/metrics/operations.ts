import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, OTHER } from './labels';

/**
 * Hears of an operation that has ended; nothing is waited for.
 * @param type query, mutation or subscription; undefined where it is not known which operation was meant
 * @param name of an operation that was found valid, in a form fit for logs
 * @param code of its first error
 * @param seconds undefined where its duration says nothing, as that of a subscription
 */
export type OperationEnded = (
  type: string | undefined,
  name: string | undefined,
  code: string | undefined,
  seconds: number | undefined,
) => void;

/** Callers choose the names of their operations: so many are told apart. */
const MAX_NAMES = 200;
const MAX_OUTCOMES = 40;
const ANONYMOUS = 'anonymous';
const UNKNOWN_TYPE = 'unknown';
const OK = 'ok';
const BUG = 'INTERNAL_SERVER_ERROR';

/** What is counted of one operation. To find a series by its labels takes longer than to add to it, so they are kept. */
interface Series {
  name: string;
  observe(seconds: number): void;
  /** By outcome. */
  counts: Map<string, { inc(): void }>;
}

/** Counts operations and measures how long they took. */
export function operationMetrics(registry: Registry): OperationEnded {
  const total = new Counter({
    name: 'paygraph_operations_total',
    help: 'Operations that have ended, by how: ok, or the code of the first error.',
    labelNames: ['type', 'name', 'outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'paygraph_operation_duration_seconds',
    help: 'How long queries and mutations took.',
    labelNames: ['type', 'name'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Of its own and without labels, as it is there from the start: what appears with its first increase shows none.
  const bugs = new Counter({
    name: 'paygraph_internal_errors_total',
    help: 'Operations that ended with INTERNAL_SERVER_ERROR: something happened that should not.',
    registers: [registry],
  });
  const nameLabel = boundedLabel(MAX_NAMES);
  const outcomeLabel = boundedLabel(MAX_OUTCOMES);
  const all = new Map<string, Map<string, Series>>();

  const seriesOf = (type: string, asked: string): Series => {
    const ofType = all.get(type) ?? new Map<string, Series>();
    all.set(type, ofType);
    const name = nameLabel(asked);
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

  return (type = UNKNOWN_TYPE, asked = ANONYMOUS, code = OK, seconds) => {
    // Of what could not be understood, not even its name is.
    const name = type === UNKNOWN_TYPE ? OTHER : asked;
    const series = all.get(type)?.get(name) ?? seriesOf(type, name);
    if (seconds !== undefined) series.observe(seconds);
    if (code === BUG) bugs.inc();
    (series.counts.get(code) ?? countOf(type, series, code)).inc();
  };
}
