import {
  NO_ABSENCE_EVIDENCE,
  OBSERVER_EXCLUSIVE_CLAIM_MS,
  type AbsenceEvidence,
  type Attempt,
  type AttemptClaim,
  type OutcomeDetails,
  type AttemptFields,
} from '../../datasources/journal/journal';
import { backoffMs } from '../../shared/backoff';
import { lazyLruCache } from '../../shared/lazy-lru-cache';
import { InFlightCounter } from '../../shared/in-flight-counter';
import type { ClockGuard } from '../clocks';
import { withTimeout } from '../../shared/timeout';
import type { TransactionMatcher, MatchResult } from './transaction-matcher';
import type { ChangeRecorder } from '../changes/change-recorder';
import type { JournalSession } from '../journal-session';
import type { BackgroundObserver } from '../background';
import type { TransactionResource } from '../../schema/transaction';

type RecoveryResult<T> = { kind: 'found'; transaction: T } | { kind: 'not_sent' | 'missing' };

interface OutcomeRecoveryOptions {
  journalSession: JournalSession;
  clockGuard: ClockGuard;
  requestTimeoutMs: number;
  /**
   * Assumed maximum time in ms after a create until the service shows the payment (UNKNOWN_SETTLE_SECONDS). Only
   * lookups that are spread over this time prove that there is no payment.
   */
  settleMs: number;
  observer: Pick<BackgroundObserver, 'onRecoveryResult' | 'onOutcomeRecovered'>;
  recorder: Pick<ChangeRecorder, 'rememberCreatedState' | 'onCreateRecorded'>;
}

type SucceededOutcome = Extract<OutcomeDetails, { outcome: 'succeeded' }>;
type RecoveredOutcome = SucceededOutcome | { outcome: 'not_sent'; settledAt: number };

const FIRST_RECHECK_DELAY_MS = 500;
const MAX_RECHECK_DELAY_MS = 60_000;
/**
 * Minimum number of lookups that must count as evidence of absence (see #absenceEvidenceAfter) before an idempotency
 * key is released. They must also be spread over `settleMs`.
 */
const MIN_ABSENCE_LOOKUPS = 4;

/** Maximum number of entries in `#lastCountedAtById`. An eviction only delays the release of an idempotency key. */
const MAX_TRACKED_ATTEMPTS = 10_000;

/** Recovers unknown outcomes of creates by lookups. See docs/exactly-once.md. */
export class OutcomeRecovery {
  /** This instance's recoveries in flight, by attempt id. Concurrent callers share a recovery. */
  readonly #recoveryById = new Map<string, Promise<RecoveryResult<TransactionResource>>>();
  /** Start of this instance's last lookup that counts as evidence of absence, by `Clock.monotonic()`; by attempt id. */
  readonly #lastCountedAtById = lazyLruCache<string, number>(MAX_TRACKED_ATTEMPTS);
  readonly #inFlightReportCounter = new InFlightCounter();

  constructor(private readonly options: OutcomeRecoveryOptions) {}

  /**
   * Recovers the outcome of an attempt, or joins this instance's recovery of it. Returns null if the outcome is final,
   * or if the attempt's lease has not ended. Throws a ServiceError (UNAVAILABLE) if the journal fails.
   */
  async claimAndRecover<T extends TransactionResource>(
    attempt: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T> | null> {
    const sharedRecovery = this.#recoveryById.get(attempt.id);
    // The kind of an attempt determines its matcher, and so the type of the shared result.
    if (sharedRecovery) return sharedRecovery as Promise<RecoveryResult<T>>;
    const { journalSession } = this.options;
    const pendingClaim = journalSession.journal.claim(attempt.id, this.newClaim());
    const claimedAttempt = await journalSession.failClosed(pendingClaim);
    return claimedAttempt && this.recover(claimedAttempt, matcher);
  }

  /** Returns a claim with a lease that is longer than the two lookups of one recovery. */
  newClaim(): AttemptClaim {
    const { journalSession, requestTimeoutMs } = this.options;
    const { serviceName, instanceId: owner, clock } = journalSession;
    const now = clock.now();
    return { service: serviceName, owner, now, leaseUntil: now + requestTimeoutMs * 2 + 2000 };
  }

  /** Looks up the transaction of a claimed attempt. Records the outcome, or the time of the next lookup. */
  recover<T extends TransactionResource>(
    attempt: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const recoveryPromise = this.#tryRecover(attempt, matcher).finally(() =>
      this.#recoveryById.delete(attempt.id),
    );
    void recoveryPromise.then(
      ({ kind }) => {
        if (kind !== 'missing') this.#lastCountedAtById.delete(attempt.id);
        this.options.observer.onRecoveryResult(attempt.kind, kind);
      },
      () => undefined,
    );
    this.#recoveryById.set(attempt.id, recoveryPromise);
    return recoveryPromise;
  }

