import type { ChangeNotifier, ChangeNotification } from '../../datasources/change-notifier/change-notifier';
import type { Timer } from '../../shared/clock';
import type { JournalSession } from '../journal-session';
import { channelHash } from '../polling/snapshot';

/**
 * Value of `stateHash` in messages that tell other instances of a change on a channel. It is constant, so that the
 * notifier merges queued messages about the same channel.
 */
const CHANGE_SIGNAL_STATE_HASH = 'changes_';
/** Minimum time in ms between two wake-ups of a channel, so that one read returns many changes of a burst. */
const MIN_WAKE_GAP_MS = 20;
/** Time in ms after which watchers wake without a signal, because signals can be lost. Jitter at most doubles it. */
const FALLBACK_WAKE_MS = 1000;

class WatchedChannel {
  readonly watchers = new Set<ChannelWatcher>();
  /** Number of wake-ups so far. A watcher that has read the journal waits until this number has changed. */
  wakeCount = 0;
  #lastWakeAt = -Infinity;
  #wakeTimer: Timer | undefined;

  constructor(readonly journalSession: Pick<JournalSession, 'clock' | 'runtime'>) {
    this.#scheduleFallbackWake();
  }

  /** Wakes the watchers, at the earliest MIN_WAKE_GAP_MS after the previous wake-up. */
  signal(): void {
    const gapLeftMs = this.#lastWakeAt + MIN_WAKE_GAP_MS - this.journalSession.clock.monotonic();
    if (gapLeftMs > 0) this.#scheduleWake(gapLeftMs);
    else this.#wake();
  }

  stop(): void {
    this.#wakeTimer?.cancel();
  }

  #wake(): void {
    this.wakeCount += 1;
    this.#lastWakeAt = this.journalSession.clock.monotonic();
    for (const watcher of this.watchers) watcher.wake();
    this.#scheduleFallbackWake();
  }

  #scheduleFallbackWake(): void {
    this.#scheduleWake(FALLBACK_WAKE_MS * (1 + this.journalSession.runtime.random()));
  }

  #scheduleWake(delayMs: number): void {
    this.#wakeTimer?.cancel();
    this.#wakeTimer = this.journalSession.clock.after(delayMs, () => this.#wake());
  }
}

/** Waits for changes on one channel. */
export class ChannelWatcher {
  /** Ends the current wait; undefined if there is none. */
  #endWait: (() => void) | undefined;
  /** Whether the current wait is a pause, which a wake-up does not end. */
  #isPaused = false;
  #isStopped = false;

  /** @param onStop called when the watcher is stopped for the first time */
  constructor(
    private readonly watchedChannel: WatchedChannel,
    private readonly onStop: (watcher: ChannelWatcher) => void,
  ) {}

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get wakeCount(): number {
    return this.watchedChannel.wakeCount;
  }

  /** Resolves when `wakeCount` differs from `seenWakeCount`, after `maxWaitMs`, or when the watcher is stopped. */
  async waitForWake(seenWakeCount: number, maxWaitMs: number): Promise<void> {
    if (this.wakeCount === seenWakeCount) await this.#wait(maxWaitMs);
  }

  /** Resolves after `ms`, or when the watcher is stopped. */
  async pause(ms: number): Promise<void> {
    this.#isPaused = true;
    await this.#wait(ms);
    this.#isPaused = false;
  }

  wake(): void {
    if (!this.#isPaused) this.#endWait?.();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#endWait?.();
    this.onStop(this);
  }

  async #wait(ms: number): Promise<void> {
    if (this.#isStopped) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#endWait = () => resolve(undefined);
    const timer =
      ms === Infinity ? undefined : this.watchedChannel.journalSession.clock.after(ms, this.#endWait);
    await promise;
    this.#endWait = undefined;
    timer?.cancel();
  }
}

/** Wakes the watchers of a channel, on this and all other instances, when a change on the channel was recorded. */
export class ChangeSignals {
  /** The watched channels by channel hash. */
  readonly #channelsByHash = new Map<string, WatchedChannel>();

  constructor(
    private readonly journalSession: Pick<JournalSession, 'clock' | 'runtime' | 'serviceName'>,
    private readonly notifier: ChangeNotifier | null,
  ) {}

  /** Wakes the channel's watchers, here and on other instances, after this instance has recorded a change. */
  signalChange(channel: string): void {
    const subjectHash = channelHash(this.journalSession.serviceName, channel);
    this.#channelsByHash.get(subjectHash)?.signal();
    this.notifier?.publish({ subjectHash, stateHash: CHANGE_SIGNAL_STATE_HASH });
  }

  /** Handles another instance's message. Returns false if it is no change signal (see CHANGE_SIGNAL_STATE_HASH). */
  onRemoteChange({ subjectHash, stateHash }: ChangeNotification): boolean {
    if (stateHash === CHANGE_SIGNAL_STATE_HASH) this.#channelsByHash.get(subjectHash)?.signal();
    return stateHash === CHANGE_SIGNAL_STATE_HASH;
  }

  /** Adds a watcher of a channel. The caller must stop it. */
  watch(channel: string): ChannelWatcher {
    const subjectHash = channelHash(this.journalSession.serviceName, channel);
    const watchedChannel = this.#channelsByHash.get(subjectHash) ?? new WatchedChannel(this.journalSession);
    this.#channelsByHash.set(subjectHash, watchedChannel);
    const watcher = new ChannelWatcher(watchedChannel, (stoppedWatcher) => {
      watchedChannel.watchers.delete(stoppedWatcher);
      if (watchedChannel.watchers.size > 0) return;
      watchedChannel.stop();
      this.#channelsByHash.delete(subjectHash);
    });
    watchedChannel.watchers.add(watcher);
    return watcher;
  }
}
