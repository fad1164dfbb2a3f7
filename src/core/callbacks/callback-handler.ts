import { bulkhead } from 'cockatiel';
import type { Clock } from '../../shared/clock';
import type { Attempt } from '../../datasources/journal/journal';
import type { CallbackTokens } from './callback-tokens';
import type { JournalSession } from '../journal-session';

interface CallbackHandlerOptions {
  /** The URL at which the service reaches this gateway, without a trailing slash; null: no callbacks. */
  publicUrl: string | null;
  tokens: CallbackTokens;
  session: JournalSession;
  /** Looks up the transaction of an attempt at the payment service. */
  lookUp(attempt: Attempt): Promise<unknown>;
}

/** Token bucket of one attempt. */
interface TokenBucket {
  isBusy: boolean;
  /** Whether another callback arrived during the lookup. */
  isPending: boolean;
  /** When the bucket is full again, by the monotonic clock. */
  tokenBucketFullAt: number;
}

/** Token bucket per attempt: burst of 4, then one lookup per second. */
const COST_MS = 1000;
const CREDIT_MS = 3000;
/** Callbacks of further attempts are dropped; polling finds the changes. */
const MAX_BUCKETS = 1000;
/** Keeps capacity of the payment service for callers. */
const MAX_CONCURRENT_LOOKUPS = 16;

/**
 * Handles callbacks of the service (spec 6). Their body is not trusted, as the specification does not define a signature: a
 * callback only triggers a signed lookup.
 */
export class CallbackHandler {
  readonly #options: CallbackHandlerOptions;
  readonly #clock: Clock;
  readonly #limit = bulkhead(MAX_CONCURRENT_LOOKUPS, MAX_BUCKETS);
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: CallbackHandlerOptions) {
    this.#options = options;
    this.#clock = options.session.clock;
  }

  /** The callback URL to send with a create: the caller's, unchanged, or else this gateway's if PUBLIC_URL is set. */
  callbackUrlFor(attemptId: string, own: string | null | undefined): string | null | undefined {
    const { publicUrl, tokens } = this.#options;
    if (publicUrl === null || (own !== null && own !== undefined)) return own;
    return `${publicUrl}/callbacks/${tokens.of(attemptId)}`;
  }

  /** Schedules a lookup if the token is valid. Returns at once in either case. */
  onCallback(token: string): void {
    const attemptId = this.#options.tokens.read(token);
    if (attemptId === null) return;
    const bucket = this.#buckets.get(attemptId);
    if (bucket?.isBusy) bucket.isPending = true;
    else if (bucket) this.#scheduleLookup(attemptId, bucket);
    else if (this.#buckets.size < MAX_BUCKETS) {
      const first = { isBusy: false, isPending: false, tokenBucketFullAt: 0 };
      this.#buckets.set(attemptId, first);
      this.#scheduleLookup(attemptId, first);
    }
  }

  #scheduleLookup(attemptId: string, bucket: TokenBucket): void {
    bucket.isBusy = true;
    const delayMs = Math.min(COST_MS, bucket.tokenBucketFullAt - CREDIT_MS - this.#clock.monotonic());
    if (delayMs <= 0) void this.#lookUp(attemptId, bucket);
    else this.#clock.after(delayMs, () => void this.#lookUp(attemptId, bucket));
  }

  async #lookUp(attemptId: string, bucket: TokenBucket): Promise<void> {
    const { session, lookUp } = this.#options;
    bucket.isPending = false;
    bucket.tokenBucketFullAt = Math.max(bucket.tokenBucketFullAt, this.#clock.monotonic()) + COST_MS;
    try {
      await this.#limit.execute(async () => {
        const attempt = await session.journal.findById(session.service, attemptId);
        if (attempt) await lookUp(attempt);
      });
    } catch {
      // Polling and recovery find the change later.
    }
    bucket.isBusy = false;
    if (bucket.isPending) this.#scheduleLookup(attemptId, bucket);
    else this.#forgetWhenFull(attemptId, bucket);
  }

  #forgetWhenFull(attemptId: string, bucket: TokenBucket): void {
    this.#clock.after(Math.max(0, bucket.tokenBucketFullAt - this.#clock.monotonic()), () => {
      if (bucket.isBusy) return;
      if (bucket.tokenBucketFullAt > this.#clock.monotonic()) this.#forgetWhenFull(attemptId, bucket);
      else if (this.#buckets.get(attemptId) === bucket) this.#buckets.delete(attemptId);
    });
  }
}
