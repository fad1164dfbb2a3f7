import type { Runtime } from '../../../shared/runtime';
import { ServiceError } from '../service-error';

const MAX_TRIES = 3;
const BASE_DELAY_MS = 100;

/** Number of retries that each lookup adds to the budget. The budget keeps retries from overloading the service. */
const BUDGET_PER_LOOKUP = 0.1;
/** Initial and maximum budget, in retries. */
const MAX_BUDGET = 10;

/** Fraction of the time limit that must be left for a retry. With less, the retry could time out. */
const MIN_REMAINING_TIME_RATIO = 0.25;

const hasRetryAfter = (error: unknown): boolean =>
  error instanceof ServiceError && error.retryAfterMs !== undefined;

const isTimeout = (error: unknown): boolean => error instanceof ServiceError && error.kind === 'TIMEOUT';

/** Retries lookups within their deadline and a retry budget, with exponential backoff and jitter. */
export class LookupRetrier {
  #budget = MAX_BUDGET;

  constructor(
    private readonly runtime: Runtime,
    private readonly onRetry: () => void,
  ) {}

  /** Runs `call`. Retries it at most twice, while the service is unavailable. Each try gets the rest of `timeoutMs`. */
  run<T>(timeoutMs: number, call: (timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = this.runtime.monotonic() + timeoutMs;
    const retryUntil = deadline - timeoutMs * MIN_REMAINING_TIME_RATIO;
    this.#budget = Math.min(MAX_BUDGET, this.#budget + BUDGET_PER_LOOKUP);
    const retry = async (firstError: unknown): Promise<T> => {
      let error = firstError;
      for (let tries = 1; ; tries += 1) {
        const delay = this.#delayBefore(tries + 1, error);
        // A timeout error does not tell the caller when to repeat the call. If the last error is a timeout and the
        // first error has a Retry-After, throw the first error.
        if (delay === undefined || this.runtime.monotonic() + delay >= retryUntil)
          throw isTimeout(error) && hasRetryAfter(firstError) ? firstError : error;
        this.#budget -= 1;
        await this.runtime.sleep(delay);
        this.onRetry();
        try {
          return await call(deadline - this.runtime.monotonic());
        } catch (retryError) {
          error = retryError;
        }
      }
    };
    return call(timeoutMs).catch(retry);
  }

  /** Returns the delay in ms before the next try; undefined if `error`, MAX_TRIES or the budget permits no next try. */
  #delayBefore(nextTry: number, error: unknown): number | undefined {
    const isRetryable = error instanceof ServiceError && error.kind === 'UNAVAILABLE' && !error.notTried;
    if (!isRetryable || nextTry > MAX_TRIES || this.#budget < 1) return undefined;
    const backoff = BASE_DELAY_MS * 2 ** (nextTry - 2) * (0.5 + this.runtime.random());
    return Math.max(backoff, error.retryAfterMs ?? 0);
  }
}
