import { RequestError } from '../graphql/http-error';

export interface QuotaLimits {
  /** Maximum number of subscriptions, connections or bytes for all callers together. */
  maxTotal: number;
  /** Maximum number of subscriptions, connections or bytes for each caller. */
  maxPerCaller: number;
  /** Unit of the counted amount, for error messages. Default: concurrent subscriptions or connections. */
  unit?: string;
  /** Called for each subscription, connection or request that is rejected because of a limit. */
  onRejected(): void;
}

/** Limits the number of concurrent subscriptions, of WebSocket connections or of bytes, per caller and in total. */
export class QuotaLimiter {
  readonly #usedAmountByCaller = new Map<string, number>();
  /** Amount that all callers use now: a number of subscriptions or connections, or of bytes. */
  usedAmount = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /**
   * Counts a new subscription or connection of a caller, or `amount` bytes. Throws a RequestError (RATE_LIMITED) if a
   * limit is reached. Returns a function that releases the quota; call it once, when the use ends.
   */
  acquire(callerId: string, amount = 1): () => void {
    const { maxTotal, maxPerCaller } = this.limits;
    const usedByCaller = this.#usedAmountByCaller.get(callerId) ?? 0;
    if (usedByCaller + amount > maxPerCaller) throw this.#reject('The caller', maxPerCaller);
    if (this.usedAmount + amount > maxTotal) throw this.#reject('The gateway instance', maxTotal);
    this.#usedAmountByCaller.set(callerId, usedByCaller + amount);
    this.usedAmount += amount;
    return () => {
      this.usedAmount -= amount;
      const remainingAmount = (this.#usedAmountByCaller.get(callerId) ?? amount) - amount;
      if (remainingAmount > 0) this.#usedAmountByCaller.set(callerId, remainingAmount);
      else this.#usedAmountByCaller.delete(callerId);
    };
  }

  #reject(quotaHolder: string, limit: number): RequestError {
    this.limits.onRejected();
    const { unit = 'concurrent subscriptions or connections' } = this.limits;
    const message = `${quotaHolder} has reached its limit of ${limit} ${unit}.`;
    return new RequestError(429, 'RATE_LIMITED', message, { retryAfterMs: 10_000 });
  }
}
