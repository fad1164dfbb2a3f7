import type { Timer } from '../shared/clock';
import type { Runtime } from '../shared/runtime';
import {
  MAX_LEASE_MS,
  type Attempt,
  type InsertResult,
  type Journal,
  type NewAttempt,
  type OutcomeDetails,
  type AttemptFields,
} from '../datasources/journal/journal';
import { AttemptMissing } from '../datasources/journal/fence';
import { refusedByGatewayError, type ServiceError } from '../datasources/payment-service/service-error';
import { InFlightCounter } from '../shared/in-flight-counter';
import { withTimeout } from '../shared/timeout';
import type { JournalClock } from './clocks';
import type { JournalFence } from './journal-fence';
import { UnrecordedOutcomes, type UnrecordedOutcome } from './unrecorded-outcomes';

/** Ms by which `journalTimeoutMs` exceeds the journal's own time limit, so the journal normally ends a call first. */
const JOURNAL_TIMEOUT_MARGIN_MS = 50;
/** Lease duration in ms; newLeaseEnd() adds `journalTimeoutMs`. The owner of an expired lease is treated as dead. */
const LEASE_MS = 3550;
const LEASE_RENEWAL_EVERY_MS = 1000;
/** Maximum time in ms that a caller waits for an outcome to be recorded. Recording continues in the background. */
export const RECORD_TIMEOUT_MS = 250;
const FENCE_PROPAGATING_MESSAGE =
  "The gateway's journal may just have lost attempts; this call sent nothing. Repeat it unchanged.";

/** Returns the error of a query that could not read the journal. */
export const journalUnreadableError = (): ServiceError =>
  refusedByGatewayError("The gateway's journal cannot be read. Try again later.");

type JournalSessionOptions = Pick<
  JournalSession,
  'journal' | 'clock' | 'fence' | 'serviceName' | 'runtime' | 'warn'
>;

/**
 * This instance's access to the journal. If the journal fails, methods that precede a request to the payment service
 * throw, so that nothing is sent. Methods that follow a request do not throw.
 */
export class JournalSession {
  readonly journal: Journal;
  readonly clock: JournalClock;
  /** The journal's fence: a mark that the journal may have lost recent attempts. */
  readonly fence: JournalFence;
  /** Name of this payment service in the journal: its base URL, or the id of the sandbox. */
  readonly serviceName: string;
  /** Id of this instance in leases. */
  readonly instanceId: string;
  readonly runtime: Runtime;
  readonly warn: (logFields: object, message: string) => void;
  readonly #unrecordedOutcomes: UnrecordedOutcomes;
  /** Attempts that this instance has inserted, by id, until their first outcome is passed to recordOrQueueOutcome(). */
  readonly #attemptsInFlightById = new Map<string, AttemptFields>();
  /** Ids of the confirms that this instance has begun, until their results are recorded. */
  readonly confirmIdsInFlight = new Set<string>();
  readonly #inFlightMutationCounter = new InFlightCounter();
  #renewalTimer: Timer | undefined;

  constructor({ journal, clock, fence, serviceName, runtime, warn }: JournalSessionOptions) {
    this.journal = journal;
    this.clock = clock;
    this.fence = fence;
    this.serviceName = serviceName;
    this.runtime = runtime;
    this.instanceId = runtime.randomUUID();
    this.warn = warn;
    this.#unrecordedOutcomes = new UnrecordedOutcomes(clock, (unrecordedOutcome) =>
      this.#recordAndNotify(unrecordedOutcome),
    );
    fence.onRaised = async () => {
      const { attemptsToReinsert } = this.#unrecordedOutcomes;
      const attempts = [...this.#attemptsInFlightById.values(), ...attemptsToReinsert];
      await Promise.all(attempts.map((attempt) => this.#reinsert(attempt)));
    };
  }

  /** Time in ms after which failClosed() treats a journal call without a result as failed. */
  get journalTimeoutMs(): number {
    return this.journal.timeLimitMs + JOURNAL_TIMEOUT_MARGIN_MS;
  }

  /** Returns the end of a lease that begins now, in journal time. */
  newLeaseEnd(): number {
    return this.clock.now() + this.journalTimeoutMs + LEASE_MS;
  }

  /** Awaits journal work that must precede a request. On failure or timeout, throws a ServiceError (UNAVAILABLE). */
  async failClosed<T>(journalPromise: Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.journalTimeoutMs, journalPromise, this.runtime);
    } catch {
      // JournalMonitor logs why the call failed.
      journalPromise.catch(() => undefined);
      throw refusedByGatewayError(
        "The gateway's journal is unavailable; this call sent nothing. Repeat it unchanged.",
      );
    }
  }

