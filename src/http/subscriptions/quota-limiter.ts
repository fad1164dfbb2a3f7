import { RequestError } from '../graphql/http-error';

interface SeatLimits {
  all: number;
  perCaller: number;
  /** Hears of every time that there is none. */
  refused(): void;
}

/** Counts what is held open, by caller and in all: one caller cannot take all there is. */
export class QuotaLimiter {
  readonly #limits: SeatLimits;
  readonly #taken = new Map<string, number>();
  #all = 0;

  /** So many are taken. */
  get taken(): number {
    return this.#all;
  }

  constructor(limits: SeatLimits) {
    this.#limits = limits;
  }

  /** Takes one. Returns how to give it back, which works once. Throws a Refusal where none is left. */
  acquire(callerId: string): () => void {
    const taken = this.#taken.get(callerId) ?? 0;
    const { all, perCaller, refused } = this.#limits;
    if (taken >= perCaller || this.#all >= all) refused();
    if (taken >= perCaller) throw noSeat(`This caller has ${perCaller} of these open already.`);
    if (this.#all >= all) throw noSeat('As many of these are open as this gateway serves.');
    this.#taken.set(callerId, taken + 1);
    this.#all += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#all -= 1;
      const left = (this.#taken.get(callerId) ?? 1) - 1;
      if (left > 0) this.#taken.set(callerId, left);
      else this.#taken.delete(callerId);
    };
  }
}

/** How long to wait before asking for another. */
const RETRY_AFTER_MS = 10_000;

const noSeat = (message: string): RequestError =>
  new RequestError({ status: 429, code: 'RATE_LIMITED', message, retryAfterMs: RETRY_AFTER_MS });
