import type { Clock } from '../shared/clock';

/** Which clock stepped: this machine's wall clock, or the journal's, which all instances share. */
export type ClockSource = 'system' | 'journal';

/** The smallest difference that counts as a step. NTP slews a clock by at most half a millisecond per second. */
const STEP_MS = 1000;

/**
 * Detects clock steps by comparison with the monotonic clock. After a step, older timestamps cannot be compared with the
 * present, so nothing is released or purged for `holdMs`.
 */
export class ClockGuard {
  /** Wall clock minus monotonic clock at the last check. */
  #difference: number;
  #heldUntil = -Infinity;

  /** @param holdMs how long after a step no idempotency key is released, in milliseconds */
  constructor(
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly holdMs: number,
    private readonly onStep: (source: ClockSource, stepMs: number) => void,
  ) {
    this.#difference = clock.now() - clock.monotonic();
  }

  /** Compares the wall clock with the monotonic clock. */
  check(): void {
    const difference = this.clock.now() - this.clock.monotonic();
    const changeMs = difference - this.#difference;
    this.#difference = difference;
    this.stepped('system', changeMs);
  }

  /** Reports a clock change; returns false when it is too small to be a step. */
  stepped(source: ClockSource, changeMs: number): boolean {
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
