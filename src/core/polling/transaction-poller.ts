import type { Clock, Timer } from '../../shared/clock';
import { ServiceError } from '../../datasources/payment-service/service-error';
import type { PollResult } from '../background-metrics';
import { nextPollDelay, type Schedule } from './poll-schedule';
import { createdAt, hasChanged, mergeSnapshot, pollPhase, stateOf, type Snapshot } from './snapshot';
import { LatestValueIterator } from './latest-value-iterator';

/** What all watches of one kind share. */
export interface TransactionPollerOptions<T extends Snapshot> {
  clock: Clock;
  schedule: Schedule;
  /** After so long an outage the watchers are told; 0: never. */
  outageMs: number;
  /** Looks it up; what is found is also told to `seen`. */
  lookUp(): Promise<T | null>;
  /** The error for watchers, should the service not have it. */
  missing(): ServiceError;
  /** Hears what a look came to. */
  looked(result: PollResult): void;
  /** Hears that the watch has ended. */
  ended(): void;
}

/** Who comes while the state is not older than this is given it without another look. */
const FRESH_MS = 2000;
/** However many hints arrive, there is no more than one look in this time. */
const MIN_GAP_MS = 100;

/** The service may ask to be left alone, but not for hours. */
const MAX_RETRY_AFTER_MS = 300_000;

interface Known<T> {
  seen: T;
  /** By the clock of `performance`, when the answer came. */
  answeredAt: number;
  /** By the monotonic clock. */
  at: number;
}

/** Looks that fail, one after another. */
interface Outage {
  since: number;
  times: number;
  error: unknown;
  /** When the service wants to be asked again. */
  retryAt: number;
}

/** One transaction, watched by one or by thousands: it is looked at as if there were one. */
export class TransactionPoller<T extends Snapshot> {
  readonly #options: TransactionPollerOptions<T>;
  readonly #watchers = new Set<LatestValueIterator<T>>();
  readonly #beganAt = performance.now();
  #known: Known<T> | undefined;
  #changedAt: number | undefined;
  #outage: Outage | undefined;
  #timer: Timer | undefined;
  #isHinted = false;
  #isLooking = false;
  #lookAgain = false;
  #lookedAt = -Infinity;
  #isOver = false;

  constructor(options: TransactionPollerOptions<T>) {
    this.#options = options;
  }

  /** What was seen last; undefined before the first answer. */
  get known(): T | undefined {
    return this.#known?.seen;
  }

