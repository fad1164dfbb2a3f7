import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { boundedLabel } from './labels';

/** Hears of what happens to money, and of the journal that keeps it from happening twice. */
export interface MoneyListener {
  /**
   * A call that moves money has ended.
   * @param outcome the name of the result's type, or of the fault
   * @param replayed whether nothing was sent, as the key had been used for the same before
   */
  moneyCall(call: string, outcome: string, replayed: boolean): void;
  /**
   * The journal has done what it was asked, or has not.
   * @param failure why not, as one of a few codes; null where it has
   */
  journalCall(call: string, failure: string | null, seconds: number): void;
  /** An unknown outcome was looked for. */
  onRecovery(kind: string, result: string): void;
  /** A round of the background has ended: all of it was done, or the journal failed. */
  onReconcilerRun(done: boolean): void;
  /** A clock has stepped: the machine's or the journal's. */
  onClockStep(clock: string): void;
}

/** What the journal says of outcomes that nobody knows. */
export interface UnknownOutcomes {
  kind: string;
  count: number;
  /** When the oldest of them began, in milliseconds since 1970; null where there is none. */
  oldestAt: number | null;
}

/** What can be found out about money at any time. */
export interface MoneyState {
  /** Whether the journal can be written, as of its last check. */
  isJournalUp(): boolean;
  /** One for each kind. Rejects where the journal cannot be read. */
  unknownOutcomes(): Promise<readonly UnknownOutcomes[]>;
  /** So many calls are not in the audit log. */
  auditGaps(): number;
  /** How many bytes are free on the disk of the audit log; null where that cannot be found out. Never rejects. */
  auditDiskFree(): Promise<number | null>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** The names of types and faults that end a call are the gateway's own; nothing else may make them many. */
const MAX_OUTCOMES = 40;

/** These may never have happened yet, and the first of them matters: it has to be seen as a step from 0. */
const MONEY_CALLS = ['createPayment', 'confirmPayment', 'createPayout'];
const NOT_KNOWN = 'OutcomeUnknownError';

/** Counts what happens to money. */
export function moneyMetrics(registry: Registry): MoneyListener {
  const registers = [registry];
  const calls = new Counter({
    name: 'paygraph_mutations_total',
    help: 'Calls that move money, by how they ended; replayed: it was there already, as the key had been used for the same.',
    labelNames: ['call', 'outcome', 'replayed'],
    registers,
  });
  for (const call of MONEY_CALLS) calls.inc({ call, outcome: NOT_KNOWN, replayed: 'false' }, 0);
  const outcomeLabel = boundedLabel(MAX_OUTCOMES);
  const followUps = new Counter({
    name: 'paygraph_reconciliations_total',
    help: 'Looks for unknown outcomes, by what they found.',
    labelNames: ['kind', 'result'],
    registers,
  });
  const rounds = new Counter({
    name: 'paygraph_reconciler_runs_total',
    help: 'Rounds of the background, which follows unknown outcomes up; failed: the journal could not be used.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['done', 'failed']) rounds.inc({ result }, 0);
  const steps = new Counter({
    name: 'paygraph_clock_steps_total',
    help: "Steps of more than a second of the machine's wall clock (system) or of the journal's clock (journal). After one no idempotency key is released for UNKNOWN_SETTLE_SECONDS.",
    labelNames: ['clock'],
    registers,
  });
  for (const clock of ['system', 'journal']) steps.inc({ clock }, 0);
  return {
    onClockStep: (clock) => steps.inc({ clock }),
    moneyCall: (call, outcome, replayed) =>
      calls.inc({ call, outcome: outcomeLabel(outcome), replayed: String(replayed) }),
    onRecovery: (kind, result) => followUps.inc({ kind, result }),
    onReconcilerRun: (done) => rounds.inc({ result: done ? 'done' : 'failed' }),
    journalCall: journalMetrics(registers),
  };
}

function journalMetrics(registers: Registry[]): MoneyListener['journalCall'] {
  const duration = new Histogram({
    name: 'paygraph_journal_call_duration_seconds',
    help: 'How long the journal took, also where it failed.',
    labelNames: ['call'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  const errors = new Counter({
    name: 'paygraph_journal_errors_total',
    help: 'What the journal was asked and did not do.',
    labelNames: ['call'],
    registers,
  });
  const failures = new Counter({
    name: 'paygraph_journal_failures_total',
    help: 'What the journal was asked and did not do, by reason.',
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
 * Shows what is known of money. All who use one journal show the same: it is no sum over processes.
 * @returns what reads the journal, to be called before the page is made; never rejects
 */
export function registerMoneyGauges(registry: Registry, state: MoneyState): () => Promise<void> {
  const registers = [registry];
  new Counter({
    name: 'paygraph_audit_gaps_total',
    help: 'Calls that move money, and recovered outcomes, that are not in the audit log.',
    registers,
    collect() {
      this.reset();
      this.inc(state.auditGaps());
    },
  });
  new Gauge({
    name: 'paygraph_audit_log_disk_free_bytes',
    help: 'Bytes that are free on the disk of the audit log.',
    aggregator: 'min',
    registers,
    async collect() {
      const free = await state.auditDiskFree();
      if (free === null) this.remove();
      else this.set(free);
    },
  });
  const isUp = new Gauge({
    name: 'paygraph_journal_up',
    help: '1 where the journal could be written when it was last checked. Where it cannot nothing is created.',
    aggregator: 'min',
    registers,
  });
  const open = new Gauge({
    name: 'paygraph_unknown_outcomes',
    help: 'Creates whose outcome is not known. Of the whole journal.',
    labelNames: ['kind'],
    aggregator: 'max',
    registers,
  });
  const age = new Gauge({
    name: 'paygraph_unknown_outcome_oldest_age_seconds',
    help: 'How long ago the oldest create began whose outcome is not known; 0 where all are. Of the whole journal.',
    labelNames: ['kind'],
    aggregator: 'max',
    registers,
  });
  return async () => {
    isUp.set(state.isJournalUp() ? 1 : 0);
    const unknown = await state.unknownOutcomes().catch(() => null);
    // What cannot be read now is not shown: the number of before would look like news.
    open.reset();
    age.reset();
    for (const { kind, count, oldestAt } of unknown ?? []) {
      open.set({ kind }, count);
      age.set({ kind }, oldestAt === null ? 0 : Math.max(0, state.now() - oldestAt) / 1000);
    }
  };
}
