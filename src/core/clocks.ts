import type { Journal } from '../datasources/journal/journal';
import type { Clock, Timer } from '../shared/clock';

/** `system`: the wall clock of this machine. `journal`: the clock that all instances share. */
export type ClockSource = 'system' | 'journal';

/** Minimum change in ms that counts as a step. NTP slews a clock by at most half a millisecond per second. */
const STEP_MS = 1000;

/**
 * Detects clock steps by comparison with the monotonic clock. A step makes the ages of earlier timestamps wrong, so no
 * idempotency key becomes reusable, and nothing is purged, for `unsteadyMs` after it.
 */
export class ClockGuard {
  /** Wall clock minus monotonic clock at the last check. */
  #wallMinusMonotonic: number;
  #unsteadyUntil = -Infinity;

  /** @param unsteadyMs time in ms after a step during which the clock counts as not steady */
  constructor(
    private readonly clock: Clock,
    private readonly unsteadyMs: number,
    private readonly onStep: (source: ClockSource, stepMs: number) => void,
  ) {
    this.#wallMinusMonotonic = clock.now() - clock.monotonic();
  }

  /** Checks whether the wall clock has stepped since the last check. */
  check(): void {
    const difference = this.clock.now() - this.clock.monotonic();
    const changeMs = difference - this.#wallMinusMonotonic;
    this.#wallMinusMonotonic = difference;
    this.reportChange('system', changeMs);
  }

  /** Handles a change of a clock relative to the monotonic clock. Returns whether the change is a step. */
  reportChange(source: ClockSource, changeMs: number): boolean {
    if (Math.abs(changeMs) < STEP_MS) return false;
    this.#unsteadyUntil = this.clock.monotonic() + this.unsteadyMs;
    this.onStep(source, Math.round(changeMs));
    return true;
  }

  /** Whether no clock has stepped within the last `unsteadyMs`. */
  isSteady(): boolean {
    this.check();
    return this.clock.monotonic() >= this.#unsteadyUntil;
  }
}

const SYNCHRONIZE_EVERY_MS = 5000;

/**
 * The clock shared by all instances of one journal: the time that the journal returns, advanced by this process's
 * monotonic clock. Leases and due times use it, so that a step of one machine's wall clock does not affect them.
 */
export class JournalClock implements Clock {
  /** Journal time minus monotonic time; undefined before the first synchronization. */
  #offset: number | undefined;
  #synchronizedAt = -Infinity;
  /** Journal time right after the last step of the journal's clock; -Infinity if it has not stepped. */
  #steppedAt = -Infinity;

  constructor(
    private readonly journal: Journal,
    private readonly clock: Clock,
    private readonly guard: ClockGuard,
  ) {}

  /** Returns the journal time in ms since 1970. Before the first synchronization, returns this machine's wall clock. */
  now(): number {
    return Math.floor(this.#offset === undefined ? this.clock.now() : this.#offset + this.monotonic());
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  after(ms: number, run: () => void): Timer {
    return this.clock.after(ms, run);
  }

  get isSynchronized(): boolean {
    return this.#offset !== undefined;
  }

  /** Returns the ms since a journal time; undefined if it is in the future, or before the last clock step. */
  elapsedSince(time: number): number | undefined {
    const now = this.now();
    return time >= this.#steppedAt && time <= now ? now - time : undefined;
  }

  /** Synchronizes with the journal's time, at most every 5 seconds. Rejects if the journal cannot be read. */
  async synchronize(): Promise<void> {
    const before = this.monotonic();
    if (before - this.#synchronizedAt < SYNCHRONIZE_EVERY_MS) return;
    const time = await this.journal.time();
    const after = this.monotonic();
    const uncertainty = (after - before) / 2;
    const offset = time - (before + uncertainty);
    const difference = offset - (this.#offset ?? offset);
    // Half of the round-trip time may be measurement error, so only a difference beyond that is applied.
    const change = Math.sign(difference) * Math.max(0, Math.abs(difference) - uncertainty);
    this.#synchronizedAt = after;
    this.#offset = this.#offset === undefined ? offset : this.#offset + change;
    if (this.guard.reportChange('journal', change)) this.#steppedAt = this.now();
  }
}
