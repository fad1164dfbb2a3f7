import { bulkhead } from 'cockatiel';
import type { Clock } from '../../shared/clock';
import type { Attempt } from '../../datasources/journal/journal';
import type { CallbackTokens } from './callback-tokens';
import type { JournalSession } from '../journal-session';

interface CallbackHandlerOptions {
  /** Where the service finds this gateway, without a slash at its end; null: it does not. */
  publicUrl: string | null;
  tokens: CallbackTokens;
  session: JournalSession;
  /** Looks for what became of an attempt, and for the state of what it created. Never believes anybody else. */
  lookUp(attempt: Attempt): Promise<unknown>;
}

/** What a create says of callbacks. */
interface CallbackUrl {
  callbackUrl: string | null | undefined;
  /** What must not come back in the answer, in no writing. */
  secrets: readonly string[];
}

/** What hints of one transaction have caused lately. */
interface TokenBucket {
  isBusy: boolean;
  /** Whether there was another hint meanwhile. */
  again: boolean;
  /** When all that was spent on it has been earned again, by the monotonic clock. */
  tokenBucketFullAt: number;
}

/** A look costs one second's worth of looks, and four may be spent at once: then hints are worth one look a second. */
const COST_MS = 1000;
const CREDIT_MS = 3000;
/** Hints of more transactions at once are dropped: polling finds what they would have told. */
const MAX_AT_ONCE = 1000;
/** Looks for hints never take the room that callers need. */
const MAX_LOOKS_AT_A_TIME = 16;

/**
 * Callbacks of the service (spec 6), whose form and signature are not shown: one that arrives only makes the gateway ask,
 * with its own signature, for what has happened.
 */
export class CallbackHandler {
  readonly #options: CallbackHandlerOptions;
  readonly #clock: Clock;
  readonly #limit = bulkhead(MAX_LOOKS_AT_A_TIME, MAX_AT_ONCE);
  readonly #recent = new Map<string, TokenBucket>();

  constructor(options: CallbackHandlerOptions) {
    this.#options = options;
    this.#clock = options.session.clock;
  }

  /** The address that a create names: the caller's own untouched, else this gateway's where it has one. */
  callbackUrlFor(attemptId: string, own: string | null | undefined, secrets: readonly string[]): CallbackUrl {
    const { publicUrl, tokens } = this.#options;
    if (publicUrl === null || (own !== null && own !== undefined)) return { callbackUrl: own, secrets };
    const token = tokens.of(attemptId);
    return { callbackUrl: `${publicUrl}/callbacks/${token}`, secrets: [...secrets, token] };
  }

  /** Something arrived at the address with this token. Returns at once, whatever the token is. */
  onCallback(token: string): void {
    const attemptId = this.#options.tokens.read(token);
    if (attemptId === null) return;
    const recent = this.#recent.get(attemptId);
    if (recent?.isBusy) recent.again = true;
    else if (recent) this.#scheduleLookup(attemptId, recent);
    else if (this.#recent.size < MAX_AT_ONCE) {
      const first = { isBusy: false, again: false, tokenBucketFullAt: 0 };
      this.#recent.set(attemptId, first);
      this.#scheduleLookup(attemptId, first);
    }
  }

  #scheduleLookup(attemptId: string, recent: TokenBucket): void {
    recent.isBusy = true;
    const ms = Math.min(COST_MS, recent.tokenBucketFullAt - CREDIT_MS - this.#clock.monotonic());
    if (ms <= 0) void this.#lookUp(attemptId, recent);
    else this.#clock.after(ms, () => void this.#lookUp(attemptId, recent));
  }

  async #lookUp(attemptId: string, recent: TokenBucket): Promise<void> {
    const { session: hand, lookUp: look } = this.#options;
    recent.again = false;
    recent.tokenBucketFullAt = Math.max(recent.tokenBucketFullAt, this.#clock.monotonic()) + COST_MS;
    try {
      await this.#limit.execute(async () => {
        const attempt = await hand.journal.findById(hand.service, attemptId);
        if (attempt) await look(attempt);
      });
    } catch {
      // A hint only: the journal, or the service, cannot be asked now.
    }
    recent.isBusy = false;
    if (recent.again) this.#scheduleLookup(attemptId, recent);
    else this.#forgetLater(attemptId, recent);
  }

  #forgetLater(attemptId: string, recent: TokenBucket): void {
    this.#clock.after(Math.max(0, recent.tokenBucketFullAt - this.#clock.monotonic()), () => {
      if (recent.isBusy) return;
      if (recent.tokenBucketFullAt > this.#clock.monotonic()) this.#forgetLater(attemptId, recent);
      else if (this.#recent.get(attemptId) === recent) this.#recent.delete(attemptId);
    });
  }
}
