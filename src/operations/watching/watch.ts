import type { Clock, Timer } from '../../clock';
import { ServiceError } from '../../datasources/service/service-error';
import { nextLook, type Schedule } from './schedule';
import { createdAt, differs, keepExternalId, phaseOf, type Watchable } from './sighting';
import { Watcher } from './watcher';

/** What all watches of one kind share. */
export interface WatchOptions<T extends Watchable> {
  clock: Clock;
  schedule: Schedule;
  /** After so long an outage the watchers are told; 0: never. */
  outageMs: number;
  /** Looks it up; what it finds is also told to `seen`. */
  lookUp(): Promise<T | null>;
  /** For people, should the service not have it. */
  missing: string;
  /** Hears that the watch has ended. */
  ended(): void;
}

/** Who comes while the state is not older than this is given it without another look. */
const FRESH_MS = 2000;
/** However many hints arrive, there is no more than one look in this time. */
const MIN_GAP_MS = 100;

interface Known<T> {
  seen: T;
  /** By the clock of `performance`, when the answer came. */
  answeredAt: number;
  /** By the gateway's clock. */
  at: number;
}

/** One transaction, watched by one or by thousands: it is looked at as if there were one. */
export class Watch<T extends Watchable> {
  readonly #options: WatchOptions<T>;
  readonly #watchers = new Set<Watcher<T>>();
  #known: Known<T> | undefined;
  #changedAt: number | undefined;
  #timer: Timer | undefined;
  #hinted = false;
  #looking = false;
  #lookAgain = false;
  #lookedAt = -Infinity;
  #failures = 0;
  /** How long the service wants to be left alone. */
  #waitMs = 0;
  #failingSince: number | undefined;
  #over = false;

  constructor(options: WatchOptions<T>) {
    this.#options = options;
  }

  /** What was seen last; undefined before the first answer. */
  get known(): T | undefined {
    return this.#known?.seen;
  }

  /** Another watcher, who is given the current state as soon as it is known. */
  join(): Watcher<T> {
    const watcher = new Watcher<T>((gone) => this.#leave(gone));
    this.#watchers.add(watcher);
    const known = this.#known;
    if (known && this.#options.clock.now() - known.at < FRESH_MS) watcher.push(known.seen);
    else void this.#look();
    return watcher;
  }

  /** There may be something new: looks soon. */
  hint(): void {
    if (this.#looking) this.#lookAgain = true;
    else if (!this.#hinted && !this.#over) {
      this.#hinted = true;
      this.#lookIn(Math.max(0, this.#lookedAt + MIN_GAP_MS - this.#options.clock.now()));
    }
  }

  /**
   * Somebody has seen it.
   * @param askedAt when the question was asked, by the clock of `performance`: an answer to a question that is older than
   * what is known already may be older too
   */
  seen(seen: T, askedAt: number): void {
    if (this.#over) return;
    const before = this.#known;
    const isNews = !before || differs(before.seen, seen);
    if (before && askedAt < before.answeredAt) {
      if (isNews) this.hint();
      return;
    }
    const { clock } = this.#options;
    if (before) keepExternalId(before.seen, seen);
    this.#known = { seen, answeredAt: performance.now(), at: clock.now() };
    this.#failures = 0;
    this.#waitMs = 0;
    this.#failingSince = undefined;
    if (isNews) this.#changedAt = before ? clock.now() : this.#beganAt(seen);
    for (const watcher of this.#watchers) if (isNews || !watcher.hasSeen) watcher.push(seen);
    if (phaseOf(seen) === 'done') this.#end();
    else if (!this.#looking) this.#lookLater();
  }

  /** A payment that is hours old when the first watcher comes is not looked at as often as a new one. */
  #beganAt(seen: T): number {
    const now = this.#options.clock.now();
    return Math.min(now, createdAt(seen) ?? now);
  }

  async #look(): Promise<void> {
    if (this.#over || this.#looking) return;
    this.#timer?.cancel();
    this.#looking = true;
    this.#lookAgain = false;
    this.#hinted = false;
    this.#lookedAt = this.#options.clock.now();
    try {
      const found = await this.#options.lookUp();
      if (!found) throw new ServiceError('NOT_FOUND', this.#options.missing);
      this.#giveToNewcomers();
    } catch (error) {
      this.#failed(error);
    }
    this.#looking = false;
    if (this.#over) return;
    if (this.#lookAgain) this.hint();
    else this.#lookLater();
  }

  #giveToNewcomers(): void {
    const { known } = this;
    if (known) for (const watcher of this.#watchers) if (!watcher.hasSeen) watcher.push(known);
  }

  /** Who has no state yet hears of a failure at once; the others stay, and hear of an outage only when it lasts. */
  #failed(error: unknown): void {
    const { clock, outageMs } = this.#options;
    this.#failures += 1;
    this.#waitMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
    this.#failingSince ??= clock.now();
    if (!this.#known) return this.#end(error);
    const isOutage = outageMs > 0 && clock.now() - this.#failingSince >= outageMs;
    if (isOutage) this.#end(error);
    else this.#giveToNewcomers();
  }

  #lookLater(): void {
    if (this.#hinted) return;
    const { clock, schedule } = this.#options;
    const { known } = this;
    const phase = known ? phaseOf(known) : 'provider';
    if (phase === 'done') return;
    const sinceChange = clock.now() - (this.#changedAt ?? clock.now());
    this.#lookIn(Math.max(this.#waitMs, nextLook(schedule[phase], sinceChange, this.#failures)));
  }

  #lookIn(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, () => void this.#look());
  }

  #leave(watcher: Watcher<T>): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#end();
  }

  #end(error?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers) watcher.end(error);
    this.#watchers.clear();
    this.#options.ended();
  }
}