  /**
   * Inserts an attempt. On failure or timeout, queues an outcome to record, because the insert may still take effect,
   * and throws a ServiceError (UNAVAILABLE).
   * @param outcomeOnFailure outcome to queue. Required if the attempt replaces a lost one that succeeded. Default:
   * `not_sent`
   */
  async insertAttempt(attempt: NewAttempt, outcomeOnFailure?: OutcomeDetails): Promise<InsertResult> {
    const pendingInsert = this.journal.insertAttempt(attempt);
    try {
      const result = await this.failClosed(pendingInsert);
      if (result.kind === 'started') this.#attemptsInFlightById.set(attempt.id, attempt);
      return result;
    } catch (error) {
      const outcome = outcomeOnFailure ?? { outcome: 'not_sent', settledAt: this.clock.now() };
      this.#unrecordedOutcomes.add({ attempt, outcome, isFirstOutcomeByInserter: true });
      pendingInsert.then(() => this.flushUnrecorded()).catch(() => undefined);
      throw error;
    }
  }

  /** Whether the lease of an attempt is valid: it has not ended, and ends at most MAX_LEASE_MS from now. */
  isLeased({ leaseUntil }: Attempt): boolean {
    const leftMs = leaseUntil - this.clock.now();
    return leftMs >= 0 && leftMs <= MAX_LEASE_MS;
  }

  /** Synchronizes the journal clock if that was never done. Throws a ServiceError (UNAVAILABLE) on failure. */
  async ensureClockSync(): Promise<void> {
    if (!this.clock.isSynchronized) await this.failClosed(this.clock.synchronize());
  }

  /** Reads the fence. Throws a ServiceError (UNAVAILABLE) on failure or timeout. */
  async refreshFence(): Promise<void> {
    await this.failClosed(this.fence.refresh());
  }

  /** Reads the fence unless this instance has already read it. Throws a ServiceError (UNAVAILABLE) on failure. */
  async ensureFenceRead(): Promise<void> {
    if (!this.fence.isKnown) await this.refreshFence();
  }

  /** Throws a ServiceError (UNAVAILABLE) if other instances may not know yet that the fence is up. */
  requirePropagatedFence(): void {
    if (this.fence.isPropagating) throw refusedByGatewayError(FENCE_PROPAGATING_MESSAGE);
  }

  /**
   * Whether an attempt is still in progress and owned by this instance, so that its request may be sent again. False if
   * the journal cannot be read.
   */
  async ownsInProgress(attemptId: string): Promise<boolean> {
    const readPromise = this.journal.findById(this.serviceName, attemptId);
    const attempt = await this.failClosed(readPromise).catch(() => null);
    return attempt?.outcome === 'in_progress' && attempt.owner === this.instanceId;
  }

  /** Records up to 250 queued outcomes. If `all` is true, records all, until a whole batch fails. Never rejects. */
  flushUnrecorded({ all = false } = {}): Promise<void> {
    return this.#unrecordedOutcomes.flush({ all });
  }

