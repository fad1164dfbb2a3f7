import { bulkhead, type BulkheadPolicy } from 'cockatiel';
import { lazyLruCache } from '../../../shared/lazy-lru-cache';
import type { Runtime } from '../../../shared/runtime';
import { CircuitBreaker } from './circuit-breaker';
import { RequestFailure, type RawResponse } from './http-exchange';

/**
 * Kinds of requests: `lookups`, `payments` (creates and confirms of payments) and `payouts` (creates of payouts). Each
 * kind has a bulkhead, which is a concurrency limit. Requests of one kind cannot use the slots of another.
 */
export type BulkheadName = 'lookups' | 'payments' | 'payouts';

const SLOTS_BY_BULKHEAD: Record<BulkheadName, number> = { lookups: 128, payments: 96, payouts: 32 };
const MAX_QUEUED_PER_BULKHEAD = 2000;
/** Slots of one caller. Fewer than all slots, so that one caller cannot make the requests of others wait or fail. */
const SLOTS_PER_CALLER: Record<BulkheadName, number> = { lookups: 112, payments: 84, payouts: 28 };
const MAX_CALLERS = 10_000;

/**
 * The first circuit breaker opens after this number of timeouts, if no response arrives in between. The number is low,
 * because each timeout delays a caller.
 */
const TIMEOUTS_TO_OPEN_BREAKER = 10;
/**
 * The second circuit breaker opens after this number of failures that are not timeouts, if no response with a status
 * below 500 arrives in between.
 */
const FAILURES_TO_OPEN_BREAKER = 50;

const isTimeout = (outcome: unknown): boolean =>
  outcome instanceof RequestFailure && outcome.reason === 'timeout';

/** Whether a request got a 5xx response, or failed otherwise than by a timeout. False if the request got no slot. */
function isNonTimeoutFailure(outcome: unknown): boolean {
  if (outcome instanceof RequestFailure) return outcome.reason !== 'timeout';
  return !(outcome instanceof Error) && (outcome as RawResponse).status >= 500;
}

/** The bulkheads of each caller. */
export class CallerBulkheads {
  readonly #bulkheadByKey = lazyLruCache<string, BulkheadPolicy>(MAX_CALLERS);

  get(bulkheadName: BulkheadName, callerId: string): BulkheadPolicy {
    const key = `${bulkheadName} ${callerId}`;
    let callerBulkhead = this.#bulkheadByKey.get(key);
    if (!callerBulkhead) {
      callerBulkhead = bulkhead(SLOTS_PER_CALLER[bulkheadName], MAX_QUEUED_PER_BULKHEAD);
      this.#bulkheadByKey.set(key, callerBulkhead);
    }
    return callerBulkhead;
  }
}

