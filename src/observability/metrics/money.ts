import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { boundedLabel, registerCounter, registerGauge } from './register';

/** Counts mutations that move money, journal calls and recovery. */
export interface PaymentMetrics {
  /**
   * Counts a mutation that moves money and has ended.
   * @param outcome the name of the result's type, or the code of the error
   * @param replayed whether nothing was sent, because the key had been used for the same input
   */
  mutationEnded(call: string, outcome: string, replayed: boolean): void;
  /**
   * Records a journal call that has ended.
   * @param failure code of the reason of a failure, used as a label; null on success
   */
  journalCallEnded(call: string, failure: string | null, seconds: number): void;
  /** Counts a lookup for an unknown outcome. */
  onRecovery(kind: string, result: string): void;
  /** Counts a run of the reconciler. `done` is false if the journal failed. */
  onReconcilerRun(done: boolean): void;
  /** Counts a step of a clock, which is `system` or `journal`. */
  onClockStep(clock: string): void;
}

/** Unknown outcomes of one kind (payments or payouts) in the journal. */
interface UnknownOutcomes {
  kind: string;
  count: number;
  /** When the oldest create began, in milliseconds since 1970; null if there is none. */
  oldestAt: number | null;
}

/** State of journal and audit log. */
export interface JournalAndAuditState {
  /** Whether the journal could be written at its last check. */
  isJournalUp: () => boolean;
  /** Whether the fence of the journal is up. */
  isFenceUp: () => boolean;
  /** Returns one entry for each kind. Rejects if the journal cannot be read. */
  unknownOutcomes: () => Promise<readonly UnknownOutcomes[]>;
  /** Number of entries that are missing in the audit log. */
  auditGaps: () => number;
  /** Returns the free bytes on the disk of the audit log; null if they cannot be read. Never rejects. */
  auditDiskFree: () => Promise<number | null>;
  /** Milliseconds since 1970. */
  now: () => number;
}

const MAX_OUTCOME_LABELS = 40;

/** Mutations whose unknown outcomes are counted from 0, so that Prometheus sees the first one as an increase. */
const MONEY_MUTATIONS = ['createPayment', 'confirmPayment', 'createPayout'];
const OUTCOME_UNKNOWN = 'OutcomeUnknownError';

export function paymentMetrics(registry: Registry): PaymentMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'paygraph_mutations_total',
    help: 'Mutations that move money, by outcome. replayed: the result is that of an earlier call with the same key.',
    labelNames: ['call', 'outcome', 'replayed'],
    registers,
  });
  for (const call of MONEY_MUTATIONS) calls.inc({ call, outcome: OUTCOME_UNKNOWN, replayed: 'false' }, 0);
  const outcomeLabel = boundedLabel(MAX_OUTCOME_LABELS);
  const recoveries = new Counter({
    name: 'paygraph_reconciliations_total',
    help: 'Lookups for unknown outcomes, by result.',
    labelNames: ['kind', 'result'],
    registers,
  });
  const runs = new Counter({
    name: 'paygraph_reconciler_runs_total',
    help: 'Runs of the reconciler, which recovers unknown outcomes. failed: a journal call failed.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['done', 'failed']) runs.inc({ result }, 0);
  const steps = new Counter({
    name: 'paygraph_clock_steps_total',
    help: "Steps of more than a second of the machine's wall clock (system) or of the journal's clock (journal). After a step, no idempotency key is released for UNKNOWN_SETTLE_SECONDS.",
    labelNames: ['clock'],
    registers,
  });
  for (const clock of ['system', 'journal']) steps.inc({ clock }, 0);
  return {
    onClockStep: (clock) => steps.inc({ clock }),
    mutationEnded: (call, outcome, replayed) =>
      calls.inc({ call, outcome: outcomeLabel(outcome), replayed: String(replayed) }),
    onRecovery: (kind, result) => recoveries.inc({ kind, result }),
    onReconcilerRun: (done) => runs.inc({ result: done ? 'done' : 'failed' }),
    journalCallEnded: journalCallMetrics(registers),
  };
}

function journalCallMetrics(registers: Registry[]): PaymentMetrics['journalCallEnded'] {
  const duration = new Histogram({
    name: 'paygraph_journal_call_duration_seconds',
    help: 'Duration of journal calls, including failed ones.',
    labelNames: ['call'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  const errors = new Counter({
    name: 'paygraph_journal_errors_total',
    help: 'Failed journal calls.',
    labelNames: ['call'],
    registers,
  });
  const failures = new Counter({
    name: 'paygraph_journal_failures_total',
    help: 'Failed journal calls, by reason.',
    labelNames: ['reason'],
    registers,
  });
  return (call, failure, seconds) => {
    duration.observe({ call }, seconds);
    errors.inc({ call }, failure ? 1 : 0);
    if (failure) failures.inc({ reason: failure });
  };
}

/**
 * Registers the gauges of journal and audit log. All instances that share a journal show the same unknown outcomes.
 * @returns a function that reads the journal; call it before each scrape. It never rejects.
 */
export function registerPaymentGauges(registry: Registry, state: JournalAndAuditState): () => Promise<void> {
  const registers = [registry];
  registerCounter(
    registry,
    'paygraph_audit_gaps_total',
    'Mutations that move money, and recovered outcomes, that could not be written to the audit log.',
    state.auditGaps,
  );
  registerGauge(
    registry,
    'paygraph_audit_log_disk_free_bytes',
    'Free bytes on the disk of the audit log.',
    state.auditDiskFree,
  );
  registerGauge(
    registry,
    'paygraph_journal_up',
    '1 if the journal could be written at its last check; otherwise 0, and no payment or payout is created.',
    () => Number(state.isJournalUp()),
  );
  registerGauge(
    registry,
    'paygraph_journal_fence_up',
    '1 while the journal may lack recent attempts, and every create is looked up before it is sent; otherwise 0.',
    () => Number(state.isFenceUp()),
  );
  const unknown = new Gauge({
    name: 'paygraph_unknown_outcomes',
    help: 'Creates with an unknown outcome in the journal, of all instances.',
    labelNames: ['kind'],
    registers,
  });
  const age = new Gauge({
    name: 'paygraph_unknown_outcome_oldest_age_seconds',
    help: 'Age of the oldest create with an unknown outcome in the journal, of all instances; 0 if there is none.',
    labelNames: ['kind'],
    registers,
  });
  return async () => {
    const found = await state.unknownOutcomes().catch(() => []);
    // If the journal cannot be read, the gauges have no value, because the previous value would look current.
    unknown.reset();
    age.reset();
    for (const { kind, count, oldestAt } of found) {
      unknown.set({ kind }, count);
      age.set({ kind }, oldestAt === null ? 0 : Math.max(0, state.now() - oldestAt) / 1000);
    }
  };
}
