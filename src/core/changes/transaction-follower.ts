import type { ChangeSettings, PollSettings } from '../../config/types';
import type { FollowedTransaction, NextLookup } from '../../datasources/journal/changes';
import type { TransactionKind } from '../../datasources/journal/journal';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { RepeatedJob, type BackgroundObserver, type RunInBackgroundSpan } from '../background';
import type { JournalSession } from '../journal-session';
import { nextFollowDelayMs, retryAfterMsOf, type PollPhase } from '../polling/poll-schedule';
import { pollPhase } from '../polling/snapshot';
import type { ChangeRecorder, KnownState } from './change-recorder';
import type { TransactionResource } from '../../schema/transaction';

/** Maximum delay in ms between two runs, each of which claims due lookups. */
const DELAY_BETWEEN_RUNS_MS = 1000;
/** Maximum number of this job's lookups in flight, and of lookups per claim. Leaves capacity for callers. */
const MAX_LOOKUPS_IN_FLIGHT = 32;
/** A transaction is young (likely to change again soon) for this time in ms after its last change. */
const RECENTLY_CHANGED_MS = 15 * 60_000;
/**
 * Fraction of lookups that are for young transactions, if enough of them are due. The other lookups are for the most
 * overdue transactions.
 */
const YOUNG_LOOKUP_FRACTION = 0.8;
/** Interval in ms at which one lookup probes the payment service while a circuit breaker is open. */
const PROBE_INTERVAL_MS = 5000;
/** Time in ms by which the lease of a claimed transaction outlasts the time limit of its lookup. */
const LEASE_MARGIN_MS = 15_000;
/**
 * A due lookup is postponed if a response has shown the transaction less than this fraction of the poll delay ago.
 * Jitter multiplies a poll delay by 0.85 to 1.15. The fraction must be less than 0.85 / 1.15: otherwise, the
 * transaction's own previous lookup could postpone the next one.
 */
const FRESH_DELAY_FRACTION = 0.7;

/** Load and availability of the payment service, according to its client. */
export interface ServiceAvailability {
  /** Whether a circuit breaker is open or half open. */
  isDown(): boolean;
  /** Whether lookups are queued because the maximum number of concurrent lookups is in flight. */
  hasQueuedLookups(): boolean;
}

interface FollowerOptions {
  journalSession: JournalSession;
  config: { changeSettings: ChangeSettings; pollSettings: PollSettings };
  requestTimeoutMs: number;
  recorder: ChangeRecorder;
  serviceAvailability: ServiceAvailability;
  /** Looks a transaction up, and passes it to the recorder and to subscribers. Null if the service does not have it. */
  lookUp(kind: TransactionKind, channel: string, transactionId: string): Promise<TransactionResource | null>;
  runInSpan: RunInBackgroundSpan;
  observer: Pick<BackgroundObserver, 'onFollowLookup'>;
}

/**
 * Looks up each created transaction repeatedly, until its status is COMPLETED or FAILED, or until FOLLOW_DAYS have
 * passed since the create was recorded. Needs no subscribers (docs/changes.md).
 */
export class TransactionFollower {
  readonly #claimJob: RepeatedJob;
  readonly #inFlightLookupCounter = new InFlightCounter();
  /** Next lookups not yet written to the journal, by row id. Leases keep other instances from claiming the rows. */
  readonly #unwrittenNextLookupsByRow = new Map<number, NextLookup>();
  /** Token bucket: number of lookups that may be sent now. */
  #lookupTokenCount = 0;
  #lookupTokensRefilledAt: number;
  #nextProbeAt = -Infinity;

  constructor(private readonly options: FollowerOptions) {
    const { clock } = options.journalSession;
    this.#lookupTokensRefilledAt = clock.monotonic();
    this.#claimJob = new RepeatedJob(clock, DELAY_BETWEEN_RUNS_MS, () => this.#runClaimJob());
  }

  /**
   * Stops the job. Resolves when its lookups have ended, and it has tried to write the due times of the next lookups to
   * the journal. Never rejects.
   */
  async stop(): Promise<void> {
    await this.#claimJob.stop();
    await this.#inFlightLookupCounter.waitUntilIdle();
    await this.#writeNextLookups();
  }

