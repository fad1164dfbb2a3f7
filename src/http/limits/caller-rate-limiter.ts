import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../../auth/caller';
import { RequestError } from '../graphql/http-error';

/** Limits the points that each caller consumes per minute. Each gateway instance counts separately. */
export class CallerRateLimiter {
  readonly #limiter: RateLimiterMemory | undefined;

  /**
   * @param pointsPerMinute points that each caller may consume per minute; 0: no limit
   * @param onRejected called each time that consume() rejects
   */
  constructor(
    pointsPerMinute: number,
    private readonly onRejected: () => void = () => undefined,
  ) {
    if (pointsPerMinute > 0) this.#limiter = new RateLimiterMemory({ points: pointsPerMinute, duration: 60 });
  }

  /** Consumes points of a caller. Rejects with a RequestError (RATE_LIMITED) if too few are left. */
  async consume({ id }: Caller, points: number): Promise<void> {
    try {
      await this.#limiter?.consume(id, points);
    } catch (rejection) {
      this.onRejected();
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      throw new RequestError(
        429,
        'RATE_LIMITED',
        'Rate limit exceeded; the request was not executed. Repeat it unchanged after retryAfterMs.',
        { retryAfterMs: rejection.msBeforeNext },
      );
    }
  }

  /** Consumes points of a caller. Resolves to false, without calling onRejected, if too few are left. */
  async tryConsume({ id }: Caller, points: number): Promise<boolean> {
    try {
      await this.#limiter?.consume(id, points);
      return true;
    } catch {
      return false;
    }
  }
}
