import { RequestError } from '../graphql/http-error';

export interface QuotaLimits {
  /** Maximum of what is counted (subscriptions, connections or bytes) for all callers together. */
  maxOpenTotal: number;
  /** Maximum of what is counted for each caller. */
  maxOpenPerCaller: number;
  /** What is counted, for error messages. Default: concurrent subscriptions or connections. */
  unit?: string;
  /** Called for each subscription or connection that is rejected because of a limit. */
  onRejected(): void;
}

/** Limits the number of concurrent subscriptions, of WebSocket connections or of bytes, per caller and in total. */
export class QuotaLimiter {
  readonly #openCountByCaller = new Map<string, number>();
  openCount = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /**
   * Counts a new subscription or connection of a caller, or `amount` bytes. Throws a RequestError (RATE_LIMITED) if a
   * limit is reached.
   * Returns a function that releases the quota; call it once, when the subscription or connection ends.
   */
  acquire(callerId: string, amount = 1): () => void {
    const { maxOpenTotal, maxOpenPerCaller } = this.limits;
    const openCountOfCaller = this.#openCountByCaller.get(callerId) ?? 0;
    if (openCountOfCaller + amount > maxOpenPerCaller) throw this.#reject('The caller', maxOpenPerCaller);
    if (this.openCount + amount > maxOpenTotal) throw this.#reject('The gateway instance', maxOpenTotal);
    this.#openCountByCaller.set(callerId, openCountOfCaller + amount);
    this.openCount += amount;
    return () => {
      this.openCount -= amount;
      const remainingOpenCount = (this.#openCountByCaller.get(callerId) ?? amount) - amount;
      if (remainingOpenCount > 0) this.#openCountByCaller.set(callerId, remainingOpenCount);
      else this.#openCountByCaller.delete(callerId);
    };
  }

  #reject(quotaHolder: string, limit: number): RequestError {
    this.limits.onRejected();
    const { unit = 'concurrent subscriptions or connections' } = this.limits;
    const message = `${quotaHolder} has reached its limit of ${limit} ${unit}.`;
    return new RequestError(429, 'RATE_LIMITED', message, { retryAfterMs: 10_000 });
  }
}
