import { sleep } from '../../../shared/timeout';
import { ServiceError } from '../service-error';

const MAX_TRIES = 3;
const BASE_DELAY_MS = 100;

/** At most one retry per ten lookups, plus a reserve: retries must not overload a failing service. */
const BUDGET_PER_CALL = 0.1;
const MAX_BUDGET = 10;

/** No retry with less than this part of the time left: it would time out, and hide the error that is already known. */
const MIN_REMAINING_RATIO = 0.25;

const hasRetryAfter = (error: unknown): boolean =>
  error instanceof ServiceError && error.retryAfterMs !== undefined;

const isTimeout = (error: unknown): boolean => error instanceof ServiceError && error.kind === 'TIMEOUT';

/** Retries lookups within their deadline and a retry budget, with exponential backoff and jitter. */
export class LookupRetries {
  #budget = MAX_BUDGET;

  /** @param onRetry called before each retry */
  constructor(private readonly onRetry: () => void) {}

  /** @param call receives its time limit in ms */
  run<T>(timeoutMs: number, call: (timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    const retryUntil = deadline - timeoutMs * MIN_REMAINING_RATIO;
    this.#budget = Math.min(MAX_BUDGET, this.#budget + BUDGET_PER_CALL);
    const retry = async (first: unknown): Promise<T> => {
      let error = first;
      for (let tries = 1; ; tries += 1) {
        const delay = this.#delayBefore(tries + 1, error);
        // The first error is kept if it has Retry-After, since the retry's timeout has none.
        if (delay === undefined || performance.now() + delay >= retryUntil)
          throw isTimeout(error) && hasRetryAfter(first) ? first : error;
        this.#budget -= 1;
        await sleep(delay);
        this.onRetry();
        try {
          return await call(deadline - performance.now());
        } catch (next) {
          error = next;
        }
      }
    };
    return call(timeoutMs).catch(retry);
  }

  /** Delay in ms before the next try; undefined when there should be none. */
  #delayBefore(nextTry: number, error: unknown): number | undefined {
    const isRetryable = error instanceof ServiceError && error.kind === 'UNAVAILABLE' && !error.notTried;
    if (!isRetryable || nextTry > MAX_TRIES || this.#budget < 1) return undefined;
    const backoff = BASE_DELAY_MS * 2 ** (nextTry - 2) * (0.5 + Math.random());
    return Math.max(backoff, error.retryAfterMs ?? 0);
  }
}
