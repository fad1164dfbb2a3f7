import type { Timer } from '../../shared/clock';
import type { Journal, PurgeProgress, PurgeTarget } from '../../datasources/journal/journal';

import type { ClockGuard } from '../clock-guard';
import type { JournalClock } from '../journal-clock';

interface RetentionJobOptions {
  journal: Pick<Journal, 'purgeStep'>;
  clock: Pick<JournalClock, 'now' | 'after' | 'isSynchronized'>;
  /** Nothing is purged for a while after a step of a clock. */
  clocks: Pick<ClockGuard, 'isSteady'>;
  /** How long settled attempts are kept, in milliseconds. */
  keepMs: number;
  /** Hears of steps that failed. */
  warn(facts: object, message: string): void;
}

/** In this order: attempts take their reservations with them, and what is left of reservations comes after. */
const TARGETS: readonly PurgeTarget[] = ['attempts', 'reservations', 'confirmed'];

const FIRST_RUN_MS = 10_000;
const RUN_EVERY_MS = 60 * 60 * 1000;
/** How long after another instance was found purging this one tries to. */
const BUSY_DELAY_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** Rows of a step. It adapts between these, so that a step takes about as long as a create waits for the journal. */
const MIN_LIMIT = 25;
const MAX_LIMIT = 500;
const TARGET_STEP_MS = 20;
/** After each step the journal is left alone for four times as long as the step took. */
const PAUSE_PER_STEP = 4;
const MIN_PAUSE_MS = 20;

/** Deletes attempts that are no longer kept, in small steps with pauses, one instance at a time. */
export class RetentionJob {
  readonly #options: RetentionJobOptions;
  #timer: Timer | undefined;
  #step: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** Which of the targets, and where in it, the next step begins. */
  #target = 0;
  #after: string | null = null;
  #limit = MIN_LIMIT;
  #failures = 0;

  constructor(options: RetentionJobOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(FIRST_RUN_MS);
  }

  /** Starts no more steps, and resolves when the one under way has ended. */
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

  /** Takes one step. Never rejects; resolves with the delay before the next one, in milliseconds. */
  async #run(): Promise<number> {
    const { journal, clock, clocks, keepMs, warn } = this.#options;
    if (!clock.isSynchronized || !clocks.isSteady()) return BUSY_DELAY_MS;
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
