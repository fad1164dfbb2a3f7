import { bulkhead, isBulkheadRejectedError, type BulkheadPolicy } from 'cockatiel';
import type { BulkheadName } from '../datasources/payment-service/http/resilience';
import { rejectedLocallyError } from '../datasources/payment-service/mapping/responses';
import { lazyLruCache } from '../shared/lazy-lru-cache';

/**
 * Maximum number of concurrent calls of one caller. Lower than the slots that all callers share (SLOTS_BY_BULKHEAD), so
 * that one caller cannot make the calls of others wait or fail.
 */
const MAX_CONCURRENT_PER_CALLER: Record<BulkheadName, number> = { lookups: 112, payments: 84, payouts: 28 };
const MAX_QUEUED_PER_CALLER = 2000;
const MAX_CALLERS = 10_000;

/** Limits the concurrent lookups, payment mutations and payout mutations of each caller, over all its operations. */
export class CallerBulkheads {
  readonly #bulkheadByCaller = lazyLruCache<string, BulkheadPolicy>(MAX_CALLERS);

  /** Runs a call when the caller has a free slot. Throws a ServiceError (UNAVAILABLE) if too many calls wait for one. */
  async run<T>(bulkheadName: BulkheadName, callerId: string, call: () => Promise<T>): Promise<T> {
    const key = `${bulkheadName} ${callerId}`;
    let callerBulkhead = this.#bulkheadByCaller.get(key);
    if (!callerBulkhead) {
      callerBulkhead = bulkhead(MAX_CONCURRENT_PER_CALLER[bulkheadName], MAX_QUEUED_PER_CALLER);
      this.#bulkheadByCaller.set(key, callerBulkhead);
    }
    try {
      return await callerBulkhead.execute(call);
    } catch (error) {
      throw isBulkheadRejectedError(error as Error) ? rejectedLocallyError() : error;
    }
  }
}
