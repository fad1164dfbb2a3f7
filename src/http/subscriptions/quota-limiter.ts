import { RequestError } from '../graphql/http-error';

export interface QuotaLimits {
  /** Maximum for all callers together. */
  maxOpenTotal: number;
  /** Maximum for each caller. */
  maxOpenPerCaller: number;
  /** Called for each subscription or connection that is rejected because of a limit. */
  onRejected(): void;
}

/** Limits the number of concurrent subscriptions, or of WebSocket connections, per caller and in total. */
export class QuotaLimiter {
  readonly #openCountByCaller = new Map<string, number>();
  openCount = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /**
   * Counts a new subscription or connection of a caller. Throws a RequestError (RATE_LIMITED) if a limit is reached.
   * Returns a function that releases the quota; call it once, when the subscription or connection ends.
   */
  acquire(callerId: string): () => void {
    const { maxOpenTotal, maxOpenPerCaller } = this.limits;
    const openCountOfCaller = this.#openCountByCaller.get(callerId) ?? 0;
    if (openCountOfCaller >= maxOpenPerCaller) throw this.#reject('The caller', maxOpenPerCaller);
    if (this.openCount >= maxOpenTotal) throw this.#reject('The gateway instance', maxOpenTotal);
    this.#openCountByCaller.set(callerId, openCountOfCaller + 1);
    this.openCount += 1;
    return () => {
      this.openCount -= 1;
      const remainingOpenCount = (this.#openCountByCaller.get(callerId) ?? 1) - 1;
      if (remainingOpenCount > 0) this.#openCountByCaller.set(callerId, remainingOpenCount);
      else this.#openCountByCaller.delete(callerId);
    };
  }

  #reject(subject: string, limit: number): RequestError {
    this.limits.onRejected();
    const message = `${subject} has reached its limit of ${limit} concurrent subscriptions or connections.`;
    return new RequestError(429, 'RATE_LIMITED', message, { retryAfterMs: 10_000 });
  }
}
