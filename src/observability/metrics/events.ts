import { Counter, Histogram, type Registry } from 'prom-client';
import { createLabelLimiter, OTHER_LABEL, registerLabelledCounter } from './register';

// Metrics of events: counters and histograms. Gauges, which are read at each scrape, are in src/app/gauges.ts.

/** Maximum number of distinct operation names in labels, because callers choose the names. */
const MAX_OPERATION_NAME_LABELS = 200;
const MAX_OUTCOME_LABELS = 40;
const UNKNOWN_OPERATION_TYPE = 'unknown';

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
  const nameLabelOf = createLabelLimiter(MAX_OPERATION_NAME_LABELS);
  const outcomeLabelOf = createLabelLimiter(MAX_OUTCOME_LABELS);

  /**
   * @param type query, mutation or subscription; undefined if no operation was selected, for example because the
   *   document is invalid
   * @param operationName undefined if the operation has no name, or its name must not be logged
   * @param outcome code of the first error; undefined if there is none
   * @param seconds the duration; undefined for subscriptions, whose duration is not recorded
   */
  return (
    type = UNKNOWN_OPERATION_TYPE,
    operationName = 'anonymous',
    outcome = 'ok',
    seconds?: number,
  ): void => {
    // Without a selected operation, the name is unknown, so the label is `other` and not `anonymous`.
    const nameLabel = type === UNKNOWN_OPERATION_TYPE ? OTHER_LABEL : nameLabelOf(operationName);
    if (seconds !== undefined) durationHistogram.observe({ type, name: nameLabel }, seconds);
    if (outcome === 'INTERNAL_SERVER_ERROR') internalErrorCounter.inc();
    operationCounter.inc({ type, name: nameLabel, outcome: outcomeLabelOf(outcome) });
  };
}

/**
 * Mutations whose counters of unknown outcomes start at 0. Prometheus then sees the first unknown outcome as an
 * increase.
 */
const MONEY_MUTATION_NAMES = ['createPayment', 'confirmPayment', 'createPayout'];

/** Creates the metrics of mutations that move money, recoveries of unknown outcomes, clock jumps, and journal calls. */
export function paymentMetrics(registry: Registry) {
  const mutationCounter = new Counter({
    name: 'paygraph_mutations_total',
    help: 'Mutations that move money, by outcome. replayed: the result is from an earlier call, or from a lookup after a lost response.',
    labelNames: ['call', 'outcome', 'replayed'],
    registers: [registry],
  });
  for (const mutationName of MONEY_MUTATION_NAMES)
    mutationCounter.inc({ call: mutationName, outcome: 'OutcomeUnknownError', replayed: 'false' }, 0);
  const outcomeLabelOf = createLabelLimiter(MAX_OUTCOME_LABELS);
  const recoveryCounter = new Counter({
    name: 'paygraph_reconciliations_total',
    help: 'Lookups that try to determine an unknown outcome, by result. found: the payment or payout exists. not_sent: nothing was created. missing: the outcome is still unknown, because the lookup failed or showed no transaction that certainly belongs to the attempt.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  const countReconcilerRun = registerLabelledCounter(registry, {
    name: 'paygraph_reconciler_runs_total',
    help: 'Runs of the background job that recovers unknown outcomes (not of the command reconcile), by result. done: the run ended. failed: a journal call failed; the next run tries again.',
    labelName: 'result',
    initialLabelValues: ['done', 'failed'],
  });
  return {
    /** Counts a mutation that has ended. `outcome` and `replayed` are those of its AuditEntry. */
    onMutationEnded: (mutationName: string, outcome: string, replayed: boolean): void =>
      mutationCounter.inc({
        call: mutationName,
        outcome: outcomeLabelOf(outcome),
        replayed: String(replayed),
      }),
    /**
     * Counts a try to recover an unknown outcome by a lookup. `recoveryResult`: `found`, `not_sent`, or `missing` if
     * the outcome is still unknown (see RecoveryResultKind).
     */
    onRecoveryResult: (kind: string, recoveryResult: string): void =>
      recoveryCounter.inc({ kind, result: recoveryResult }),
    /** Counts a run of the job that recovers unknown outcomes. `hasSucceeded`: false if the run failed. */
    onRecoveryJobRun: (hasSucceeded: boolean): void => countReconcilerRun(hasSucceeded ? 'done' : 'failed'),
    /** Counts a jump of a clock: `system` (of this machine) or `journal` (of the journal's database). */
    onClockStep: registerLabelledCounter<string>(registry, {
      name: 'paygraph_clock_steps_total',
      help: "Clock jumps of more than 1 s: of the machine (system) or of the journal's database (journal). For UNKNOWN_SETTLE_SECONDS after a jump, lookups turn no unknown outcome into not_sent.",
      labelName: 'clock',
      initialLabelValues: ['system', 'journal'],
    }),
    onJournalCallEnded: journalCallMetrics(registry),
  };
}

