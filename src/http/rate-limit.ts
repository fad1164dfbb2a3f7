import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../access/caller';
import type { OperationCost } from './operation-cost';
import { rateLimited } from './refusal';

/** What a call that moves money costs, against 1 for a lookup: it makes several calls and two writes to the journal. */
const MONEY_COST = 5;

/** How much of its minute an operation takes from its caller. */
export const pointsOf = ({ lookups, moneyCalls }: OperationCost): number =>
  Math.max(1, lookups + moneyCalls * MONEY_COST);

/** Counts what each caller asks in a minute; in this process only. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | undefined;

  /** @param perMinute 0: no limit */
  constructor(perMinute: number) {
    if (perMinute > 0) this.#limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  }

  /** Takes points from a caller. Throws a Refusal when it has none left. */
  async take({ id }: Caller, points: number): Promise<void> {
    await this.#limiter?.consume(id, points).catch((spent: RateLimiterRes | Error) => {
      throw spent instanceof Error ? spent : rateLimited(spent.msBeforeNext);
    });
  }

  /** Takes points from a caller; false when it has none left. */
  async mayTake(caller: Caller, points: number): Promise<boolean> {
    return this.take(caller, points).then(
      () => true,
      () => false,
    );
  }
}