  /**
   * Records the outcome of an attempt. Never throws, waits at most 250 ms, and retries in the background. Returns false
   * only if the journal reports in time that
   * - another attempt created the transaction in `outcome`, or
   * - a recovery has found this transaction, but another attempt has taken the idempotency key.
   * @param onRecorded called once when the outcome is recorded, perhaps after the promise has resolved; must not throw
   */
  recordOrQueueOutcome(
    attempt: AttemptFields,
    outcome: OutcomeDetails,
    onRecorded?: () => void,
  ): Promise<boolean> {
    const isFirstOutcomeByInserter = this.#attemptsInFlightById.delete(attempt.id);
    const unrecordedOutcome = { attempt, outcome, isFirstOutcomeByInserter, onRecorded };
    const recording = this.#recordAndNotify(unrecordedOutcome).catch(() => {
      this.#unrecordedOutcomes.add(unrecordedOutcome);
      this.warn(
        { event: 'outcome_not_recorded', attempt: attempt.id, outcome: outcome.outcome },
        'outcome of an attempt not recorded in the journal yet; retrying',
      );
      return true;
    });
    // A slow journal must not turn a success into an error.
    return withTimeout(RECORD_TIMEOUT_MS, recording, this.runtime).catch(() => true);
  }

  async #recordAndNotify(unrecordedOutcome: UnrecordedOutcome): Promise<boolean> {
    const isRecorded = await this.#recordOrReinsert(unrecordedOutcome);
    if (isRecorded) {
      unrecordedOutcome.onRecorded?.();
      unrecordedOutcome.onRecorded = undefined;
    }
    return isRecorded;
  }

  /**
   * Records an outcome in the journal. Rejects on failure; otherwise resolves like recordOrQueueOutcome(). If the
   * journal lacks the attempt, raises the fence, inserts the attempt again and then records the outcome. Does none of
   * this if the outcome is `unknown` or from a lookup, and another attempt has replaced this one (see
   * #isAttemptReplaced).
   */
  async #recordOrReinsert(unrecordedOutcome: UnrecordedOutcome): Promise<boolean> {
    const { attempt, outcome, isFirstOutcomeByInserter } = unrecordedOutcome;
    try {
      return await this.journal.recordOutcome(attempt.id, outcome);
    } catch (error) {
      if (!(error instanceof AttemptMissing)) throw error;
      const isFromLookup = !isFirstOutcomeByInserter || outcome.outcome === 'unknown';
      if (isFromLookup && (await this.#isAttemptReplaced(attempt))) return outcome.outcome !== 'succeeded';
      await this.fence.raise();
      return (await this.#reinsert(attempt)) ? this.journal.recordOutcome(attempt.id, outcome) : true;
    }
  }

  /**
   * Whether another attempt with the same idempotency key has replaced this one in the journal, because the key was
   * released while this instance made a lookup. False while the fence is up: the journal may have lost this attempt.
   */
  async #isAttemptReplaced(attempt: AttemptFields): Promise<boolean> {
    await this.fence.refresh();
    if (this.fence.active) return false;
    const keyHolder = await this.journal.find(attempt);
    return keyHolder !== null && keyHolder.id !== attempt.id;
  }

  /** Inserts an attempt unless the journal has it. Returns false if another attempt holds its idempotency key. */
  async #reinsert(attempt: AttemptFields): Promise<boolean> {
    const { since: fenceSince } = this.fence;
    const leaseUntil = this.newLeaseEnd();
    const insert = (reservesExternalId: boolean): Promise<InsertResult> =>
      this.journal.insertAttempt({ ...attempt, leaseUntil, fenceSince, reservesExternalId });
    const firstResult = await insert(attempt.kind === 'payout');
    const result = firstResult.kind === 'reserved' ? await insert(false) : firstResult;
    if (result.kind === 'fence_changed')
      throw new Error(
        'The fence was raised or lowered while an attempt that the journal had lost was being restored. The gateway tries again.',
      );
    if (result.kind !== 'exists') return true;
    const isSameAttempt = result.attempt.id === attempt.id;
    if (!isSameAttempt)
      this.warn(
        { event: 'attempt_superseded', attempt: attempt.id, holder: result.attempt.id },
        'the journal lost an attempt, and another attempt has its idempotency key: check at the payment service whether both created a transaction',
      );
    return isSameAttempt;
  }

  /** Runs a create or confirm. While at least one is in flight, renews the leases of all of them every second. */
  withLeaseRenewal<T>(runMutation: () => Promise<T>): Promise<T> {
    if (!this.#renewalTimer) this.#renewalTimer = this.#scheduleRenewal();
    return this.#inFlightMutationCounter.track(runMutation());
  }

  /** Resolves when no create or confirm is in flight. */
  waitForMutations(): Promise<void> {
    return this.#inFlightMutationCounter.waitUntilIdle();
  }

  #scheduleRenewal(): Timer {
    return this.clock.after(LEASE_RENEWAL_EVERY_MS, () => {
      this.#renewalTimer = undefined;
      if (this.#inFlightMutationCounter.count === 0) return;
      this.#renewalTimer = this.#scheduleRenewal();
      // Renews no lease of another id: its insert timed out, but took effect later, so its outcome is never recorded.
      const ids = [...this.#attemptsInFlightById.keys(), ...this.confirmIdsInFlight];
      this.journal.renew(this.instanceId, this.newLeaseEnd(), ids).catch(() => undefined);
    });
  }
}
