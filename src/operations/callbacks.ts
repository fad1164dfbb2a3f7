import type { Clock } from '../clock';
import type { Attempt } from '../datasources/journal/journal';
import type { CallbackTokens } from './callback-tokens';
import type { JournalHand } from './journal-hand';

interface CallbacksOptions {
  /** Where the service finds this gateway, without a slash at its end; null: it does not. */
  publicUrl: string | null;
  tokens: CallbackTokens;
  hand: JournalHand;
  /** Looks for what became of an attempt, and for the state of what it created. Never believes anybody else. */
  look(attempt: Attempt): Promise<unknown>;
}

/** What a create says of callbacks. */
interface Called {
  callbackUrl: string | null | undefined;
  /** What must not come back in an answer. */
  secrets: readonly string[];
}

/** After one look, hints of the same transaction wait for so long. */
const GAP_MS = 500;
/** Hints of more transactions at once are dropped: polling finds what they would have told. */
const MAX_AT_ONCE = 1000;

/**
 * Callbacks of the service (spec 6), whose form and signature are not shown: one that arrives only makes the gateway ask,
 * with its own signature, for what has happened.
 */
export class Callbacks {
  readonly #options: CallbacksOptions;
  readonly #clock: Clock;
  /** Attempts that are being looked at or were just now; whether there were more hints meanwhile. */
  readonly #recent = new Map<string, { again: boolean }>();

  constructor(options: CallbacksOptions) {
    this.#options = options;
    this.#clock = options.hand.clock;
  }

  /** The address that a create names: the caller's own untouched, else this gateway's where it has one. */
  of(attemptId: string, own: string | null | undefined, secrets: readonly string[]): Called {
    const { publicUrl, tokens } = this.#options;
    if (publicUrl === null || (own !== null && own !== undefined)) return { callbackUrl: own, secrets };
    const token = tokens.of(attemptId);
    return { callbackUrl: `${publicUrl}/callbacks/${token}`, secrets: [...secrets, token] };
  }

  /** Something arrived at the address with this token. Returns at once, whatever the token is. */
  hint(token: string): void {
    const attemptId = this.#options.tokens.read(token);
    if (attemptId === null) return;
    const recent = this.#recent.get(attemptId);
    if (recent) recent.again = true;
    else if (this.#recent.size < MAX_AT_ONCE) void this.#look(attemptId);
  }

  async #look(attemptId: string): Promise<void> {
    const { hand, look } = this.#options;
    const recent = { again: false };
    this.#recent.set(attemptId, recent);
    try {
      const attempt = await hand.journal.findAny(hand.service, attemptId);
      if (attempt?.id === attemptId) await look(attempt);
    } catch {
      // A hint only: the journal, or the service, cannot be asked now.
    }
    this.#clock.after(GAP_MS, () => {
      this.#recent.delete(attemptId);
      if (recent.again) void this.#look(attemptId);
    });
  }
}
