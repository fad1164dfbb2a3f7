import { Counter, Histogram, type Registry } from 'prom-client';
import { boundedLabel, oncePerScrape, registerScrapedMetrics, registerLabelledCounter } from './register';

/** Number and age of the creates of one kind (payment or payout) whose outcome in the journal is unknown. */
interface UnknownOutcomes {
  kind: string;
  count: number;
  /** Start of the oldest create of unknown outcome, in milliseconds since 1970; null if there is none. */
  oldestAt: number | null;
}

/** Functions that read the state of journal and audit log. */
interface JournalAndAuditState {
  isJournalUp: () => boolean;
  isFenceUp: () => boolean;
  /** Returns one entry for payments and one for payouts. Rejects if the journal cannot be read. */
  unknownOutcomes: () => Promise<readonly UnknownOutcomes[]>;
  /** Returns the number of entries that could not be written to the audit log since the start. */
  auditGaps: () => number;
  /** Returns the free bytes on the disk of the audit log; null if they cannot be read. Never rejects. */
  auditDiskFree: () => Promise<number | null>;
  /** Returns milliseconds since 1970 by the clock of the journal, for the age of creates. */
  now: () => number;
}

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

/**
 * Registers the gauges of journal and audit log. Do not add up the unknown outcomes of several instances: every
 * instance reports the total of all instances that share the journal.
 */
export function registerJournalAndAuditGauges(registry: Registry, state: JournalAndAuditState): void {
  const readUnknown = oncePerScrape(state.unknownOutcomes);
  const readByKind = async (valueOf: (outcomes: UnknownOutcomes) => number) => {
    const unknown = (await readUnknown()) ?? [];
    return Object.fromEntries(unknown.map((outcomes) => [outcomes.kind, valueOf(outcomes)]));
  };
  registerScrapedMetrics(registry, {
    paygraph_audit_gaps_total: {
      help: 'Entries that could not be written to the audit log: mutations that move money, and recovered outcomes.',
      read: state.auditGaps,
    },
    paygraph_audit_log_disk_free_bytes: {
      help: 'Free bytes on the disk of the audit log.',
      read: state.auditDiskFree,
    },
    paygraph_journal_up: {
      help: '1 if regular checks can write to the journal; otherwise 0, and payments and payouts are rejected. Possibly transient errors, such as timeouts, count from the second failed check in a row.',
      read: () => Number(state.isJournalUp()),
    },
    paygraph_journal_fence_up: {
      help: '1 while the journal may lack recent attempts, and every create is looked up before it is sent; otherwise 0.',
      read: () => Number(state.isFenceUp()),
    },
    paygraph_unknown_outcomes: {
      help: 'Creates with an unknown outcome in the journal, of all instances.',
      label: 'kind',
      read: () => readByKind(({ count }) => count),
    },
    paygraph_unknown_outcome_oldest_age_seconds: {
      help: 'Age of the oldest create with an unknown outcome in the journal, of all instances; 0 if there is none.',
      label: 'kind',
      read: () =>
        readByKind(({ oldestAt }) => (oldestAt === null ? 0 : Math.max(0, state.now() - oldestAt) / 1000)),
    },
  });
}
