import { sleep } from '../../shared/timeout';

/** A clock that can also wait. Tests replace it. */
export interface WaitingClock {
  /** Returns the time in ms since an arbitrary start. Never jumps. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds. Rejects with an AbortError if the signal is aborted earlier. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemWaitingClock: WaitingClock = {
  monotonic: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Maximum delay in ms that is made up for. If a request is late, the next requests follow it sooner, to keep the
 * average rate. Of a longer delay, only this time is made up for.
 */
const MAX_LAG_MS = 100;

/** Limits the rate of requests: spaces them evenly, in the order of the calls of waitForTurn(). */
export class RateLimiter {
  readonly #intervalMs: number;
  /** Earliest time of the next request in ms, by the monotonic clock. */
  #nextTurnAt = -Infinity;

  constructor(
    private readonly clock: WaitingClock,
    perSecond: number,
  ) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Resolves when the next request may be sent. Rejects if the signal is aborted earlier. */
  async waitForTurn(signal: AbortSignal): Promise<void> {
    const now = this.clock.monotonic();
    const turnAt = this.#reserveTurn(now);
    if (turnAt > now) await this.clock.wait(turnAt - now, signal);
  }

  /** Counts a request that was sent without waitForTurn(), such as a retry. Delays the next request. */
  countRequest(): void {
    this.#reserveTurn(this.clock.monotonic());
  }

  #reserveTurn(now: number): number {
    const turnAt = Math.max(this.#nextTurnAt, now - MAX_LAG_MS);
    this.#nextTurnAt = turnAt + this.#intervalMs;
    return turnAt;
  }
}