/** Bulkheads and circuit breakers for requests to the service. */
export class ResiliencePolicy {
  readonly #bulkheadByName: Record<BulkheadName, BulkheadPolicy> = {
    lookups: bulkhead(SLOTS_BY_BULKHEAD.lookups, MAX_QUEUED_PER_BULKHEAD),
    payments: bulkhead(SLOTS_BY_BULKHEAD.payments, MAX_QUEUED_PER_BULKHEAD),
    payouts: bulkhead(SLOTS_BY_BULKHEAD.payouts, MAX_QUEUED_PER_BULKHEAD),
  };
  readonly #callerBulkheads = new CallerBulkheads();
  readonly #timeoutBreaker: CircuitBreaker;
  readonly #failureBreaker: CircuitBreaker;

  constructor(private readonly runtime: Runtime) {
    const createBreaker = (threshold: number, isFailure: (outcome: unknown) => boolean): CircuitBreaker =>
      new CircuitBreaker({ failureThreshold: threshold, isFailure, runtime });
    this.#timeoutBreaker = createBreaker(TIMEOUTS_TO_OPEN_BREAKER, isTimeout);
    this.#failureBreaker = createBreaker(FAILURES_TO_OPEN_BREAKER, isNonTimeoutFailure);
  }

  /**
   * Runs `send` in a slot of a bulkhead. If `bulkheadName` is null, the caller already holds a slot. Waits while a
   * circuit breaker is half open. Rejects without running `send` if a breaker is open or the bulkhead's queue is full.
   * @param callerId caller whose own concurrency limit also applies; undefined for none
   */
  run(bulkheadName: BulkheadName | null, send: () => Promise<RawResponse>, callerId?: string) {
    const sendInSlot = bulkheadName === null ? send : () => this.#executeInSlot(bulkheadName, callerId, send);
    return this.#timeoutBreaker.execute(() => this.#failureBreaker.execute(sendInSlot));
  }

  #executeInSlot<T>(bulkheadName: BulkheadName, callerId: string | undefined, work: () => Promise<T>) {
    const executeInSharedSlot = (): Promise<T> => this.#bulkheadByName[bulkheadName].execute(work);
    if (callerId === undefined) return executeInSharedSlot();
    return this.#callerBulkheads.get(bulkheadName, callerId).execute(executeInSharedSlot);
  }

  /** Whether the caller would get a slot of a bulkhead immediately. */
  hasFreeSlot(bulkheadName: BulkheadName, callerId: string): boolean {
    const bulkheads = [this.#callerBulkheads.get(bulkheadName, callerId), this.#bulkheadByName[bulkheadName]];
    return bulkheads.every(({ executionSlots }) => executionSlots > 0);
  }

  /**
   * Waits for a slot of a bulkhead for a caller. Resolves with a function that frees the slot. Rejects with a
   * RequestFailure (`rejected_locally`) if a circuit breaker is half open, a queue is full, or no slot becomes free
   * within `timeoutMs`.
   */
  reserve(bulkheadName: BulkheadName, callerId: string, timeoutMs: number): Promise<() => void> {
    // Grant no slot while a breaker is half open. Otherwise, a create would be written to the journal, and would then
    // wait for the end of the probe.
    if ([this.#timeoutBreaker, this.#failureBreaker].some(({ state }) => state === 'half_open'))
      return Promise.reject(new RequestFailure('rejected_locally', true, 'HALF_OPEN'));
    const deferredGrant = Promise.withResolvers<() => void>();
    const deferredRelease = Promise.withResolvers<undefined>();
    const rejectGrant = (code: string): void =>
      deferredGrant.reject(new RequestFailure('rejected_locally', true, code));
    const timer = this.runtime.after(timeoutMs, () => {
      rejectGrant('NO_SLOT');
      // If the bulkhead grants a slot after the timeout, free it immediately.
      deferredRelease.resolve(undefined);
    });
    const holdSlot = (): Promise<undefined> => {
      timer.cancel();
      deferredGrant.resolve(() => deferredRelease.resolve(undefined));
      return deferredRelease.promise;
    };
    this.#executeInSlot(bulkheadName, callerId, holdSlot).catch((error: unknown) => {
      timer.cancel();
      rejectGrant(error instanceof Error ? error.name : 'REFUSED');
    });
    return deferredGrant.promise;
  }

  /** Returns for each circuit breaker whether it is open or half open. */
  openFlagByBreaker(): Record<'timeouts' | 'failures', boolean> {
    const isOpen = ({ state }: CircuitBreaker): boolean => state !== 'closed';
    return { timeouts: isOpen(this.#timeoutBreaker), failures: isOpen(this.#failureBreaker) };
  }

  /** Returns for each bulkhead the number of slots in use (`inFlightCount`) and of queued requests. */
  bulkheadLoads(): Record<BulkheadName, { inFlightCount: number; queuedCount: number }> {
    const loadOf = (bulkheadName: BulkheadName) => ({
      inFlightCount: SLOTS_BY_BULKHEAD[bulkheadName] - this.#bulkheadByName[bulkheadName].executionSlots,
      queuedCount: MAX_QUEUED_PER_BULKHEAD - this.#bulkheadByName[bulkheadName].queueSlots,
    });
    return { lookups: loadOf('lookups'), payments: loadOf('payments'), payouts: loadOf('payouts') };
  }
}
