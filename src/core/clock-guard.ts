import type { Clock } from '../shared/clock';

/** Whose clock stepped: this machine's wall clock, or the one that the journal gives to all instances. */
export type ClockSource = 'system' | 'journal';

/** The smallest difference that counts as a step. NTP slews a clock by half a millisecond a second at most. */
const STEP_MS = 1000;

interface ClockGuardOptions {
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** How long after a step no idempotency key is released, in milliseconds. */
  holdMs: number;
  /** Called for each step, with its length in milliseconds. */
  onStep(source: ClockSource, stepMs: number): void;
}

/**
 * Detects steps of clocks, by comparison with the monotonic clock. After one, times that were written before cannot be
 * compared with the present, so nothing is released or purged for a while.
 */
export class ClockGuard {
  readonly #options: ClockGuardOptions;
  /** Wall clock minus monotonic clock, at the last check. */
  #difference: number;
  #heldUntil = -Infinity;

  constructor(options: ClockGuardOptions) {
    this.#options = options;
    this.#difference = options.clock.now() - options.clock.monotonic();
  }

  /** Compares the wall clock with the monotonic one. */
  check(): void {
    const { clock } = this.#options;
    const difference = clock.now() - clock.monotonic();
    const changeMs = difference - this.#difference;
    this.#difference = difference;
    this.stepped('system', changeMs);
  }

  /** Records a change that was seen elsewhere; false where it is too small for a step. */
  stepped(source: ClockSource, changeMs: number): boolean {
    if (Math.abs(changeMs) < STEP_MS) return false;
    const { clock, holdMs, onStep } = this.#options;
    this.#heldUntil = clock.monotonic() + holdMs;
    onStep(source, Math.round(changeMs));
    return true;
  }

  /** Whether no clock has stepped lately. */
  isSteady(): boolean {
    this.check();
    return this.#options.clock.monotonic() >= this.#heldUntil;
  }
}