  async #runClaimJob(): Promise<number> {
    const { journalSession, config } = this.options;
    await this.#writeNextLookups();
    if (!journalSession.clock.isSynchronized) return DELAY_BETWEEN_RUNS_MS;
    const claimLimit = this.#updateClaimLimit();
    // Ignore a failed claim: JournalMonitor logs it.
    const claimed = claimLimit === 0 ? [] : await this.#claimDueLookups(claimLimit).catch(() => []);
    for (const followedTransaction of claimed) this.#handleClaimed(followedTransaction);
    const mayMoreBeDue = claimed.length > 0 && claimed.length === claimLimit;
    const refillMs = (MAX_LOOKUPS_IN_FLIGHT / config.changeSettings.lookupsPerSecond) * 1000;
    return mayMoreBeDue ? Math.min(DELAY_BETWEEN_RUNS_MS, refillMs) : DELAY_BETWEEN_RUNS_MS;
  }

  /**
   * Refills the token bucket for lookups. Returns how many lookups may be claimed now: 0 while lookups are queued at
   * the client of the service; at most one probe every PROBE_INTERVAL_MS while the service is down.
   */
  #updateClaimLimit(): number {
    const { journalSession, config, serviceAvailability } = this.options;
    const { lookupsPerSecond } = config.changeSettings;
    const now = journalSession.clock.monotonic();
    this.#lookupTokenCount = Math.min(
      lookupsPerSecond,
      this.#lookupTokenCount + (Math.max(0, now - this.#lookupTokensRefilledAt) / 1000) * lookupsPerSecond,
    );
    this.#lookupTokensRefilledAt = now;
    const freeSlotCount = MAX_LOOKUPS_IN_FLIGHT - this.#inFlightLookupCounter.count;
    const claimLimit = Math.max(0, Math.min(Math.floor(this.#lookupTokenCount), freeSlotCount));
    if (serviceAvailability.hasQueuedLookups()) return 0;
    if (!serviceAvailability.isDown()) return claimLimit;
    if (now < this.#nextProbeAt) return 0;
    this.#nextProbeAt = now + PROBE_INTERVAL_MS;
    return Math.min(1, claimLimit);
  }

  #claimDueLookups(claimLimit: number): Promise<FollowedTransaction[]> {
    const { journalSession, requestTimeoutMs } = this.options;
    const { journal, clock, runtime, serviceName } = journalSession;
    const now = clock.now();
    return journal.claimFollowed({
      service: serviceName,
      now,
      leaseUntil: now + requestTimeoutMs + LEASE_MARGIN_MS,
      youngIfChangedAfter: now - RECENTLY_CHANGED_MS,
      limit: claimLimit,
      // Rounds up or down at random, so that the average fraction is YOUNG_LOOKUP_FRACTION even if the limit is small.
      youngLimit: Math.floor(claimLimit * YOUNG_LOOKUP_FRACTION + runtime.random()),
    });
  }

  #handleClaimed(followedTransaction: FollowedTransaction): void {
    const { journalSession, config, observer, recorder, runInSpan } = this.options;
    const { clock } = journalSession;
    const { kind, createSucceededAt } = followedTransaction;
    if (clock.now() - createSucceededAt >= config.changeSettings.followAfterCreateMs) {
      this.#scheduleLookup(followedTransaction, null, 0);
      return observer.onFollowLookup(kind, 'expired');
    }
    const knownState = recorder.revalidateKnownState(followedTransaction);
    const postponedUntil = knownState && this.#postponedUntil(followedTransaction, knownState);
    if (postponedUntil !== undefined) {
      this.#scheduleLookup(followedTransaction, postponedUntil, 0);
      return observer.onFollowLookup(kind, 'postponed');
    }
    this.#lookupTokenCount -= 1;
    const lookUp = () => this.#lookUp(followedTransaction, knownState);
    void this.#inFlightLookupCounter.track(runInSpan({ name: `follow ${kind}` }, lookUp));
  }

  /** Returns the new due time if another response has just shown a state that is not final; otherwise undefined. */
  #postponedUntil({ changedAt }: FollowedTransaction, knownState: KnownState): number | undefined {
    const { clock } = this.options.journalSession;
    if (knownState.phase === 'done') return undefined;
    const delayMs = this.#nextLookupDelayMs(knownState.phase, changedAt, 0);
    const sinceSeenMs = clock.monotonic() - knownState.seenAtMonotonic;
    if (sinceSeenMs >= delayMs * FRESH_DELAY_FRACTION) return undefined;
    return Math.floor(clock.now() + delayMs - sinceSeenMs);
  }

  /** Looks a transaction up. Schedules its next lookup, unless its status is final. Never rejects. */
  async #lookUp(followedTransaction: FollowedTransaction, knownState: KnownState | undefined): Promise<void> {
    const { journalSession, lookUp, observer, recorder } = this.options;
    const { clock } = journalSession;
    const { kind, channel, transactionId, changedAt, status } = followedTransaction;
    try {
      const snapshot = await lookUp(kind, channel, transactionId);
      observer.onFollowLookup(kind, snapshot ? 'found' : 'missing');
      if (!snapshot) return this.#retryLater(followedTransaction, 0);
      const phase = pollPhase(snapshot);
      // A final status needs no next lookup: once it is recorded, the transaction is no longer followed. If it is not
      // recorded before the lease ends, the transaction is claimed and looked up again.
      if (phase === 'done') return;
      const { state = null } = recorder.lastKnownState(kind, transactionId) ?? {};
      const isChanged =
        snapshot.status !== status || (knownState !== undefined && knownState.state !== state);
      const delayMs = this.#nextLookupDelayMs(phase, isChanged ? clock.now() : changedAt, 0);
      this.#scheduleLookup(followedTransaction, clock.now() + delayMs, 0);
    } catch (error) {
      observer.onFollowLookup(kind, 'failed');
      this.#retryLater(followedTransaction, retryAfterMsOf(error));
    }
  }

  #retryLater(followedTransaction: FollowedTransaction, minDelayMs: number): void {
    const { journalSession, recorder } = this.options;
    const { kind, transactionId, changedAt } = followedTransaction;
    const failures = followedTransaction.failures + 1;
    const phase = recorder.lastKnownState(kind, transactionId)?.phase ?? 'payer';
    const delayMs = phase === 'done' ? 0 : this.#nextLookupDelayMs(phase, changedAt, failures);
    const nextLookupAt = journalSession.clock.now() + Math.max(delayMs, minDelayMs);
    this.#scheduleLookup(followedTransaction, nextLookupAt, failures);
  }

  #nextLookupDelayMs(phase: Exclude<PollPhase, 'done'>, changedAt: number, failures: number): number {
    const { journalSession, config } = this.options;
    const sinceChangeMs = journalSession.clock.now() - changedAt;
    const pollIntervals = config.pollSettings.intervalsByPhase[phase];
    return nextFollowDelayMs(pollIntervals, sinceChangeMs, failures, journalSession.runtime.random());
  }

  #scheduleLookup(
    { followedId, changedAt }: FollowedTransaction,
    nextLookupAt: number | null,
    failures: number,
  ): void {
    this.#unwrittenNextLookupsByRow.set(followedId, { followedId, changedAt, nextLookupAt, failures });
  }

  async #writeNextLookups(): Promise<void> {
    const nextLookups = [...this.#unwrittenNextLookupsByRow.values()];
    if (nextLookups.length === 0) return;
    try {
      await this.options.journalSession.journal.scheduleFollowed(nextLookups);
    } catch {
      // The next run tries again. If this instance dies first, the lookups become due when the leases end.
      return;
    }
    for (const nextLookup of nextLookups)
      if (this.#unwrittenNextLookupsByRow.get(nextLookup.followedId) === nextLookup)
        this.#unwrittenNextLookupsByRow.delete(nextLookup.followedId);
  }
}
