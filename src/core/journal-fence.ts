import type { Fence, FenceState } from '../datasources/journal/fence';
import type { Journal } from '../datasources/journal/journal';
import { RepeatedJob } from './background';
import type { JournalClock } from './clocks';

const FENCE_REFRESH_EVERY_MS = 1000;

/**
 * When an instance notices that the fence was raised, it sends no creates and no confirms for this time in ms.
 * Meanwhile, every instance writes its creates in flight to the journal again.
 */
const FENCE_PROPAGATION_MS = 2000;

/**
 * Maximum age in ms of a fence for which a starting instance waits FENCE_PROPAGATION_MS. The other instances already
 * know an older fence.
 */
const MAX_RECENT_FENCE_AGE_MS = 60_000;

/** A fence that is up. `until`: when the fence ends, in ms since 1970 by the journal's clock. */
type ActiveFence = Fence & { until: number };

interface JournalFenceOptions {
  journal: Pick<Journal, 'readFenceState' | 'setFence'>;
  clock: JournalClock;
  /** Time in ms for which the fence stays up after it was raised. */
  fenceMs: number;
  warn(logFields: object, message: string): void;
}

/**
 * Reads the fence of the journal every second. The fence is a mark in the journal: recent attempts may have been lost,
 * for example in a failover (docs/exactly-once.md). It stays up for `fenceMs` after it was raised. Meanwhile, every
 * create is looked up at the payment service before it is sent.
 */
export class JournalFence {
  #fenceState: FenceState | undefined;
  /** End of the latest period of FENCE_PROPAGATION_MS, by the monotonic clock; -Infinity if there was none. */
  #propagatingUntil = -Infinity;
  /** Whether `onRaised` must be called: for the first time after the fence was raised, or again after it rejected. */
  #mustCallOnRaised = false;
  #currentRead: Promise<void> | undefined;
  /** The read that follows the current one. All calls of `refresh` during the current read share it. */
  #nextRead: Promise<void> | undefined;
  /**
   * Called when a read shows that the fence was raised; the read waits for the result. If the listener rejects, each
   * further read calls it again, until it succeeds or the fence is not up any more.
   */
  onRaised: () => Promise<void> = () => Promise.resolve();
  readonly #refreshJob: RepeatedJob;

  constructor(private readonly options: JournalFenceOptions) {
    // Ignore a failed read: JournalMonitor logs it, and the next read follows in FENCE_REFRESH_EVERY_MS.
    const tryRefresh = (): Promise<void> => this.refresh().catch(() => undefined);
    void tryRefresh();
    this.#refreshJob = new RepeatedJob(options.clock, FENCE_REFRESH_EVERY_MS, () =>
      tryRefresh().then(() => FENCE_REFRESH_EVERY_MS),
    );
  }

  /** Whether this instance has read the fence at least once. */
  get isKnown(): boolean {
    return this.#fenceState !== undefined;
  }

  /**
   * When the fence was last raised, in ms since 1970 by the journal's clock, even if it has ended since. 0 if it was
   * never raised, was lowered by an operator, or has not been read yet.
   */
  get since(): number {
    return this.#fenceState?.fence?.since ?? 0;
  }

  /** The fence if it is up; null if it is not up or has not been read yet. */
  get active(): ActiveFence | null {
    const fence = this.#fenceState?.fence;
    if (!fence) return null;
    const until = fence.since + this.options.fenceMs;
    return this.options.clock.now() < until ? { ...fence, until } : null;
  }

  /** Whether this instance has noticed the fence so recently that other instances may not know it yet. */
  get isPropagating(): boolean {
    return this.active !== null && this.options.clock.monotonic() < this.#propagatingUntil;
  }

  /** Earliest creation time, by the journal's clock, of a transaction whose attempt the journal may have lost. */
  get lostAttemptsSince(): number {
    return this.since - this.options.fenceMs;
  }

  /**
   * Reads the fence, and raises it if an older copy or another database has replaced the journal. If a read is in
   * progress, starts another one after it. Rejects if the journal fails.
   */
  refresh(): Promise<void> {
    if (this.#currentRead) {
      const currentRead = this.#currentRead.catch(() => undefined);
      this.#nextRead ??= currentRead.then(() => {
        this.#nextRead = undefined;
        return this.refresh();
      });
      return this.#nextRead;
    }
    this.#currentRead = this.#read().finally(() => {
      this.#currentRead = undefined;
    });
    return this.#currentRead;
  }

  async #read(): Promise<void> {
    const { journal, clock } = this.options;
    const earlierState = this.#fenceState;
    // With this machine's wall clock, which may be wrong, a recent fence could seem old.
    if (!clock.isSynchronized) await clock.synchronize();
    let newState = await journal.readFenceState();
    const isOlderCopy = earlierState && newState.lastAttemptSeq < earlierState.lastAttemptSeq;
    if (isOlderCopy && newState.fence?.since === earlierState.fence?.since) {
      await journal.setFence('restored');
      newState = await journal.readFenceState();
    }
    this.#fenceState = newState;
    if ((earlierState?.fence?.since ?? 0) !== this.since) {
      const isRecentChange = earlierState !== undefined || clock.now() - this.since < MAX_RECENT_FENCE_AGE_MS;
      if (isRecentChange) this.#propagatingUntil = clock.monotonic() + FENCE_PROPAGATION_MS;
      this.#mustCallOnRaised = true;
      // Does not log a fence that had ended before this instance started.
      if (earlierState || this.active) this.#logChange();
    }
    const { active } = this;
    if (!this.#mustCallOnRaised) return;
    const onRaisedPromise = active ? this.onRaised() : Promise.resolve();
    this.#mustCallOnRaised = await onRaisedPromise.then(
      () => false,
      () => true,
    );
  }

  /**
   * Must be called if the journal lacks an attempt. Raises the fence unless it is already up, then reads it. Rejects if
   * the journal fails.
   */
  async raise(): Promise<void> {
    if (!this.active) await this.options.journal.setFence('attempt_missing');
    await this.refresh();
  }

  /** Stops the job that reads the fence. Resolves when its current read has ended. */
  stop(): Promise<void> {
    return this.#refreshJob.stop();
  }

  #logChange(): void {
    const { warn } = this.options;
    const { active } = this;
    if (!active)
      return warn(
        { event: 'journal_fence_lowered' },
        'journal fence lowered: creates are sent without the lookups that the fence required',
      );
    const { reason, since, until } = active;
    warn(
      { event: 'journal_fence_raised', reason, since: isoTime(since), until: isoTime(until) },
      'journal fence raised: the journal may lack recent attempts; every create is looked up before it is sent',
    );
  }
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