  /** Another watcher, who is given the current state as soon as it is known. */
  subscribe(): LatestValueIterator<T> {
    const watcher = new LatestValueIterator<T>((gone) => this.#leave(gone));
    this.#watchers.add(watcher);
    const known = this.#known;
    const age = known ? this.#options.clock.monotonic() - known.at : Infinity;
    const isFresh = age >= 0 && age < FRESH_MS;
    // While the service fails, one more who asks does not help it.
    if (known && (isFresh || this.#outage)) watcher.push(known.seen);
    else void this.#poll();
    return watcher;
  }

  /** There may be something new: looks soon. */
  pollSoon(): void {
    if (this.#isLooking) this.#lookAgain = true;
    else if (!this.#isHinted && !this.#isOver) {
      this.#isHinted = true;
      this.#schedulePollIn(
        Math.min(MIN_GAP_MS, this.#lookedAt + MIN_GAP_MS - this.#options.clock.monotonic()),
      );
    }
  }

  /**
   * Somebody has seen it.
   * @param askedAt when the question was asked, by the clock of `performance`: an answer to a question that is older than
   * what is known already may be older too
   */
  onSnapshot(seen: T, askedAt: number): void {
    const before = this.#known;
    if (this.#isOver || (!before && askedAt < this.#beganAt)) return;
    if (!before || askedAt >= before.answeredAt) this.#accept(seen);
    else if (hasChanged(before.seen, mergeSnapshot(before.seen, seen))) this.pollSoon();
  }

  #accept(answer: T): void {
    const { clock } = this.#options;
    const before = this.#known?.seen;
    const seen = before ? mergeSnapshot(before, answer) : answer;
    const isNews = !before || hasChanged(before, seen);
    this.#known = { seen, answeredAt: performance.now(), at: clock.monotonic() };
    this.#outage = undefined;
    if (!before)
      this.#changedAt = clock.monotonic() - Math.max(0, clock.now() - (createdAt(seen) ?? Infinity));
    // Some values differ in every answer, such as addresses with signatures: they say nothing of when the next change comes.
    else if (stateOf(before) !== stateOf(seen)) this.#changedAt = clock.monotonic();
    for (const watcher of this.#watchers) if (isNews || !watcher.hasValue) watcher.push(seen);
    if (pollPhase(seen) === 'done') this.#end();
    else if (!this.#isLooking) this.#schedulePoll();
  }

  async #poll(): Promise<void> {
    if (this.#isOver || this.#isLooking) return;
    this.#timer?.cancel();
    this.#isLooking = true;
    this.#lookAgain = false;
    this.#isHinted = false;
    this.#lookedAt = this.#options.clock.monotonic();
    let result: PollResult | undefined;
    try {
      const found = await this.#options.lookUp();
      // Nothing is looked up for a watch that has ended meanwhile.
      if (!this.#isOver) result = found ? 'found' : 'missing';
      if (!found) throw this.#options.missing();
      // It may have been somebody's look that was under way before anybody watched: as good as to those who asked.
      if (!this.#known && !this.#isOver) this.#accept(found);
      this.#replayLatest();
    } catch (error) {
      result ??= 'failed';
      this.#failed(error);
    }
    if (result) this.#options.looked(result);
    this.#isLooking = false;
    if (this.#isOver) return;
    if (this.#lookAgain) this.pollSoon();
    else this.#schedulePoll();
  }

  #replayLatest(): void {
    const { known } = this;
    if (known) for (const watcher of this.#watchers) if (!watcher.hasValue) watcher.push(known);
  }

  /** Who has no state yet hears of a failure at once; the others stay, and hear of an outage only when it lasts. */
  #failed(error: unknown): void {
    if (!this.#known) return this.#end(error);
    const now = this.#options.clock.monotonic();
    const { since = now, times = 0 } = this.#outage ?? {};
    const asked = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
    const retryAfterMs = Math.min(asked, MAX_RETRY_AFTER_MS);
    this.#outage = { since, times: times + 1, error, retryAt: now + retryAfterMs };
    if (this.#outageIn() > 0) this.#replayLatest();
    else this.#end(error);
  }

  /** How long until the watchers have to be told of an outage, in milliseconds. */
  #outageIn(): number {
    const { clock, outageMs } = this.#options;
    return this.#outage && outageMs > 0 ? this.#outage.since + outageMs - clock.monotonic() : Infinity;
  }

  #schedulePoll(): void {
    if (this.#isHinted || !this.#known) return;
    const { clock, schedule } = this.#options;
    const phase = pollPhase(this.#known.seen);
    if (phase === 'done') return;
    const sinceChange = clock.monotonic() - (this.#changedAt ?? clock.monotonic());
    this.#schedulePollIn(nextPollDelay(schedule[phase], sinceChange, this.#outage?.times ?? 0));
  }

  /** Looks in so long, but not before the service wants to be asked; tells of an outage when it is one. */
  #schedulePollIn(ms: number): void {
    const retryIn = (this.#outage?.retryAt ?? 0) - this.#options.clock.monotonic();
    const wait = Math.min(Math.max(0, ms, retryIn), this.#outageIn());
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(wait, () => {
      if (this.#outageIn() <= 0) this.#end(this.#outage?.error);
      else void this.#poll();
    });
  }

  #leave(watcher: LatestValueIterator<T>): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#end();
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers) watcher.end(error);
    this.#watchers.clear();
    this.#options.ended();
  }
}
