import {
  CircuitState,
  ConsecutiveBreaker,
  ExponentialBackoff,
  bulkhead,
  circuitBreaker,
  handleWhen,
  type BulkheadPolicy,
} from 'cockatiel';
import { RequestFailure, type RawResponse } from './http-exchange';

/** Requests of each kind have a limit of their own, so that one kind cannot block the others. */
export type Bulkhead = 'lookups' | 'payments' | 'payouts';

const MAX_IN_FLIGHT: Record<Bulkhead, number> = { lookups: 128, payments: 96, payouts: 32 };
const MAX_QUEUED = 2000;

/** Timeouts and failures in a row that open a circuit breaker. Timeouts cost callers the whole deadline: fewer suffice. */
const TIMEOUT_THRESHOLD = 10;
const FAILURE_THRESHOLD = 50;

const isTimeout = (error: unknown): boolean => error instanceof RequestFailure && error.reason === 'timeout';
const isFailure = (error: unknown): boolean => error instanceof RequestFailure && error.reason !== 'timeout';
const isServerError = (result: unknown): boolean => (result as RawResponse).status >= 500;

const halfOpenAfter = () => new ExponentialBackoff({ initialDelay: 1000, maxDelay: 30_000 });

/** A reserved slot of a bulkhead. */
export interface Slot {
  release(): void;
}

/** Bulkheads and circuit breakers for requests to the service. */
export class ResiliencePolicy {
  readonly #lanes: Record<Bulkhead, BulkheadPolicy> = {
    lookups: bulkhead(MAX_IN_FLIGHT.lookups, MAX_QUEUED),
    payments: bulkhead(MAX_IN_FLIGHT.payments, MAX_QUEUED),
    payouts: bulkhead(MAX_IN_FLIGHT.payouts, MAX_QUEUED),
  };
  readonly #timeouts = circuitBreaker(handleWhen(isTimeout), {
    breaker: new ConsecutiveBreaker(TIMEOUT_THRESHOLD),
    halfOpenAfter: halfOpenAfter(),
  });
  readonly #failures = circuitBreaker(handleWhen(isFailure).orWhenResult(isServerError), {
    breaker: new ConsecutiveBreaker(FAILURE_THRESHOLD),
    halfOpenAfter: halfOpenAfter(),
  });

  /** Rejects without running `send` while a breaker is open or the queue is full. */
  run<T extends RawResponse>(lane: Bulkhead, send: () => Promise<T>): Promise<T> {
    return this.runInSlot(() => this.#lanes[lane].execute(send));
  }

  /** As `run`, for a request that already holds a slot. */
  runInSlot<T extends RawResponse>(send: () => Promise<T>): Promise<T> {
    return this.#timeouts.execute(() => this.#failures.execute(send));
  }

  hasFreeSlot(lane: Bulkhead): boolean {
    return this.#lanes[lane].executionSlots > 0;
  }

  /**
   * Waits for a slot.
   * @throws RequestFailure with reason `refused` when the queue is full, or no slot is free within `timeoutMs`
   */
  reserve(lane: Bulkhead, timeoutMs: number): Promise<Slot> {
    // While one request probes the service, others would wait for it with their attempt in the journal.
    if ([this.#timeouts, this.#failures].some(({ state }) => state === CircuitState.HalfOpen))
      return Promise.reject(new RequestFailure('refused', true, 'HALF_OPEN'));
    const reserved = Promise.withResolvers<Slot>();
    const released = Promise.withResolvers<undefined>();
    let isTimedOut = false;
    const fail = (code: string): void => {
      isTimedOut = true;
      reserved.reject(new RequestFailure('refused', true, code));
    };
    const timer = setTimeout(() => fail('NO_SLOT'), timeoutMs);
    const hold = (): Promise<undefined> | undefined => {
      clearTimeout(timer);
      if (isTimedOut) return undefined;
      reserved.resolve({ release: () => released.resolve(undefined) });
      return released.promise;
    };
    this.#lanes[lane].execute(hold).catch((error: unknown) => {
      clearTimeout(timer);
      fail(error instanceof Error ? error.name : 'REFUSED');
    });
    return reserved.promise;
  }

  /** Whether each breaker is open or half open. */
  breakers(): Record<'timeouts' | 'failures', boolean> {
    return {
      timeouts: this.#timeouts.state !== CircuitState.Closed,
      failures: this.#failures.state !== CircuitState.Closed,
    };
  }

  /** Requests in flight (`underWay`) and queued (`waiting`) per bulkhead. */
  lanes(): Record<Bulkhead, { underWay: number; waiting: number }> {
    const load = (lane: Bulkhead) => ({
      underWay: MAX_IN_FLIGHT[lane] - this.#lanes[lane].executionSlots,
      waiting: MAX_QUEUED - this.#lanes[lane].queueSlots,
    });
    return { lookups: load('lookups'), payments: load('payments'), payouts: load('payouts') };
  }
}
