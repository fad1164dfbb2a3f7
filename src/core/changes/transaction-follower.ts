import type { ChangeSettings, PollSettings } from '../../config/types';
import type { FollowedTransaction, NextLookup } from '../../datasources/journal/changes';
import type { TransactionKind } from '../../datasources/journal/journal';
import { InFlightCounter } from '../../shared/in-flight-counter';
import { RepeatedJob, type BackgroundObserver, type RunInBackgroundSpan } from '../background';
import type { JournalSession } from '../journal-session';
import { nextFollowDelayMs, retryAfterMsOf, type PollPhase } from '../polling/poll-schedule';
import { pollPhase, type Snapshot } from '../polling/snapshot';
import type { ChangeRecorder, KnownState } from './change-recorder';

/** Delay in ms between two runs, each of which claims due lookups. The delay is shorter if more lookups may be due. */
const RUN_DELAY_MS = 1000;
/** Maximum number of this job's lookups in flight, and of lookups per claim. Leaves capacity for callers. */
const MAX_LOOKUPS_IN_FLIGHT = 32;
/** Time in ms after its last change in which a transaction is young, that is, likely to change again soon. */
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
 * A lookup is postponed if another response has shown the transaction less than this fraction of the poll delay ago.
 * The fraction is less than 0.85 / 1.15, the ratio of the extreme jitter factors. With a larger fraction, the job's own
 * previous lookup could postpone the next one.
 */
const POSTPONE_MAX_AGE_FRACTION = 0.7;

/** Load and availability of the payment service, according to its client. */
export interface ServiceLoad {
  /** Whether a circuit breaker is open or half open. */
  isDown(): boolean;
  /** Whether lookups are queued because the maximum number of concurrent lookups is in flight. */
  isBusy(): boolean;
}

interface FollowerOptions {
  journalSession: JournalSession;
  config: { changeSettings: ChangeSettings; pollSettings: PollSettings };
  lookupTimeoutMs: number;
  recorder: ChangeRecorder;
  serviceLoad: ServiceLoad;
  /** Looks a transaction up, and passes it to the recorder and to subscribers. Null if the service does not have it. */
  lookUp(kind: TransactionKind, channel: string, transactionId: string): Promise<Snapshot | null>;
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
  #refilledAt: number;
  #nextProbeAt = -Infinity;

  constructor(private readonly options: FollowerOptions) {
    const { clock } = options.journalSession;
    this.#refilledAt = clock.monotonic();
    this.#claimJob = new RepeatedJob(clock, RUN_DELAY_MS, () => this.#run());
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

  async #run(): Promise<number> {
    const { journalSession, config } = this.options;
    await this.#writeNextLookups();
    if (!journalSession.clock.isSynchronized) return RUN_DELAY_MS;
    const lookupLimit = this.#updateLookupLimit();
    // JournalMonitor logs why a claim failed.
    const claimed = lookupLimit === 0 ? [] : await this.#claimDueLookups(lookupLimit).catch(() => []);
    for (const transaction of claimed) this.#handleClaimed(transaction);
    const mayMoreBeDue = claimed.length > 0 && claimed.length === lookupLimit;
    const refillMs = (MAX_LOOKUPS_IN_FLIGHT / config.changeSettings.lookupsPerSecond) * 1000;
    return mayMoreBeDue ? Math.min(RUN_DELAY_MS, refillMs) : RUN_DELAY_MS;
  }

