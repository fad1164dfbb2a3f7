import { LRUCache } from 'lru-cache';
import type { ChangeNotifier, StateChange } from '../../datasources/change-notifier/change-notifier';
import type { Clock, Timer } from '../../shared/clock';
import { channelHash } from '../polling/snapshot';

/** State of every published signal. It is constant, so that the notifier drops duplicates; 8 characters. */
const STATE = 'changes_';
/** Minimum time in ms between two wake-ups of a channel, which collects the changes of a burst into one read. */
const MIN_GAP_MS = 20;
/** Interval in ms after which watchers read the journal without a signal, as signals may be lost; jitter is added. */
const SAFETY_READ_MS = 1000;
const MAX_STORED_NAMES = 10_000;

/** A channel that somebody watches. */
class WatchedChannel {
  watchers = 0;
  /** Number of wake-ups. A watcher that has read the journal waits until it differs. */
  version = 0;
  /** Functions that resume the waiting watchers. */
  #waiting = new Set<() => void>();
  #lastWakeAt = -Infinity;
  #timer: Timer | undefined;

  constructor(readonly clock: Clock) {
    this.#scheduleWake(this.#safetyDelay());
  }

  /** Wakes the watchers, soon if they have just been woken. */
  signal(): void {
    const gapLeft = this.#lastWakeAt + MIN_GAP_MS - this.clock.monotonic();
    if (gapLeft > 0) this.#scheduleWake(gapLeft);
    else this.#wake();
  }

  addWaiting(resume: () => void): void {
    this.#waiting.add(resume);
  }

  deleteWaiting(resume: () => void): void {
    this.#waiting.delete(resume);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wake(): void {
    this.version += 1;
    this.#lastWakeAt = this.clock.monotonic();
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const resume of waiting) resume();
    this.#scheduleWake(this.#safetyDelay());
  }

  #scheduleWake(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.clock.after(ms, () => this.#wake());
  }

  #safetyDelay(): number {
    return SAFETY_READ_MS * (1 + Math.random());
  }
}

/** One watcher of a channel. */
export class Watcher {
  #resume: (() => void) | undefined;
  #isStopped = false;

  /** @param onStop called once, when the watcher ends */
  constructor(
    private readonly channel: WatchedChannel,
    private readonly onStop: () => void,
  ) {}

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Rises with each wake-up of the channel. */
  get version(): number {
    return this.channel.version;
  }

  /** Resolves when the version differs from `seen`, after `maxMs`, or when the watcher is stopped. */
  async waitForWake(seen: number, maxMs = Infinity): Promise<void> {
    if (this.#isStopped || this.version !== seen) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const resume = (): void => resolve(undefined);
    const timer = maxMs === Infinity ? undefined : this.channel.clock.after(maxMs, resume);
    this.#resume = resume;
    this.channel.addWaiting(resume);
    await promise;
    this.#resume = undefined;
    timer?.cancel();
    this.channel.deleteWaiting(resume);
  }

  /** Resolves after `ms`, or when the watcher is stopped. */
  async pause(ms: number): Promise<void> {
    if (this.#isStopped) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const resume = (): void => resolve(undefined);
    const timer = this.channel.clock.after(ms, resume);
    this.#resume = resume;
    await promise;
    this.#resume = undefined;
    timer.cancel();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#resume?.();
    this.onStop();
  }
}

export interface ChangeSignalsOptions {
  clock: Clock;
  notifier: ChangeNotifier;
  /** Identifies the payment service and its credentials. */
  service: string;
}

/** Wakes the watchers of a channel on this instance and on the others when a change of the channel was recorded. */
export class ChangeSignals {
  readonly #watched = new Map<string, WatchedChannel>();
  /** The same by hash of the channel; empty if there can be no other instances. */
  readonly #watchedByHash = new Map<string, WatchedChannel>();
  readonly #names = new LRUCache<string, string>({ max: MAX_STORED_NAMES });

  constructor(private readonly options: ChangeSignalsOptions) {}

  /** Called when this instance has recorded a change. */
  onRecorded(channel: string): void {
    this.#watched.get(channel)?.signal();
    const { notifier } = this.options;
    if (notifier.hasPeers) notifier.publish({ name: this.#nameOf(channel), state: STATE });
  }

  /** Handles a message of another instance. Returns false if it is not one of this class. */
  onRemoteChange({ name, state }: StateChange): boolean {
    if (state !== STATE) return false;
    this.#watchedByHash.get(name)?.signal();
    return true;
  }

  /** Adds a watcher of a channel. */
  watch(channel: string): Watcher {
    let watched = this.#watched.get(channel);
    if (!watched) {
      watched = new WatchedChannel(this.options.clock);
      this.#watched.set(channel, watched);
      if (this.options.notifier.hasPeers) this.#watchedByHash.set(this.#nameOf(channel), watched);
    }
    const current = watched;
    current.watchers += 1;
    return new Watcher(current, () => this.#unwatch(channel, current));
  }

  #unwatch(channel: string, watched: WatchedChannel): void {
    watched.watchers -= 1;
    if (watched.watchers > 0) return;
    watched.stop();
    this.#watched.delete(channel);
    this.#watchedByHash.delete(this.#nameOf(channel));
  }

  #nameOf(channel: string): string {
    let name = this.#names.get(channel);
    if (name === undefined) this.#names.set(channel, (name = channelHash(this.options.service, channel)));
    return name;
  }
}
