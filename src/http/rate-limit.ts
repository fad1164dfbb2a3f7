import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../access/caller';
import type { Clock } from '../clock';
import type { Siblings } from '../siblings';
import type { OperationCost } from './operation-cost';
import { rateLimited } from './refusal';

/** What a call that moves money costs, against 1 for a lookup: it makes several calls and two writes to the journal. */
const MONEY_COST = 5;

/** How much of its minute an operation takes from its caller. */
export const pointsOf = ({ lookups, moneyCalls }: OperationCost): number =>
  Math.max(1, lookups + moneyCalls * MONEY_COST);

/** How often workers tell each other what was taken: no message for each request, and little is taken in between. */
const TELL_EVERY_MS = 100;

interface RateLimitOptions {
  clock: Clock;
  /** The other workers, where this is one of several: what one takes, all count. */
  siblings?: Siblings | undefined;
  /** Hears of every time that somebody is refused. */
  refused?(): void;
}

/** Counts what each caller asks in a minute, of this process and its siblings. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | undefined;
  readonly #clock: Clock;
  readonly #siblings: Siblings | undefined;
  readonly #refused: () => void;
  /** Taken here, and not yet told, by caller. */
  #untold = new Map<string, number>();

  /** @param perMinute 0: no limit */
  constructor(perMinute: number, { clock, siblings, refused = () => undefined }: RateLimitOptions) {
    this.#clock = clock;
    this.#siblings = siblings;
    this.#refused = refused;
    if (perMinute === 0) return;
    const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
    this.#limiter = limiter;
    siblings?.hear('points', (taken) => taken.forEach(([id, points]) => void limiter.penalty(id, points)));
  }

  /** Takes points from a caller. Rejects with a Refusal when it has none left. */
  take({ id }: Caller, points: number): Promise<unknown> {
    return this.#limiter
      ? this.#limiter.consume(id, points).then(() => this.#tellSoon(id, points), this.#refuse)
      : NO_LIMIT;
  }

  /** The same; false when it has none left, of which nobody hears: it is not refused yet. */
  mayTake({ id }: Caller, points: number): Promise<boolean> {
    const taken = (): boolean => {
      this.#tellSoon(id, points);
      return true;
    };
    return this.#limiter?.consume(id, points).then(taken, () => false) ?? Promise.resolve(true);
  }

  readonly #refuse = (spent: RateLimiterRes | Error): never => {
    this.#refused();
    throw spent instanceof Error ? spent : rateLimited(spent.msBeforeNext);
  };

  #tellSoon(id: string, points: number): void {
    const siblings = this.#siblings;
    if (!siblings) return;
    const untold = this.#untold;
    if (untold.size === 0) {
      this.#clock.after(TELL_EVERY_MS, () => {
        this.#untold = new Map();
        siblings.say('points', [...untold]);
      });
    }
    untold.set(id, (untold.get(id) ?? 0) + points);
  }
}

const NO_LIMIT = Promise.resolve();