  async #tryRecover<T extends TransactionResource>(
    attempt: Attempt,
    matcher: TransactionMatcher<T>,
  ): Promise<RecoveryResult<T>> {
    const { requestTimeoutMs, settleMs } = this.options;
    const { clock, runtime } = this.options.journalSession;
    const lookupStartedAt = clock.monotonic();
    // A lookup is evidence of absence only if the create request can no longer be in flight. Lookups of payouts are no
    // evidence: only an operator can release the key of a payout.
    const mayCountAsAbsence = attempt.kind === 'payment' && clock.now() > attempt.sendUntil;
    const matchResult = await withTimeout(requestTimeoutMs, matcher.find(attempt), runtime).catch(
      () => undefined,
    );
    if (matchResult?.kind === 'found' && (await this.#recordRecovered(attempt, matchResult.transaction)))
      return matchResult;
    const absence =
      matchResult && mayCountAsAbsence
        ? await this.#absenceEvidenceAfter(matchResult, attempt, matcher, lookupStartedAt)
        : attempt.absence;
    const isAbsenceProven = absence.lookupCount >= MIN_ABSENCE_LOOKUPS && absence.spanMs >= settleMs;
    if (matchResult?.kind === 'nothing' && absence !== attempt.absence && isAbsenceProven) {
      await this.#recordRecovered(attempt, null);
      return { kind: 'not_sent' };
    }
    await this.#scheduleRecheck(attempt, absence);
    return { kind: 'missing' };
  }

  /**
   * Returns the attempt's evidence of absence after the lookup with the result `matchResult`:
   * - NO_ABSENCE_EVIDENCE if the lookup found a transaction.
   * - The same object `attempt.absence` if the lookup does not count: it is no proof, or only another instance may add
   *   to the evidence (see #isObservedElsewhere).
   * - Otherwise, a new object with one more lookup.
   */
  async #absenceEvidenceAfter(
    matchResult: MatchResult<TransactionResource>,
    attempt: Attempt,
    matcher: TransactionMatcher<TransactionResource>,
    lookupStartedAt: number,
  ): Promise<AbsenceEvidence> {
    const { clockGuard, requestTimeoutMs, settleMs } = this.options;
    const { runtime, instanceId } = this.options.journalSession;
    const { absence } = attempt;
    // The evidence starts again: this attempt may have created another transaction with the same external id, and a
    // lookup shows only one.
    if (matchResult.kind !== 'nothing') return NO_ABSENCE_EVIDENCE;
    if (!matchResult.isFromService || !clockGuard.isSteady() || this.#isObservedElsewhere(attempt))
      return absence;
    const knownTransactionLookup = matcher.canFindKnownTransaction(attempt);
    const canFindKnown = await withTimeout(requestTimeoutMs, knownTransactionLookup, runtime).catch(
      () => false,
    );
    if (!canFindKnown) return absence;
    // Only the instance that made the last counted lookup knows, by its monotonic clock, how long ago that was.
    const lastCountedAt =
      absence.observerId === instanceId ? this.#lastCountedAtById.get(attempt.id) : undefined;
    const sinceLastCountedMs = lastCountedAt === undefined ? 0 : lookupStartedAt - lastCountedAt;
    this.#lastCountedAtById.set(attempt.id, lookupStartedAt);
    return {
      lookupCount: absence.lookupCount + 1,
      // Even after a long pause, one lookup adds no more than its share of `settleMs`.
      spanMs: Math.round(absence.spanMs + Math.min(sinceLastCountedMs, settleMs / (MIN_ABSENCE_LOOKUPS - 1))),
      observerId: instanceId,
    };
  }

  /**
   * Whether another instance (`absence.observerId`) made the last lookup in the evidence, and must also make the next
   * one. False if the next one is overdue: any instance may then make it.
   */
  #isObservedElsewhere({ absence, nextRecheckAt }: Attempt): boolean {
    const { journalSession } = this.options;
    const isOtherObserver = absence.observerId !== '' && absence.observerId !== journalSession.instanceId;
    const dueInMs = (nextRecheckAt ?? 0) - journalSession.clock.now();
    // Ignore a due time further ahead than any recheck delay: the journal's clock was set back since it was stored.
    return isOtherObserver && dueInMs > -OBSERVER_EXCLUSIVE_CLAIM_MS && dueInMs <= MAX_RECHECK_DELAY_MS * 2;
  }

  /**
   * Records that an attempt created `transaction`. Returns false if another attempt created it, or has taken the
   * idempotency key (see JournalSession.recordOrQueueOutcome()).
   */
  recordCreated(attempt: AttemptFields, transaction: TransactionResource): Promise<boolean> {
    const { journalSession, recorder } = this.options;
    return journalSession.recordOrQueueOutcome(attempt, this.prepareSucceededOutcome(transaction), () =>
      recorder.onCreateRecorded(transaction),
    );
  }

  /** Resolves when every recovered outcome has been reported. */
  waitForReports(): Promise<void> {
    return this.#inFlightReportCounter.waitUntilIdle();
  }

  /**
   * Returns the outcome `succeeded` of an attempt that created `transaction`. Also makes the ChangeRecorder treat the
   * state of `transaction` as known, so the caller must record the outcome.
   */
  prepareSucceededOutcome(transaction: TransactionResource): SucceededOutcome {
    const { journalSession, recorder } = this.options;
    return {
      outcome: 'succeeded',
      transactionId: transaction.transactionId,
      wireStatus: transaction.rawStatus,
      settledAt: journalSession.clock.now(),
      observedState: recorder.rememberCreatedState(transaction),
    };
  }

  /**
   * Records a recovered outcome, and reports it when it is recorded. Returns the result of recordOrQueueOutcome().
   * @param transaction the transaction that the attempt created; null if it certainly created none
   */
  #recordRecovered(attempt: Attempt, transaction: TransactionResource | null): Promise<boolean> {
    const { journalSession, recorder } = this.options;
    const outcome: RecoveredOutcome = transaction
      ? this.prepareSucceededOutcome(transaction)
      : { outcome: 'not_sent', settledAt: journalSession.clock.now() };
    return journalSession.recordOrQueueOutcome(attempt, outcome, () => {
      if (transaction) recorder.onCreateRecorded(transaction);
      void this.#inFlightReportCounter.track(this.#report(attempt, outcome));
    });
  }

  /** Reports a recovered outcome, unless another instance or an operator recorded an outcome first. Never rejects. */
  async #report(attempt: Attempt, recoveredOutcome: RecoveredOutcome): Promise<void> {
    const { journal, serviceName, instanceId } = this.options.journalSession;
    const { outcome, settledAt } = recoveredOutcome;
    // If the attempt cannot be read, a duplicate report is better than none.
    const storedAttempt = await journal.findById(serviceName, attempt.id).catch(() => null);
    if (storedAttempt && (storedAttempt.outcome !== outcome || storedAttempt.settledAt !== settledAt)) return;
    const transactionId = 'transactionId' in recoveredOutcome ? recoveredOutcome.transactionId : null;
    this.options.observer.onOutcomeRecovered({ attempt, outcome, transactionId, instanceId });
  }

  /**
   * Records the outcome `unknown` of an attempt whose request this instance may have sent, and the time of the first
   * recheck.
   */
  async recordUnknown(attempt: AttemptFields): Promise<void> {
    const nextRecheckAt = this.#recheckTime(0);
    await this.options.journalSession.recordOrQueueOutcome(attempt, { outcome: 'unknown', nextRecheckAt });
  }

  async #scheduleRecheck(attempt: Attempt, absence: AbsenceEvidence): Promise<void> {
    // If another instance must make the next lookup, the due time that it has set is kept.
    const nextRecheckAt = this.#isObservedElsewhere(attempt)
      ? (attempt.nextRecheckAt ?? 0)
      : this.#recheckTime(attempt.recheckCount);
    await this.options.journalSession.recordOrQueueOutcome(attempt, {
      outcome: 'unknown',
      nextRecheckAt,
      absence,
    });
  }

  #recheckTime(recheckCount: number): number {
    // For each lookup, #absenceEvidenceAfter() adds at most settleMs / (MIN_ABSENCE_LOOKUPS - 1) to `spanMs`. A delay
    // longer than that would only release the key later.
    const maxMs = Math.min(
      MAX_RECHECK_DELAY_MS,
      Math.max(FIRST_RECHECK_DELAY_MS, this.options.settleMs / (2 * MIN_ABSENCE_LOOKUPS)),
    );
    const { runtime, clock } = this.options.journalSession;
    const backoffLimits = { firstMs: FIRST_RECHECK_DELAY_MS, maxMs };
    return Math.round(clock.now() + backoffMs(backoffLimits, recheckCount, runtime.random()));
  }
}
