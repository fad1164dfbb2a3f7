import type { ChangeSettings } from '../../config/types';
import type { PurgeStepResult, PurgeTarget } from '../../datasources/journal/journal';
import { classifyJournalError } from '../../datasources/journal/journal-error';
import { backoffMs } from '../../shared/backoff';
import { RepeatedJob } from '../background';
import type { ClockGuard } from '../clocks';
import type { JournalSession } from '../journal-session';

interface RetentionJobOptions {
  journalSession: JournalSession;
  clockGuard: ClockGuard;
  config: {
    /** `keepMs`: retention period in ms of settled attempts, and of the input hashes of successful confirms. */
    journal: { keepMs: number };
    changeSettings: ChangeSettings;
  };
}

/**
 * The purge targets (see PurgeTarget), in order. `reservations` follows `attempts`: most reserved external ids are
 * deleted together with their attempts.
 */
const PURGE_TARGETS: readonly PurgeTarget[] = [
  'attempts',
  'reservations',
  'confirmed',
  'changes',
  'followed',
];

const FIRST_PURGE_DELAY_MS = 10_000;
const PURGE_EVERY_MS = 60 * 60 * 1000;
/** Delay in ms before the next run if another instance is purging, or the clock is not synchronized or not steady. */
const POSTPONED_PURGE_DELAY_MS = 60_000;
const PURGE_RETRY_BACKOFF = { firstMs: 1000, maxMs: 60_000 };

/** Minimum rows per purge step. The number doubles or halves after each step, to approach DESIRED_PURGE_STEP_MS. */
const MIN_PURGE_STEP_ROWS = 25;
const MAX_PURGE_STEP_ROWS = 500;
const DESIRED_PURGE_STEP_MS = 20;
/** Pause after a purge step, as a multiple of the duration of the step. */
const PURGE_PAUSE_FACTOR = 4;
const MIN_PURGE_PAUSE_MS = 20;

/** Starts the job that deletes expired rows of PURGE_TARGETS from the journal. Attempts of unknown outcome are kept. */
export function startRetentionJob(options: RetentionJobOptions): RepeatedJob {
  const purger = new Purger(options);
  return new RepeatedJob(options.journalSession.clock, FIRST_PURGE_DELAY_MS, () => purger.runStep());
}

/** Deletes expired rows in steps. Only one instance purges at a time. */
class Purger {
  #targetIndex = 0;
  /** Position in the current target after which the next step continues; null if it begins at the first row. */
  #afterPosition: string | null = null;
  #rowsPerStep = MIN_PURGE_STEP_ROWS;
  #failureCount = 0;

  constructor(private readonly options: RetentionJobOptions) {}

  /** Runs one step. Never rejects; resolves with the delay before the next step, in milliseconds. */
  async runStep(): Promise<number> {
    const { journalSession, clockGuard } = this.options;
    const { journal, clock, runtime } = journalSession;
    if (!clock.isSynchronized || !clockGuard.isSteady()) return POSTPONED_PURGE_DELAY_MS;
    const target = PURGE_TARGETS[this.#targetIndex] ?? 'attempts';
    const expiredBefore = clock.now() - this.#keepMs(target);
    const startedAt = runtime.monotonic();
    try {
      const stepOptions = {
        target,
        expiredBefore,
        maxExaminedCount: this.#rowsPerStep,
        after: this.#afterPosition,
      };
      const stepResult = await journal.purgeStep(stepOptions);
      this.#failureCount = 0;
      return this.#advance(stepResult, runtime.monotonic() - startedAt);
    } catch (error) {
      this.#rowsPerStep = MIN_PURGE_STEP_ROWS;
      this.#failureCount += 1;
      const { reason, code } = classifyJournalError(error);
      const logFields = { event: 'purge_step_failed', target, failures: this.#failureCount, reason, code };
      journalSession.warn(logFields, 'could not delete expired rows from the journal; retrying');
      return backoffMs(PURGE_RETRY_BACKOFF, this.#failureCount - 1, runtime.random());
    }
  }

  #keepMs(target: PurgeTarget): number {
    const { journal, changeSettings } = this.options.config;
    if (target === 'changes') return changeSettings.keepMs;
    return target === 'followed'
      ? Math.max(changeSettings.followAfterCreateMs, changeSettings.keepMs)
      : journal.keepMs;
  }

  /** Prepares the next step after a step with the result `stepResult`. Returns the delay before the next step in ms. */
  #advance(stepResult: PurgeStepResult | null, stepDurationMs: number): number {
    if (stepResult === null) {
      this.#targetIndex = 0;
      this.#afterPosition = null;
      return POSTPONED_PURGE_DELAY_MS;
    }
    this.#rowsPerStep =
      stepDurationMs > DESIRED_PURGE_STEP_MS
        ? Math.max(MIN_PURGE_STEP_ROWS, this.#rowsPerStep >> 1)
        : Math.min(MAX_PURGE_STEP_ROWS, this.#rowsPerStep * 2);
    this.#afterPosition = stepResult.endPosition;
    const pauseMs = Math.max(MIN_PURGE_PAUSE_MS, PURGE_PAUSE_FACTOR * stepDurationMs);
    if (stepResult.endPosition !== null) return pauseMs;
    this.#targetIndex = (this.#targetIndex + 1) % PURGE_TARGETS.length;
    return this.#targetIndex === 0 ? PURGE_EVERY_MS : pauseMs;
  }
}
