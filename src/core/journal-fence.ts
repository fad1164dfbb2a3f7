import type { Fence, JournalState } from '../datasources/journal/fence';
import type { Journal } from '../datasources/journal/journal';
import { RepeatedJob } from './background';
import type { JournalClock } from './clocks';

const REFRESH_EVERY_MS = 1000;

/** Time in ms after the fence was raised in which creates are rejected, and those in flight are recorded again. */
const SETTLING_MS = 2000;

/** If the fence is older than this time in ms, an instance that starts skips the settling time. */
const RECENT_MS = 60_000;

/** A fence that is up. `until`: when the fence ends, in ms since 1970 by the journal's clock. */
type ActiveFence = Fence & { until: number };

interface JournalFenceOptions {
  journal: Pick<Journal, 'readState' | 'setFence'>;
  clock: JournalClock;
  fenceMs: number;
  warn(facts: object, message: string): void;
}

/**
 * The fence of the journal, read every second. It is up for a time after a failover or restore of the journal: creates
 * are then looked up before they are sent, because the journal may have lost attempts. See docs/exactly-once.md.
 */
export class JournalFence {
  #state: JournalState | undefined;
  /** Time at which the settling time ends, by the monotonic clock. */
  #settlesAt = -Infinity;
  /** Whether `onRaised` must be called, perhaps again because it has rejected. */
  #mustNotify = false;
  #reading: Promise<void> | undefined;
  /** The read that follows the current one. All calls of `refresh` during the current read share it. */
  #nextRead: Promise<void> | undefined;
  /** Called when this instance notices that the fence was raised. If it rejects, called again every second. */
  onRaised: () => Promise<void> = () => Promise.resolve();
  readonly #job: RepeatedJob;

  constructor(private readonly options: JournalFenceOptions) {
    // The journal monitor logs why a read failed.
    const refresh = (): Promise<void> => this.refresh().catch(() => undefined);
    void refresh();
    this.#job = new RepeatedJob(options.clock, REFRESH_EVERY_MS, () =>
      refresh().then(() => REFRESH_EVERY_MS),
    );
  }

  get isKnown(): boolean {
    return this.#state !== undefined;
  }

  /** When the fence was last raised, even if it has ended since; 0 if never. */
  get since(): number {
    return this.#state?.fence?.since ?? 0;
  }

  /** The fence if it is up, otherwise null. */
  get active(): ActiveFence | null {
    const fence = this.#state?.fence;
    if (!fence) return null;
    const until = fence.since + this.options.fenceMs;
    return this.options.clock.now() < until ? { ...fence, until } : null;
  }

  /** Whether this instance has noticed the fence so recently that other instances may not know it yet. */
  get isSettling(): boolean {
    return this.active !== null && this.options.clock.monotonic() < this.#settlesAt;
  }

  /** Earliest creation time of transactions whose attempts the journal may have lost. */
  get lostSince(): number {
    return this.since - this.options.fenceMs;
  }

  /** Reads the fence now. Rejects if the journal cannot be read. */
  refresh(): Promise<void> {
    if (this.#reading) {
      const earlier = this.#reading.catch(() => undefined);
      this.#nextRead ??= earlier.then(() => {
        this.#nextRead = undefined;
        return this.refresh();
      });
      return this.#nextRead;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { journal, clock } = this.options;
    const before = this.#state;
    let state = await journal.readState();
    if (before && state.lastSequence < before.lastSequence && state.fence?.since === before.fence?.since) {
      await journal.setFence('restored');
      state = await journal.readState();
    }
    this.#state = state;
    if ((before?.fence?.since ?? 0) !== this.since) {
      const isRecent = before !== undefined || clock.now() - this.since < RECENT_MS;
      if (isRecent) this.#settlesAt = clock.monotonic() + SETTLING_MS;
      this.#mustNotify = true;
      this.#report();
    }
    const { active } = this;
    if (!this.#mustNotify) return;
    const notified = active ? this.onRaised() : Promise.resolve();
    this.#mustNotify = await notified.then(
      () => false,
      () => true,
    );
  }

  /** Raises the fence unless it is up. Rejects if the journal cannot be written or read. */
  async raise(): Promise<void> {
    if (!this.active) await this.options.journal.setFence('attempt_missing');
    await this.refresh();
  }

  /** Stops reading the fence. Resolves when the current read has ended. */
  stop(): Promise<void> {
    return this.#job.stop();
  }

  #report(): void {
    const { warn } = this.options;
    const { active } = this;
    if (!active)
      return warn(
        { event: 'journal_fence_lowered' },
        'journal fence lowered: creates are sent without a lookup first',
      );
    const { reason, since, until } = active;
    warn(
      { event: 'journal_fence_raised', reason, since: isoTime(since), until: isoTime(until) },
      'journal fence raised: the journal may lack recent attempts; every create is looked up before it is sent',
    );
  }
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
