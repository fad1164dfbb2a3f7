import type { Clock } from '../shared/clock';

/** Which clock stepped: this machine's wall clock, or the journal's, which all instances share. */
export type ClockSource = 'system' | 'journal';

/** The smallest difference that counts as a step. NTP slews a clock by at most half a millisecond per second. */
const STEP_MS = 1000;

interface ClockGuardOptions {
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** How long after a step no idempotency key is released, in milliseconds. */
  holdMs: number;
  onStep(source: ClockSource, stepMs: number): void;
}

/**
 * Detects clock steps by comparison with the monotonic clock. After a step, older timestamps cannot be compared with the
 * present, so nothing is released or purged for `holdMs`.
 */
export class ClockGuard {
  readonly #options: ClockGuardOptions;
  /** Wall clock minus monotonic clock at the last check. */
  #difference: number;
  #heldUntil = -Infinity;

  constructor(options: ClockGuardOptions) {
    this.#options = options;
    this.#difference = options.clock.now() - options.clock.monotonic();
  }

  /** Compares the wall clock with the monotonic clock. */
  check(): void {
    const { clock } = this.#options;
    const difference = clock.now() - clock.monotonic();
    const changeMs = difference - this.#difference;
    this.#difference = difference;
    this.stepped('system', changeMs);
  }

  /** Reports a clock change; returns false when it is too small to be a step. */
  stepped(source: ClockSource, changeMs: number): boolean {
    if (Math.abs(changeMs) < STEP_MS) return false;
    const { clock, holdMs, onStep } = this.#options;
    this.#heldUntil = clock.monotonic() + holdMs;
    onStep(source, Math.round(changeMs));
    return true;
  }

  /** Whether no clock has stepped within `holdMs`. */
  isSteady(): boolean {
    this.check();
    return this.#options.clock.monotonic() >= this.#heldUntil;
  }
}
