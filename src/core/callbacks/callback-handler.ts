import { bulkhead } from 'cockatiel';
import type { Clock } from '../../shared/clock';
import type { Attempt } from '../../datasources/journal/journal';
import type { CallbackTokens } from './callback-tokens';
import type { JournalSession } from '../journal-session';

interface CallbackHandlerOptions {
  /** Base URL at which the service reaches this gateway, without a trailing slash; null if PUBLIC_URL is not set. */
  publicUrl: string | null;
  callbackTokens: CallbackTokens;
  journalSession: JournalSession;
  /** Asks the payment service for the transaction that the attempt created or may have created. */
  lookUp(attempt: Attempt): Promise<unknown>;
}

/** Token bucket that limits the rate of lookups for one attempt. It has nothing to do with callback tokens. */
interface TokenBucket {
  /** Whether a lookup is scheduled or in flight. */
  isLookupPending: boolean;
  /** Whether another lookup must follow, because a callback has arrived since the last lookup began. */
  mustLookUpAgain: boolean;
  /** Time at which the bucket is full again, by the monotonic clock. */
  fullAt: number;
}

/**
 * Time in ms in which the token bucket of an attempt regains one lookup. A full bucket allows four lookups without
 * waiting.
 */
const LOOKUP_REFILL_INTERVAL_MS = 1000;
/** If a bucket needs longer than this time in ms to become full, it is empty: the next lookup must wait. */
const BURST_TOLERANCE_MS = 3 * LOOKUP_REFILL_INTERVAL_MS;
/** Maximum number of token buckets. While all are in use, callbacks for attempts without a bucket are dropped. */
const MAX_TOKEN_BUCKETS = 1000;
/**
 * Maximum number of concurrent lookups for callbacks. It is below the limit of the service client, to leave capacity
 * for callers.
 */
const MAX_CONCURRENT_LOOKUPS = 16;

/** Handles callbacks of the service (spec 6). They are not signed, so a callback only triggers a signed lookup. */
export class CallbackHandler {
  readonly #clock: Clock;
  readonly #lookupBulkhead = bulkhead(MAX_CONCURRENT_LOOKUPS, MAX_TOKEN_BUCKETS);
  readonly #bucketsByAttemptId = new Map<string, TokenBucket>();

  constructor(private readonly options: CallbackHandlerOptions) {
    this.#clock = options.journalSession.clock;
  }

  /**
   * Returns the callback URL to send with a create: `callersUrl` or, if that is null or undefined, a URL of this
   * gateway. If PUBLIC_URL is not set, returns `callersUrl` unchanged.
   */
  callbackUrlFor(attemptId: string, callersUrl: string | null | undefined): string | null | undefined {
    const { publicUrl, callbackTokens } = this.options;
    if (publicUrl === null || (callersUrl !== null && callersUrl !== undefined)) return callersUrl;
    return `${publicUrl}/callbacks/${callbackTokens.encode(attemptId)}`;
  }

  /**
   * Schedules a lookup of the transaction for which the service made the callback. Ignores an invalid token. Also
   * ignores the callback if its attempt has no bucket, and MAX_TOKEN_BUCKETS buckets are in use.
   */
  onCallback(token: string): void {
    const attemptId = this.options.callbackTokens.decode(token);
    if (attemptId === null) return;
    const bucket = this.#bucketsByAttemptId.get(attemptId);
    if (bucket?.isLookupPending) bucket.mustLookUpAgain = true;
    else if (bucket) this.#scheduleLookup(attemptId, bucket);
    else if (this.#bucketsByAttemptId.size < MAX_TOKEN_BUCKETS) {
      const newBucket = { isLookupPending: false, mustLookUpAgain: false, fullAt: 0 };
      this.#bucketsByAttemptId.set(attemptId, newBucket);
      this.#scheduleLookup(attemptId, newBucket);
    }
  }

  #scheduleLookup(attemptId: string, bucket: TokenBucket): void {
    bucket.isLookupPending = true;
    const delayMs = Math.min(
      LOOKUP_REFILL_INTERVAL_MS,
      bucket.fullAt - BURST_TOLERANCE_MS - this.#clock.monotonic(),
    );
    if (delayMs <= 0) void this.#lookUp(attemptId, bucket);
    else this.#clock.after(delayMs, () => void this.#lookUp(attemptId, bucket));
  }

  async #lookUp(attemptId: string, bucket: TokenBucket): Promise<void> {
    const { journalSession, lookUp } = this.options;
    bucket.mustLookUpAgain = false;
    bucket.fullAt = Math.max(bucket.fullAt, this.#clock.monotonic()) + LOOKUP_REFILL_INTERVAL_MS;
    try {
      await this.#lookupBulkhead.execute(async () => {
        const attempt = await journalSession.journal.findById(journalSession.serviceName, attemptId);
        if (attempt) await lookUp(attempt);
      });
    } catch {
      // Ignore the failure: a later poll, the TransactionFollower or, for an unknown outcome, recovery looks up again.
    }
    bucket.isLookupPending = false;
    if (bucket.mustLookUpAgain) this.#scheduleLookup(attemptId, bucket);
    else this.#deleteBucketOnceRefilled(attemptId, bucket);
  }

  #deleteBucketOnceRefilled(attemptId: string, bucket: TokenBucket): void {
    this.#clock.after(Math.max(0, bucket.fullAt - this.#clock.monotonic()), () => {
      if (bucket.isLookupPending) return;
      if (bucket.fullAt > this.#clock.monotonic()) this.#deleteBucketOnceRefilled(attemptId, bucket);
      else if (this.#bucketsByAttemptId.get(attemptId) === bucket) this.#bucketsByAttemptId.delete(attemptId);
    });
  }
}
