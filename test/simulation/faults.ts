import { Tally, type Random } from '../chaos/random';
import { INCIDENTS, type Fault, type Profile } from './profile';
import type { World } from './world';

/** Chooses faults, and counts which ones happened, alone and in pairs, while a create was open. */
export class Faults {
  readonly counts = new Tally();
  /** Faults, and pairs of faults, that happened while a create was open. */
  readonly inWindow = new Tally();
  /** The faults of each open create: from its write to the journal until its outcome is recorded. */
  readonly #windows = new Map<string, Set<Fault>>();
  isOver = false;
  /** Simulated time of the last fault of a machine or of the database. */
  disturbedAt = -Infinity;
  /** Simulated time at which the journal's clock last stepped, or the monotonic clock of a machine last stopped. */
  clockStepAt = -Infinity;
  readonly random: Random;

  constructor(
    private readonly world: World,
    readonly profile: Profile,
  ) {
    this.random = world.random.fork();
  }

  happens(fault: Fault): boolean {
    const rate = this.profile.rates[fault] ?? 0;
    return !this.isOver && rate > 0 && this.random.chance(rate);
  }

  choose<F extends Fault>(faults: readonly F[]): F | undefined {
    if (this.isOver) return undefined;
    let left = this.random.next();
    return faults.find((fault) => (left -= this.profile.rates[fault] ?? 0) < 0);
  }

  /** Counts a fault. @param key the create that it concerns; undefined: every open one */
  count(fault: Fault, key?: string): void {
    this.counts.add(fault);
    if ((INCIDENTS as readonly Fault[]).includes(fault)) this.disturbedAt = this.world.now;
    if (fault === 'journal_clock_step' || fault === 'freeze') this.clockStepAt = this.world.now;
    this.world.trace(`fault ${fault} ${key ?? ''}`);
    if (key === undefined) for (const window of this.#windows.values()) window.add(fault);
    else this.#windows.get(key)?.add(fault);
  }

  openWindow(key: string): void {
    this.#windows.set(key, new Set());
  }

  closeWindow(key: string): void {
    const faults = [...(this.#windows.get(key) ?? [])].sort();
    this.#windows.delete(key);
    faults.forEach((first, place) => {
      this.inWindow.add(first);
      for (const second of faults.slice(place + 1)) this.inWindow.add(`${first} + ${second}`);
    });
  }
}
