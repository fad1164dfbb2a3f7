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

  /** Takes points from a caller. Rejects with a Refusal when it has none left. */
  take({ id }: Caller, points: number): Promise<unknown> {
    return this.#limiter ? this.#limiter.consume(id, points).catch(refuse) : NO_LIMIT;
  }

  /** The same; false when it has none left. */
  mayTake(caller: Caller, points: number): Promise<boolean> {
    return this.take(caller, points).then(
      () => true,
      () => false,
    );
  }
}

const NO_LIMIT = Promise.resolve();

function refuse(spent: RateLimiterRes | Error): never {
  throw spent instanceof Error ? spent : rateLimited(spent.msBeforeNext);
}