function journalCallMetrics(registry: Registry) {
  const durationHistogram = new Histogram({
    name: 'paygraph_journal_call_duration_seconds',
    help: 'Duration of journal calls, including failed ones.',
    labelNames: ['call'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const errorCounter = new Counter({
    name: 'paygraph_journal_errors_total',
    help: 'Failed journal calls, by call.',
    labelNames: ['call'],
    registers: [registry],
  });
  const countFailure = registerLabelledCounter<string>(registry, {
    name: 'paygraph_journal_failures_total',
    help: 'Failed journal calls, by reason. The same calls as in paygraph_journal_errors_total.',
    labelName: 'reason',
  });
  /** Records a journal call that has ended. `failureReason`: value of the label `reason`; null on success. */
  return (callName: string, failureReason: string | null, seconds: number): void => {
    durationHistogram.observe({ call: callName }, seconds);
    errorCounter.inc({ call: callName }, failureReason ? 1 : 0);
    if (failureReason) countFailure(failureReason);
  };
}

/** Creates the metrics of followed transactions, recorded changes and their delivery. */
export function changeMetrics(registry: Registry) {
  const recordedCounter = new Counter({
    name: 'paygraph_changes_recorded_total',
    help: 'Changes of the status or state of payments and payouts that this instance recorded.',
    labelNames: ['kind', 'status'],
    registers: [registry],
  });
  const droppedCounter = new Counter({
    name: 'paygraph_observations_dropped_total',
    help: 'Responses of the payment service that were dropped before their status and state were compared with the journal, because the journal could not be written for ten minutes or too many responses were queued. A change in such a response is recorded when a later lookup shows it.',
    registers: [registry],
  });
  const followLookupCounter = new Counter({
    name: 'paygraph_follow_lookups_total',
    help: 'Due lookups of followed transactions, by result. found: the service returned the transaction. missing: the service did not find it. failed: the lookup failed. postponed: not sent, another response had just shown the state. expired: not sent, FOLLOW_DAYS have passed since the create.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  const deliveryHistogram = new Histogram({
    name: 'paygraph_change_delivery_seconds',
    help: 'Time from recording a change until this instance delivers it to a subscriber. Subscribers that are catching up are not measured.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return {
    /** Counts a recorded change or, if `isRecorded` is false, a dropped response (see help of the metric). */
    onRecordedOrDropped: (kind: string, status: string, isRecorded: boolean): void =>
      isRecorded ? recordedCounter.inc({ kind, status }) : droppedCounter.inc(),
    /** Counts a followed transaction that was due for a lookup. `result`: see the help of the metric. */
    onFollowLookup: (kind: string, result: string): void => followLookupCounter.inc({ kind, result }),
    /** Records the delivery of a change to a subscriber. `ageMs`: time since the change was recorded. */
    onChangeDelivered: (ageMs: number): void => deliveryHistogram.observe(Math.max(0, ageMs) / 1000),
  };
}

/** Creates the metrics of requests to the payment service. */
export function serviceMetrics(registry: Registry) {
  const durationHistogram = new Histogram({
    name: 'paygraph_service_request_duration_seconds',
    help: 'Duration of requests to the payment service, by result.',
    labelNames: ['call', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const unauthorizedCounter = new Counter({
    name: 'paygraph_service_unauthorized_total',
    help: "Requests that the payment service rejected with 401, even when repeated with the service's time and with the second secret key (if set). Check the credentials and the clock of this machine.",
    registers: [registry],
  });
  const retryCounter = new Counter({
    name: 'paygraph_service_retries_total',
    help: 'Lookups that were sent again because the payment service was unavailable.',
    registers: [registry],
  });
  return {
    /** Records a request that has ended. `callName` and `result` become label values, so they must have few values. */
    onRequestEnded: (callName: string, result: string, seconds: number): void => {
      durationHistogram.observe({ call: callName, result }, seconds);
      if (result === 'unauthorized') unauthorizedCounter.inc();
    },
    onLookupRetried: (): void => retryCounter.inc(),
  };
}

/** Creates the counters of rejected requests, of rejected and closed connections, and of polls. */
export function serverMetrics(registry: Registry) {
  const pollCounter = new Counter({
    name: 'paygraph_polls_total',
    help: 'Lookups of transactions for subscriptions, by result.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  return {
    onRequestRejected: registerLabelledCounter(registry, {
      name: 'paygraph_requests_rejected_total',
      help: 'Requests and subscriptions that were rejected before execution, by reason.',
      labelName: 'reason',
      initialLabelValues: ['rate_limited', 'overloaded', 'subscription_limit', 'unauthenticated'],
    }),
    onConnectionRefused: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_rejected_total',
      help: 'Client connections that were not accepted, by reason.',
      labelName: 'reason',
      initialLabelValues: ['limit', 'address_limit', 'dropped', 'accept_failed'],
    }),
    onConnectionClosed: registerLabelledCounter<string>(registry, {
      name: 'paygraph_connections_closed_total',
      help: 'Client connections that the gateway closed, by reason: evicted (idle while the connection limit was reached), write_timeout (the client did not read its responses for too long), unread_limit (too many unread bytes of responses), pipeline_limit (too many pipelined requests).',
      labelName: 'reason',
      initialLabelValues: ['evicted', 'write_timeout', 'unread_limit', 'pipeline_limit'],
    }),
    /** Counts a lookup for the subscriptions of a transaction. `kind`: payment or payout. `result`: a PollResult. */
    onPoll: (kind: string, result: string): void => pollCounter.inc({ kind, result }),
  };
}
