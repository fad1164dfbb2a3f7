import { RequestError } from '../graphql/http-error';

interface QuotaLimits {
  /** Of all callers together. */
  all: number;
  perCaller: number;
  /** Called for every rejection. */
  onRejected(): void;
}

const RETRY_AFTER_MS = 10_000;

/** Limits what is open at the same time, for each caller and in total. */
export class QuotaLimiter {
  readonly #perCaller = new Map<string, number>();
  #all = 0;

  constructor(private readonly limits: QuotaLimits) {}

  get open(): number {
    return this.#all;
  }

  /** Acquires one. Returns a function that releases it; calling it again has no effect. Throws RATE_LIMITED. */
  acquire(callerId: string): () => void {
    const { all, perCaller } = this.limits;
    const open = this.#perCaller.get(callerId) ?? 0;
    if (open >= perCaller) throw this.#reject(`The caller has reached its limit of ${perCaller}.`);
    if (this.#all >= all) throw this.#reject('The gateway has reached its limit.');
    this.#perCaller.set(callerId, open + 1);
    this.#all += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#all -= 1;
      const left = (this.#perCaller.get(callerId) ?? 1) - 1;
      if (left > 0) this.#perCaller.set(callerId, left);
      else this.#perCaller.delete(callerId);
    };
  }

  #reject(message: string): RequestError {
    this.limits.onRejected();
    return new RequestError({ status: 429, code: 'RATE_LIMITED', message, retryAfterMs: RETRY_AFTER_MS });
  }
}
