import {
  CircuitState,
  ConsecutiveBreaker,
  ExponentialBackoff,
  bulkhead,
  circuitBreaker,
  handleWhen,
  type BulkheadPolicy,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import { RequestFailure, type RawResponse } from './http-exchange';

/** Calls that share a limit: so many at a time, so that a stall of one kind leaves the others working. */
export type Bulkhead = 'lookups' | 'payments' | 'payouts';

const AT_A_TIME: Record<Bulkhead, number> = { lookups: 128, payments: 96, payouts: 32 };
/** Calls that wait for their turn; more than these are refused at once. */
const WAITING = 2000;

/**
 * So many in a row, without an answer between them, and the service counts as down. Silence costs every caller the
 * whole deadline, so it takes less of it than of failures that come at once.
 */
const TIMEOUT_THRESHOLD = 10;
const FAILURES_IN_A_ROW = 50;

const isSilence = (error: unknown): boolean => error instanceof RequestFailure && error.reason === 'timeout';
const isFailure = (error: unknown): boolean => error instanceof RequestFailure && error.reason !== 'timeout';
const isServerError = (result: unknown): boolean => (result as RawResponse).status >= 500;

const isHalfOpen = ({ state }: CircuitBreakerPolicy): boolean => state === CircuitState.HalfOpen;
const isClosed = ({ state }: CircuitBreakerPolicy): boolean => state === CircuitState.Closed;

const loadOf = ({ executionSlots, queueSlots }: BulkheadPolicy, atATime: number) => ({
  underWay: atATime - executionSlots,
  waiting: WAITING - queueSlots,
});

const halfOpenAfter = () => new ExponentialBackoff({ initialDelay: 1000, maxDelay: 30_000 });

/** A reserved slot of a lane's bulkhead; held until it is released. */
export interface Slot {
  release(): void;
}

/** Lets calls through while the service works, one at a time to try it while it does not. */
export class ResiliencePolicy {
  readonly #lanes: Record<Bulkhead, BulkheadPolicy> = {
    lookups: bulkhead(AT_A_TIME.lookups, WAITING),
    payments: bulkhead(AT_A_TIME.payments, WAITING),
    payouts: bulkhead(AT_A_TIME.payouts, WAITING),
  };
  readonly #silence = circuitBreaker(handleWhen(isSilence), {
    breaker: new ConsecutiveBreaker(TIMEOUT_THRESHOLD),
    halfOpenAfter: halfOpenAfter(),
  });
  readonly #failures = circuitBreaker(handleWhen(isFailure).orWhenResult(isServerError), {
    breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
    halfOpenAfter: halfOpenAfter(),
  });

  /** Rejects at once, and runs nothing, while the service counts as down or too many wait. */
  run<T extends RawResponse>(lane: Bulkhead, call: () => Promise<T>): Promise<T> {
    return this.runInSlot(() => this.#lanes[lane].execute(call));
  }

  /** The same for a call that holds a slot of its lane already. */
  runInSlot<T extends RawResponse>(call: () => Promise<T>): Promise<T> {
    return this.#silence.execute(() => this.#failures.execute(call));
  }

  hasFreeSlot(lane: Bulkhead): boolean {
    return this.#lanes[lane].executionSlots > 0;
  }

  /**
   * Waits for a slot in the lane's bulkhead.
   * @throws CallFailure with reason `refused` where too many wait, or none was free within `timeoutMs`
   */
  reserve(lane: Bulkhead, timeoutMs: number): Promise<Slot> {
    const reserved = Promise.withResolvers<Slot>();
    const released = Promise.withResolvers<undefined>();
    // While one call tries whether the service is back, others would wait for it with their attempt in the journal.
    if (isHalfOpen(this.#silence) || isHalfOpen(this.#failures))
      return Promise.reject(new RequestFailure('refused', true, 'HALF_OPEN'));
    let state: 'waiting' | 'held' | 'given up' = 'waiting';
    const fail = (code: string): void => {
      state = 'given up';
      reserved.reject(new RequestFailure('refused', true, code));
    };
    const hold = (): Promise<undefined> | undefined => {
      if (state === 'given up') return undefined;
      state = 'held';
      reserved.resolve({ release: () => released.resolve(undefined) });
      return released.promise;
    };
    this.#lanes[lane]
      .execute(hold)
      .catch((error: unknown) => fail(error instanceof Error ? error.name : 'REFUSED'));
    // Mostly a slot is free, and `hold` has run by now.
    if ((state as string) === 'waiting') {
      const timer = setTimeout(() => fail('NO_SLOT'), timeoutMs);
      const stop = (): void => clearTimeout(timer);
      reserved.promise.then(stop, stop);
    }
    return reserved.promise;
  }

  /** By which of its breakers the service counts as down now, also while it is being tried. */
  breakers(): Record<'silence' | 'failures', boolean> {
    return { silence: !isClosed(this.#silence), failures: !isClosed(this.#failures) };
  }

  /** Of each lane, the calls that are under way and those that wait for their turn. */
  lanes(): Record<Bulkhead, { underWay: number; waiting: number }> {
    const { lookups, payments, payouts } = this.#lanes;
    return {
      lookups: loadOf(lookups, AT_A_TIME.lookups),
      payments: loadOf(payments, AT_A_TIME.payments),
      payouts: loadOf(payouts, AT_A_TIME.payouts),
    };
  }
}
