import type { Clock } from '../shared/clock';

/** The clock that stepped: this machine's wall clock (`system`), or that of the journal, which all instances share. */
export type ClockSource = 'system' | 'journal';

/** Minimum change in ms that counts as a step. NTP slews a clock by at most half a millisecond per second. */
const STEP_MS = 1000;

/**
 * Detects clock steps by comparison with the monotonic clock. After a step, older timestamps cannot be compared with the
 * present, so no idempotency key is released and nothing is purged for `holdMs`.
 */
export class ClockGuard {
  /** Wall clock minus monotonic clock at the last check. */
  #difference: number;
  #heldUntil = -Infinity;

  /** @param holdMs time after a step in ms during which the clock counts as not steady */
  constructor(
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly holdMs: number,
    private readonly onStep: (source: ClockSource, stepMs: number) => void,
  ) {
    this.#difference = clock.now() - clock.monotonic();
  }

  /** Checks whether the wall clock has stepped since the last check. */
  check(): void {
    const difference = this.clock.now() - this.clock.monotonic();
    const changeMs = difference - this.#difference;
    this.#difference = difference;
    this.reportChange('system', changeMs);
  }

  /** Handles a change of a clock against the monotonic clock. Returns whether it is large enough to be a step. */
  reportChange(source: ClockSource, changeMs: number): boolean {
    if (Math.abs(changeMs) < STEP_MS) return false;
    this.#heldUntil = this.clock.monotonic() + this.holdMs;
    this.onStep(source, Math.round(changeMs));
    return true;
  }

  /** Whether no clock has stepped within `holdMs`. */
  isSteady(): boolean {
    this.check();
    return this.clock.monotonic() >= this.#heldUntil;
  }
}
