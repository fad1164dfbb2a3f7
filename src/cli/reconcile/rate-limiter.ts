import { setTimeout } from 'node:timers/promises';

/** A clock that can also wait. Tests replace it. */
export interface WaitingClock {
  /** Returns the time in ms since an arbitrary start. Never jumps. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds. Rejects with an AbortError if the signal is aborted earlier. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemWaitingClock: WaitingClock = {
  monotonic: () => performance.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/** A request late by at most this time in ms does not delay later ones, so inexact timers do not lower the rate. */
const MAX_LAG_MS = 100;

/** Spaces requests evenly, in the order of their calls of turn(). */
export class RateLimiter {
  readonly #intervalMs: number;
  /** Time of the next free turn in ms, by the monotonic clock. */
  #nextTurnAt = -Infinity;

  constructor(
    private readonly clock: WaitingClock,
    perSecond: number,
  ) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Resolves when the request may be sent. Rejects if the signal is aborted earlier. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.clock.monotonic();
    const turnAt = this.#take(now);
    if (turnAt > now) await this.clock.wait(turnAt - now, signal);
  }

  /** Counts a request that was sent without a call of turn(). Delays the next turn. */
  charge(): void {
    this.#take(this.clock.monotonic());
  }

  #take(now: number): number {
    const turnAt = Math.max(this.#nextTurnAt, now - MAX_LAG_MS);
    this.#nextTurnAt = turnAt + this.#intervalMs;
    return turnAt;
  }
}
