import type { Journal } from '../datasources/journal/journal';
import type { Clock, Timer } from '../shared/clock';

/** A clock that can step (jump). `system`: wall clock of this machine. `journal`: clock shared by all instances. */
export type ClockName = 'system' | 'journal';

/**
 * A clock has stepped if it gains or loses at least this many ms against the monotonic clock between two checks.
 * Slewing by NTP stays far below: at most 0.5 ms per second, and checks are at most a few seconds apart.
 */
const MIN_CLOCK_STEP_MS = 1000;

/**
 * Detects clock steps by comparison with the monotonic clock. A step makes the ages of earlier timestamps wrong. For
 * `unsteadyAfterStepMs` after a step, lookups therefore release no idempotency key, and nothing is purged from the
 * journal.
 */
export class ClockGuard {
  #wallMinusMonotonicMs: number;
  #unsteadyUntil = -Infinity;

  /**
   * @param unsteadyAfterStepMs time in ms after a step during which isSteady() returns false
   * @param onStep called for each step; `stepMs` is negative if the clock was set back
   */
  constructor(
    private readonly clock: Clock,
    private readonly unsteadyAfterStepMs: number,
    private readonly onStep: (clockName: ClockName, stepMs: number) => void,
  ) {
    this.#wallMinusMonotonicMs = clock.now() - clock.monotonic();
  }

  /** Compares the wall clock with the monotonic clock. Calls `onStep` if the wall clock stepped since the last call. */
  check(): void {
    const wallMinusMonotonicMs = this.clock.now() - this.clock.monotonic();
    const driftMs = wallMinusMonotonicMs - this.#wallMinusMonotonicMs;
    this.#wallMinusMonotonicMs = wallMinusMonotonicMs;
    this.detectStep('system', driftMs);
  }

  /**
   * Returns whether a clock has stepped, given how much it deviated from the monotonic clock. If so, calls `onStep`,
   * and isSteady() is then false for `unsteadyAfterStepMs`.
   * @param driftMs ms that the clock gained (positive) or lost (negative) against the monotonic clock since the last
   * check
   */
  detectStep(clockName: ClockName, driftMs: number): boolean {
    if (Math.abs(driftMs) < MIN_CLOCK_STEP_MS) return false;
    this.#unsteadyUntil = this.clock.monotonic() + this.unsteadyAfterStepMs;
    this.onStep(clockName, Math.round(driftMs));
    return true;
  }

  /** Checks the wall clock. Returns whether no clock has stepped within the last `unsteadyAfterStepMs`. */
  isSteady(): boolean {
    this.check();
    return this.clock.monotonic() >= this.#unsteadyUntil;
  }
}

const SYNCHRONIZE_EVERY_MS = 5000;

/**
 * The clock that all instances with the same journal share: the journal's time, advanced by this process's monotonic
 * clock. Used for leases and due times. With SQLite, the journal's time is this machine's wall clock, so steps of the
 * wall clock affect this clock. With PostgreSQL, such steps have no effect after the first synchronization.
 */
export class JournalClock implements Clock {
  /** Journal time minus monotonic time; undefined before the first synchronization. */
  #monotonicOffsetMs: number | undefined;
  #synchronizedAt = -Infinity;
  /** Journal time right after the last step of the journal's clock; -Infinity if it has not stepped. */
  #steppedAt = -Infinity;

  constructor(
    private readonly journal: Journal,
    private readonly clock: Clock,
    private readonly clockGuard: ClockGuard,
  ) {}

  /** Returns the journal time in ms since 1970. Before the first synchronization, returns this machine's wall clock. */
  now(): number {
    const offsetMs = this.#monotonicOffsetMs;
    return Math.floor(offsetMs === undefined ? this.clock.now() : offsetMs + this.monotonic());
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  after(delayMs: number, callback: () => void): Timer {
    return this.clock.after(delayMs, callback);
  }

  get isSynchronized(): boolean {
    return this.#monotonicOffsetMs !== undefined;
  }

  /** Returns the ms since `journalTime`; undefined if it is in the future or before the journal clock's last step. */
  elapsedSince(journalTime: number): number | undefined {
    const now = this.now();
    return journalTime >= this.#steppedAt && journalTime <= now ? now - journalTime : undefined;
  }

  /**
   * Reads the journal's time and corrects the offset. Does nothing if the last successful read was less than
   * SYNCHRONIZE_EVERY_MS ago. Rejects if the journal cannot be read.
   */
  async synchronize(): Promise<void> {
    const readStartedAt = this.monotonic();
    if (readStartedAt - this.#synchronizedAt < SYNCHRONIZE_EVERY_MS) return;
    const journalTime = await this.journal.time();
    const readEndedAt = this.monotonic();
    const uncertaintyMs = (readEndedAt - readStartedAt) / 2;
    const measuredOffsetMs = journalTime - (readStartedAt + uncertaintyMs);
    const previousOffsetMs = this.#monotonicOffsetMs ?? measuredOffsetMs;
    const offsetChangeMs = measuredOffsetMs - previousOffsetMs;
    // The measurement error is at most half the round-trip time. Only a difference beyond this error is corrected.
    const correctionMs = Math.sign(offsetChangeMs) * Math.max(0, Math.abs(offsetChangeMs) - uncertaintyMs);
    this.#synchronizedAt = readEndedAt;
    this.#monotonicOffsetMs = previousOffsetMs + correctionMs;
    if (this.clockGuard.detectStep('journal', correctionMs)) this.#steppedAt = this.now();
  }
}
