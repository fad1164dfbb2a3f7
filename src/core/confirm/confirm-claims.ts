import type { Timer } from '../../shared/clock';
import type { ConfirmBeginResult, ConfirmClaim, EndedConfirm } from '../../datasources/journal/journal';
import { withTimeout } from '../../shared/timeout';
import { RECORD_TIMEOUT_MS, type JournalSession } from '../journal-session';

const RECORD_RETRY_EVERY_MS = 1000;

/**
 * Returns the result to record for a confirm that was not carried out. The outcome is `not_carried_out` if the result
 * of an earlier confirm of the payment stays unknown. Otherwise it is `known`: all confirms of the payment have
 * results.
 */
export const notCarriedOutResult = ({ isEarlierOutcomeUnknown }: ConfirmBeginResult): EndedConfirm => ({
  outcome: isEarlierOutcomeUnknown ? 'not_carried_out' : 'known',
  confirmedInputs: [],
});

/**
 * Records the start and the end of confirms in the journal. In between, a claim prevents other confirms of the
 * payment. If the journal fails, begin() throws, so that nothing is sent, whereas end() retries.
 */
export class ConfirmClaims {
  /** Results that the journal may not have recorded, by claim id. */
  readonly #unrecordedById = new Map<string, EndedConfirm>();
  #recordRetryTimer: Timer | undefined;

  constructor(private readonly journalSession: JournalSession) {}

  /**
   * Claims a payment for a confirm. Returns null if another confirm of the payment is in progress. Throws a
   * ServiceError (UNAVAILABLE) if the journal fails.
   */
  async begin(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const pendingBegin = this.journalSession.journal.beginConfirm(claim);
    try {
      const beginResult = await this.journalSession.failClosed(pendingBegin);
      if (beginResult) this.journalSession.confirmIdsInFlight.add(claim.confirmId);
      return beginResult;
    } catch (error) {
      // The journal may have recorded the claim despite the error, so the claim must be ended.
      void pendingBegin.then(
        (lateResult) => lateResult && this.end(claim.confirmId, notCarriedOutResult(lateResult)),
        // `not_carried_out` is always safe: an unknown result of an earlier confirm stays unknown.
        () => this.#recordLater(claim.confirmId, { outcome: 'not_carried_out', confirmedInputs: [] }),
      );
      throw error;
    }
  }

  /**
   * Records the result of a confirm and releases its claim. Resolves after RECORD_TIMEOUT_MS at the latest. Never
   * rejects; if the journal fails, retries every second in the background.
   */
  async end(confirmId: string, result: EndedConfirm): Promise<void> {
    const recording = this.#record(confirmId, result);
    await withTimeout(RECORD_TIMEOUT_MS, recording, this.journalSession.runtime).catch(() => undefined);
  }

  /** Tries once more to record each unrecorded result in the journal. Never rejects. */
  async flushUnrecorded(): Promise<void> {
    await Promise.all(
      [...this.#unrecordedById].map(([confirmId, result]) => this.#record(confirmId, result)),
    );
  }

  async #record(confirmId: string, result: EndedConfirm): Promise<void> {
    try {
      await this.journalSession.journal.endConfirm(confirmId, result);
      this.#unrecordedById.delete(confirmId);
      this.journalSession.confirmIdsInFlight.delete(confirmId);
    } catch {
      if (!this.#unrecordedById.has(confirmId)) {
        this.journalSession.warn(
          { event: 'confirm_not_recorded', confirm: confirmId, outcome: result.outcome },
          'confirm result not recorded in the journal; retrying every second',
        );
      }
      this.#recordLater(confirmId, result);
    }
  }

  #recordLater(confirmId: string, result: EndedConfirm): void {
    this.#unrecordedById.set(confirmId, result);
    if (this.#recordRetryTimer) return;
    this.#recordRetryTimer = this.journalSession.clock.after(RECORD_RETRY_EVERY_MS, () => {
      this.#recordRetryTimer = undefined;
      void this.flushUnrecorded();
    });
  }
}