  #updateLookupLimit(): number {
    const { journalSession, config, serviceLoad } = this.options;
    const { lookupsPerSecond } = config.changeSettings;
    const now = journalSession.clock.monotonic();
    this.#lookupTokenCount = Math.min(
      lookupsPerSecond,
      this.#lookupTokenCount + (Math.max(0, now - this.#refilledAt) / 1000) * lookupsPerSecond,
    );
    this.#refilledAt = now;
    const freeSlotCount = MAX_LOOKUPS_IN_FLIGHT - this.#inFlightLookupCounter.count;
    const lookupLimit = Math.max(0, Math.min(Math.floor(this.#lookupTokenCount), freeSlotCount));
    if (serviceLoad.isBusy()) return 0;
    if (!serviceLoad.isDown()) return lookupLimit;
    if (now < this.#nextProbeAt) return 0;
    this.#nextProbeAt = now + PROBE_INTERVAL_MS;
    return Math.min(1, lookupLimit);
  }

  #claimDueLookups(lookupLimit: number): Promise<FollowedTransaction[]> {
    const { journalSession, lookupTimeoutMs } = this.options;
    const { journal, clock, runtime, serviceName } = journalSession;
    const now = clock.now();
    return journal.claimFollowed({
      service: serviceName,
      now,
      leaseUntil: now + lookupTimeoutMs + LEASE_MARGIN_MS,
      youngIfChangedAfter: now - RECENTLY_CHANGED_MS,
      limit: lookupLimit,
      // Rounds up or down at random, so that the average fraction is YOUNG_LOOKUP_FRACTION even if the limit is small.
      youngLimit: Math.floor(lookupLimit * YOUNG_LOOKUP_FRACTION + runtime.random()),
    });
  }

  #handleClaimed(transaction: FollowedTransaction): void {
    const { journalSession, config, observer, recorder, runInSpan } = this.options;
    const { clock } = journalSession;
    const { kind, succeededAt } = transaction;
    if (clock.now() - succeededAt >= config.changeSettings.followAfterCreateMs) {
      this.#scheduleLookup(transaction, null, 0);
      return observer.onFollowLookup(kind, 'expired');
    }
    const lastState = recorder.revalidateKnownState(transaction);
    const postponedUntil = lastState && this.#postponedUntil(transaction, lastState);
    if (postponedUntil !== undefined) {
      this.#scheduleLookup(transaction, postponedUntil, 0);
      return observer.onFollowLookup(kind, 'postponed');
    }
    this.#lookupTokenCount -= 1;
    const lookUp = () => this.#lookUp(transaction, lastState);
    void this.#inFlightLookupCounter.track(runInSpan({ name: `follow ${kind}` }, lookUp));
  }

  /** Returns the new due time if another response has just shown a state that is not final; otherwise undefined. */
  #postponedUntil({ changedAt }: FollowedTransaction, lastState: KnownState): number | undefined {
    const { clock } = this.options.journalSession;
    if (lastState.phase === 'done') return undefined;
    const delayMs = this.#nextLookupDelayMs(lastState.phase, changedAt, 0);
    const sinceSeenMs = clock.monotonic() - lastState.seenAtMonotonic;
    if (sinceSeenMs >= delayMs * POSTPONE_MAX_AGE_FRACTION) return undefined;
    return Math.floor(clock.now() + delayMs - sinceSeenMs);
  }

  /** Looks a transaction up. Schedules its next lookup, unless its status is final. Never rejects. */
  async #lookUp(transaction: FollowedTransaction, lastState: KnownState | undefined): Promise<void> {
    const { journalSession, lookUp, observer, recorder } = this.options;
    const { clock } = journalSession;
    const { kind, channel, transactionId, changedAt, status } = transaction;
    try {
      const snapshot = await lookUp(kind, channel, transactionId);
      observer.onFollowLookup(kind, snapshot ? 'found' : 'missing');
      if (!snapshot) return this.#retryLater(transaction, 0);
      const phase = pollPhase(snapshot);
      // A final status needs no next lookup: once it is recorded, the transaction is no longer followed. If it is not
      // recorded before the lease ends, the transaction is claimed and looked up again.
      if (phase === 'done') return;
      const { state = null } = recorder.lastKnownState(kind, transactionId) ?? {};
      const isChanged = snapshot.status !== status || (lastState !== undefined && lastState.state !== state);
      const delayMs = this.#nextLookupDelayMs(phase, isChanged ? clock.now() : changedAt, 0);
      this.#scheduleLookup(transaction, clock.now() + delayMs, 0);
    } catch (error) {
      observer.onFollowLookup(kind, 'failed');
      this.#retryLater(transaction, retryAfterMsOf(error));
    }
  }

  #retryLater(transaction: FollowedTransaction, minDelayMs: number): void {
    const { journalSession, recorder } = this.options;
    const { kind, transactionId, changedAt } = transaction;
    const failures = transaction.failures + 1;
    const phase = recorder.lastKnownState(kind, transactionId)?.phase ?? 'payer';
    const delayMs = phase === 'done' ? 0 : this.#nextLookupDelayMs(phase, changedAt, failures);
    const nextLookupAt = journalSession.clock.now() + Math.max(delayMs, minDelayMs);
    this.#scheduleLookup(transaction, nextLookupAt, failures);
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
