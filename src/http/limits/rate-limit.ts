import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../../auth/caller';
import type { OperationCost } from './operation-cost';
import { rateLimited } from '../graphql/http-error';

/** Points of a mutation, which makes several requests and two journal writes. A lookup costs one point. */
const POINTS_PER_MONEY_CALL = 5;

export const pointsOf = ({ lookups, moneyCalls }: OperationCost): number =>
  Math.max(1, lookups + moneyCalls * POINTS_PER_MONEY_CALL);

/** Limits the points that each caller consumes per minute. Each gateway instance counts separately. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | undefined;
  readonly #onRejected: () => void;

  /**
   * @param perMinute points of each caller; 0: no limit
   * @param onRejected called for each operation that is rejected
   */
  constructor(perMinute: number, onRejected: () => void = () => undefined) {
    this.#onRejected = onRejected;
    if (perMinute > 0) this.#limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  }

  /** Consumes points of a caller. Rejects with a RequestError (RATE_LIMITED) if too few are left. */
  consume({ id }: Caller, points: number): Promise<unknown> {
    return this.#limiter?.consume(id, points).catch(this.#reject) ?? NO_LIMIT;
  }

  /** Consumes points of a caller. Resolves to false, without calling onRejected, if too few are left. */
  async tryConsume({ id }: Caller, points: number): Promise<boolean> {
    const consumed = this.#limiter?.consume(id, points) ?? NO_LIMIT;
    return consumed.then(
      () => true,
      () => false,
    );
  }

  readonly #reject = (spent: RateLimiterRes | Error): never => {
    this.#onRejected();
    throw spent instanceof Error ? spent : rateLimited(spent.msBeforeNext);
  };
}

const NO_LIMIT: Promise<unknown> = Promise.resolve();
