import { setTimeout } from 'node:timers/promises';

/** Time and waiting, replaceable in tests. */
export interface WaitingClock {
  /** Milliseconds since an arbitrary time; never jumps. */
  monotonic(): number;
  /** Resolves after `ms`. Rejects with an AbortError if the signal is aborted before. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemWaitingClock: WaitingClock = {
  monotonic: () => performance.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/** A request that is late by at most this time in ms does not delay later ones, so inexact timers keep the rate. */
const MAX_LAG_MS = 100;

/** Spaces requests evenly, in the order in which they ask for their turn. */
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

  /** Resolves when the request may be sent. Rejects if the signal is aborted before. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.clock.monotonic();
    const turnAt = this.#take(now);
    if (turnAt > now) await this.clock.wait(turnAt - now, signal);
  }

  /** Counts a request that was sent without waiting for its turn: delays the next turn. */
  charge(): void {
    this.#take(this.clock.monotonic());
  }

  #take(now: number): number {
    const turnAt = Math.max(this.#nextTurnAt, now - MAX_LAG_MS);
    this.#nextTurnAt = turnAt + this.#intervalMs;
    return turnAt;
  }
}
