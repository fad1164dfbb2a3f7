import type { Timer } from '../../shared/clock';
import type { Journal, PurgeProgress, PurgeTarget } from '../../datasources/journal/journal';
import type { ClockGuard } from '../clock-guard';
import type { JournalClock } from '../journal-clock';

interface RetentionJobOptions {
  journal: Pick<Journal, 'purgeStep'>;
  clock: Pick<JournalClock, 'now' | 'after' | 'isSynchronized'>;
  /** Nothing is purged after a clock step. */
  clockGuard: Pick<ClockGuard, 'isSteady'>;
  /** How long settled attempts are kept, in milliseconds. */
  keepMs: number;
  warn(facts: object, message: string): void;
}

/** In this order: purging attempts also deletes their reservations. */
const TARGETS: readonly PurgeTarget[] = ['attempts', 'reservations', 'confirmed'];

const FIRST_RUN_MS = 10_000;
const RUN_EVERY_MS = 60 * 60 * 1000;
/** Delay when another instance is purging. */
const BUSY_DELAY_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** Rows per step: adapted so that a step takes about TARGET_STEP_MS and delays creates by no more than that. */
const MIN_LIMIT = 25;
const MAX_LIMIT = 500;
const TARGET_STEP_MS = 20;
/** Pause after a step, as a multiple of its duration. */
const PAUSE_PER_STEP = 4;
const MIN_PAUSE_MS = 20;

/** Deletes attempts after the retention period, in small steps with pauses, on one instance at a time. */
export class RetentionJob {
  readonly #options: RetentionJobOptions;
  #timer: Timer | undefined;
  #step: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** Index in TARGETS, and the position from which the next step continues. */
  #target = 0;
  #after: string | null = null;
  #limit = MIN_LIMIT;
  #failures = 0;

  constructor(options: RetentionJobOptions) {
    this.#options = options;
    this.#schedule(FIRST_RUN_MS);
  }

  /** Resolves when the current step has ended; starts no further one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#step;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#step = this.#run().then((nextMs) => this.#schedule(nextMs));
    });
  }

  /** Runs one step. Never rejects; resolves with the delay before the next one, in milliseconds. */
  async #run(): Promise<number> {
    const { journal, clock, clockGuard, keepMs, warn } = this.#options;
    if (!clock.isSynchronized || !clockGuard.isSteady()) return BUSY_DELAY_MS;
    const target = TARGETS[this.#target] ?? 'attempts';
    const settledBefore = clock.now() - keepMs;
    const startedAt = performance.now();
    try {
      const step = { target, settledBefore, limit: this.#limit, after: this.#after };
      const progress = await journal.purgeStep(step);
      this.#failures = 0;
      return this.#nextDelay(progress, performance.now() - startedAt);
    } catch {
      this.#limit = MIN_LIMIT;
      this.#failures += 1;
      warn({ event: 'purge_step_failed', target, failures: this.#failures }, 'purge step failed; retrying');
      return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1)) * (0.75 + Math.random() / 2);
    }
  }

  #nextDelay(progress: PurgeProgress | null, tookMs: number): number {
    if (progress === null) {
      this.#begin(0);
      return BUSY_DELAY_MS;
    }
    this.#limit =
      tookMs > TARGET_STEP_MS ? Math.max(MIN_LIMIT, this.#limit >> 1) : Math.min(MAX_LIMIT, this.#limit * 2);
    this.#after = progress.after;
    const pauseMs = Math.max(MIN_PAUSE_MS, PAUSE_PER_STEP * tookMs);
    if (progress.after !== null) return pauseMs;
    const isLast = this.#target === TARGETS.length - 1;
    this.#begin(isLast ? 0 : this.#target + 1);
    return isLast ? RUN_EVERY_MS : pauseMs;
  }

  #begin(target: number): void {
    this.#target = target;
    this.#after = null;
  }
}
