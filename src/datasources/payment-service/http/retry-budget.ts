import type { Runtime } from '../../../shared/runtime';
import { ServiceError } from '../service-error';

const MAX_LOOKUP_TRIES = 3;
const BASE_BACKOFF_MS = 100;

/** Number of retries that each lookup adds to the budget. The budget keeps retries from overloading the service. */
const RETRY_BUDGET_PER_LOOKUP = 0.1;
/** Initial and maximum budget, in retries. */
const MAX_RETRY_BUDGET = 10;

/** Fraction of the time limit that must be left for a retry. With less, the retry could time out. */
const MIN_TIME_LEFT_RATIO = 0.25;

const hasRetryAfter = (error: unknown): boolean =>
  error instanceof ServiceError && error.retryAfterMs !== undefined;

const isTimeoutError = (error: unknown): boolean => error instanceof ServiceError && error.kind === 'TIMEOUT';

/** Retries lookups within their deadline and a retry budget, with exponential backoff and jitter. */
export class LookupRetrier {
  #retryBudget = MAX_RETRY_BUDGET;

  constructor(
    private readonly runtime: Runtime,
    private readonly onRetry: () => void,
  ) {}

  /** Runs `lookUp`; retries it at most twice if the service is unavailable. Each try gets the rest of `timeoutMs`. */
  run<T>(timeoutMs: number, lookUp: (timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = this.runtime.monotonic() + timeoutMs;
    const retryUntil = deadline - timeoutMs * MIN_TIME_LEFT_RATIO;
    this.#retryBudget = Math.min(MAX_RETRY_BUDGET, this.#retryBudget + RETRY_BUDGET_PER_LOOKUP);
    const retry = async (firstError: unknown): Promise<T> => {
      let error = firstError;
      for (let tryCount = 1; ; tryCount += 1) {
        const delayMs = this.#retryDelayMs(tryCount + 1, error);
        // A timeout error does not tell the caller when to repeat the call. If the last error is a timeout and the
        // first error has a Retry-After, throw the first error.
        if (delayMs === undefined || this.runtime.monotonic() + delayMs >= retryUntil)
          throw isTimeoutError(error) && hasRetryAfter(firstError) ? firstError : error;
        this.#retryBudget -= 1;
        await this.runtime.sleep(delayMs);
        this.onRetry();
        try {
          return await lookUp(deadline - this.runtime.monotonic());
        } catch (retryError) {
          error = retryError;
        }
      }
    };
    return lookUp(timeoutMs).catch(retry);
  }

  /** Returns the delay in ms before the next try; undefined if `error`, MAX_LOOKUP_TRIES or the budget permits none. */
  #retryDelayMs(nextTryNumber: number, error: unknown): number | undefined {
    const isRetryable =
      error instanceof ServiceError && error.kind === 'UNAVAILABLE' && !error.isRefusedByGateway;
    if (!isRetryable || nextTryNumber > MAX_LOOKUP_TRIES || this.#retryBudget < 1) return undefined;
    const backoffMs = BASE_BACKOFF_MS * 2 ** (nextTryNumber - 2) * (0.5 + this.runtime.random());
    return Math.max(backoffMs, error.retryAfterMs ?? 0);
  }
}
