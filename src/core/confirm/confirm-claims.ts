import type { Timer } from '../../shared/clock';
import type { ConfirmBeginResult, ConfirmClaim, ConfirmResult } from '../../datasources/journal/journal';
import { withTimeout } from '../../shared/timeout';
import type { JournalSession } from '../journal-session';

/** How long a caller whose confirm has ended waits for the journal, in milliseconds. */
const RECORD_MS = 250;
const RETRY_EVERY_MS = 1000;

/** The result to record for a confirm that was not carried out. */
export const notCarriedOut = ({ previousOutcomeUnknown: suspect }: ConfirmBeginResult): ConfirmResult => ({
  outcome: suspect ? 'not_carried_out' : 'known',
  confirmed: [],
});

export interface ConfirmClaimsOptions {
  hand: JournalSession;
  /** Logs what could not be recorded. */
  warn(facts: object, message: string): void;
}

/** The journal's side of confirms: fails closed before one is sent, and never fails after it. */
export class ConfirmClaims {
  readonly #hand: JournalSession;
  readonly #warn: ConfirmClaimsOptions['warn'];
  /** Results by the id of their claim, to be recorded again. */
  readonly #unrecorded = new Map<string, ConfirmResult>();
  #retry: Timer | undefined;

  constructor({ hand, warn }: ConfirmClaimsOptions) {
    this.#hand = hand;
    this.#warn = warn;
  }

  /** Null when a confirm of the payment is under way. Throws SERVICE_UNAVAILABLE when the journal cannot be written. */
  async begin(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const begun = this.#hand.journal.beginConfirm(claim);
    try {
      return await this.#hand.failClosed(begun);
    } catch (error) {
      // It may have been written all the same.
      void begun.then(
        (late) => late && this.end(claim.id, notCarriedOut(late)),
        // An earlier suspicion, if there was one, is kept.
        () => this.#recordLater(claim.id, { outcome: 'not_carried_out', confirmed: [] }),
      );
      throw error;
    }
  }

  /** Records how a confirm ended. Never throws; a result that the journal does not take now is recorded later. */
  async end(id: string, result: ConfirmResult): Promise<void> {
    await withTimeout(RECORD_MS, this.#record(id, result)).catch(() => undefined);
  }

  /** Records once more what could not be recorded. */
  async flush(): Promise<void> {
    await Promise.all([...this.#unrecorded].map(([id, result]) => this.#record(id, result)));
  }

  async #record(id: string, result: ConfirmResult): Promise<void> {
    try {
      await this.#hand.journal.endConfirm(id, result);
      this.#unrecorded.delete(id);
    } catch {
      if (!this.#unrecorded.has(id)) {
        const facts = { event: 'confirm_not_recorded', confirm: id, outcome: result.outcome };
        this.#warn(facts, 'confirm result not recorded in the journal; retrying every second');
      }
      this.#recordLater(id, result);
    }
  }

  #recordLater(id: string, result: ConfirmResult): void {
    this.#unrecorded.set(id, result);
    if (!this.#retry) this.#retry = this.#retryLater();
  }

  #retryLater(): Timer {
    return this.#hand.clock.after(RETRY_EVERY_MS, () => {
      this.#retry = undefined;
      void this.flush();
    });
  }
}
