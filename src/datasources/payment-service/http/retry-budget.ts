import { ServiceError } from '../service-error';

const MAX_TRIES = 3;
const BASE_DELAY_MS = 100;

/** Retries are a tenth of the calls at most, beyond a small reserve: a service in trouble must not get three times the load. */
const BUDGET_PER_CALL = 0.1;
const MAX_BUDGET = 10;

/** With less of its time left it is not tried again: it could hardly be answered, and what is known already says more. */
const MIN_REMAINING_RATIO = 0.25;

const hasRetryAfter = (error: unknown): boolean =>
  error instanceof ServiceError && error.retryAfterMs !== undefined;

const isTimeout = (error: unknown): boolean => error instanceof ServiceError && error.kind === 'TIMEOUT';

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

interface RetryableCall<T> {
  call(timeoutMs: number): Promise<T>;
  /** For all tries, in milliseconds. */
  timeoutMs: number;
  /** Its end, on the clock of performance.now(). */
  deadline: number;
}

/** Tries lookups again while that may help: within their deadline, with jitter, and within a budget. */
export class LookupRetries {
  #budget = MAX_BUDGET;
  readonly #retried: () => void;

  /** @param retried hears that a call is about to be tried again */
  constructor(retried: () => void) {
    this.#retried = retried;
  }

  /** Runs a call that may be repeated. It is told how many milliseconds it has. */
  run<T>(timeoutMs: number, call: (timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    this.#budget = Math.min(MAX_BUDGET, this.#budget + BUDGET_PER_CALL);
    return call(timeoutMs).catch((first: unknown) => this.#again(first, { deadline, timeoutMs, call }));
  }

  async #again<T>(first: unknown, { deadline, timeoutMs, call }: RetryableCall<T>): Promise<T> {
    let error = first;
    for (let tries = 1; ; tries += 1) {
      const delay = this.#delayBefore(tries + 1, error);
      if (delay === undefined || performance.now() + delay >= deadline - timeoutMs * MIN_REMAINING_RATIO) {
        // When the service said how long to wait, that says more than that there was no time left for it.
        throw isTimeout(error) && hasRetryAfter(first) ? first : error;
      }
      this.#budget -= 1;
      await pause(delay);
      this.#retried();
      try {
        return await call(deadline - performance.now());
      } catch (next) {
        error = next;
      }
    }
  }

  /** How long to wait before the next try; undefined when there should be none. */
  #delayBefore(nextTry: number, error: unknown): number | undefined {
    const mayHelp = error instanceof ServiceError && error.kind === 'UNAVAILABLE' && !error.notTried;
    if (!mayHelp || nextTry > MAX_TRIES || this.#budget < 1) return undefined;
    const backoff = BASE_DELAY_MS * 2 ** (nextTry - 2) * (0.5 + Math.random());
    return Math.max(backoff, error.retryAfterMs ?? 0);
  }
}
