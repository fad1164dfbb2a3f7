import { systemClock, type Clock } from '../../shared/clock';

/**
 * Maximum delay in ms that is caught up: after a late request, the next ones follow sooner, to keep the average rate.
 */
const MAX_CAUGHT_UP_DELAY_MS = 100;

/** Limits the rate of requests: spaces them evenly, in the order of the calls of reserveWaitMs(). */
export class RateLimiter {
  readonly #intervalMs: number;
  /** Earliest time of the next request in ms, by the monotonic clock. */
  #nextTurnAt = -Infinity;

  constructor(
    requestsPerSecond: number,
    private readonly clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {
    this.#intervalMs = 1000 / requestsPerSecond;
  }

  /**
   * Counts a request, which delays later ones. Returns the time in ms to wait before sending the request. LookupClient
   * also calls this function for the retries of ServiceClient, but these do not wait.
   */
  reserveWaitMs(): number {
    const now = this.clock.monotonic();
    const turnAt = Math.max(this.#nextTurnAt, now - MAX_CAUGHT_UP_DELAY_MS);
    this.#nextTurnAt = turnAt + this.#intervalMs;
    return Math.max(0, turnAt - now);
  }
}
