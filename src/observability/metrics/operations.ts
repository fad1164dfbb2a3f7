import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, OTHER_LABEL } from './register';

/** Maximum number of distinct operation names in labels, because callers choose the names. */
const MAX_NAME_LABELS = 200;
const MAX_OUTCOME_LABELS = 40;
const UNKNOWN_TYPE = 'unknown';

/** Creates the metrics of operations. Returns a function that records an operation that has ended. */
export function operationMetrics(registry: Registry) {
  const operationCounter = new Counter({
    name: 'paygraph_operations_total',
    help: 'Operations that have ended, by outcome: ok, or the code of the first error.',
    labelNames: ['type', 'name', 'outcome'],
    registers: [registry],
  });
  const durationHistogram = new Histogram({
    name: 'paygraph_operation_duration_seconds',
    help: 'Duration of queries and mutations.',
    labelNames: ['type', 'name'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // This counter has no labels, so it exists with 0 from the start, and Prometheus sees the first error as an increase.
  const internalErrorCounter = new Counter({
    name: 'paygraph_internal_errors_total',
    help: 'Operations that ended with INTERNAL_SERVER_ERROR, a bug of the gateway.',
    registers: [registry],
  });
  const nameLabel = boundedLabel(MAX_NAME_LABELS);
  const outcomeLabel = boundedLabel(MAX_OUTCOME_LABELS);

  /**
   * @param type query, mutation or subscription; undefined if no operation was selected, for example because the
   *   document is invalid
   * @param operationName undefined if the operation has no name, or its name must not be logged
   * @param code code of the first error; undefined if there is none
   * @param seconds the duration; undefined for subscriptions, whose duration is not recorded
   */
  return (type = UNKNOWN_TYPE, operationName = 'anonymous', code = 'ok', seconds?: number): void => {
    // Without a selected operation, the name is unknown, so the label is `other` and not `anonymous`.
    const name = type === UNKNOWN_TYPE ? OTHER_LABEL : nameLabel(operationName);
    if (seconds !== undefined) durationHistogram.observe({ type, name }, seconds);
    if (code === 'INTERNAL_SERVER_ERROR') internalErrorCounter.inc();
    operationCounter.inc({ type, name, outcome: outcomeLabel(code) });
  };
}
