import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, registerLabelledCounter } from './register';

const MAX_OUTCOME_LABELS = 40;

/**
 * Mutations whose counters of unknown outcomes start at 0. Prometheus then sees the first unknown outcome as an
 * increase.
 */
const MONEY_MUTATIONS = ['createPayment', 'confirmPayment', 'createPayout'];

/** Creates the metrics of mutations that move money, recoveries of unknown outcomes, clock jumps, and journal calls. */
export function paymentMetrics(registry: Registry) {
  const mutationCounter = new Counter({
    name: 'paygraph_mutations_total',
    help: 'Mutations that move money, by outcome. replayed: the result is from an earlier call, or from a lookup after a lost response.',
    labelNames: ['call', 'outcome', 'replayed'],
    registers: [registry],
  });
  for (const call of MONEY_MUTATIONS)
    mutationCounter.inc({ call, outcome: 'OutcomeUnknownError', replayed: 'false' }, 0);
  const outcomeLabel = boundedLabel(MAX_OUTCOME_LABELS);
  const recoveryCounter = new Counter({
    name: 'paygraph_reconciliations_total',
    help: 'Recoveries of unknown outcomes by lookups. found: the payment or payout exists. not_sent: nothing was created. missing: still unknown, because the lookup failed or showed no transaction that certainly belongs to the attempt.',
    labelNames: ['kind', 'result'],
    registers: [registry],
  });
  const countReconcilerRun = registerLabelledCounter(registry, {
    name: 'paygraph_reconciler_runs_total',
    help: 'Runs of the reconciler, the background job that recovers unknown outcomes. failed: a journal call failed.',
    label: 'result',
    initial: ['done', 'failed'],
  });
  return {
    /** Counts a mutation that has ended. `outcome` and `replayed` are those of its AuditEntry. */
    mutationEnded: (call: string, outcome: string, replayed: boolean): void =>
      mutationCounter.inc({ call, outcome: outcomeLabel(outcome), replayed: String(replayed) }),
    /**
     * Counts a try to recover an unknown outcome by a lookup. `result`: `found`, `not_sent`, or `missing` if the
     * outcome is still unknown (see RecoveryResultKind).
     */
    onRecoveryResult: (kind: string, result: string): void => recoveryCounter.inc({ kind, result }),
    /** Counts a run of the job that recovers unknown outcomes. `isDone`: false if the run failed. */
    onRecoveryJobRun: (isDone: boolean): void => countReconcilerRun(isDone ? 'done' : 'failed'),
    /** Counts a jump of a clock: `system` (of this machine) or `journal` (of the journal's database). */
    onClockStep: registerLabelledCounter<string>(registry, {
      name: 'paygraph_clock_steps_total',
      help: "Clock jumps of more than 1 s: of the machine (system) or of the journal's database (journal). For UNKNOWN_SETTLE_SECONDS after a jump, lookups turn no unknown outcome into not_sent.",
      label: 'clock',
      initial: ['system', 'journal'],
    }),
    journalCallEnded: journalCallMetrics(registry),
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
    label: 'reason',
  });
  /** Records a journal call that has ended. `failure`: label for the reason of its failure; null on success. */
  return (call: string, failure: string | null, seconds: number): void => {
    durationHistogram.observe({ call }, seconds);
    errorCounter.inc({ call }, failure ? 1 : 0);
    if (failure) countFailure(failure);
  };
}
