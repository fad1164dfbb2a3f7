import type { Clock, Timer } from '../shared/clock';
import type { Journal } from '../datasources/journal/journal';
import type { ClockGuard } from './clock-guard';

const SYNCHRONIZE_EVERY_MS = 5000;

interface JournalClockOptions {
  journal: Pick<Journal, 'time'>;
  clock: Clock;
  guard: ClockGuard;
}

/**
 * The clock that all instances of one journal share: the store's, carried on by this process's monotonic clock. Leases and
 * due times are compared by it, so a step of one machine's wall clock moves none of them.
 */
export class JournalClock {
  readonly #options: JournalClockOptions;
  /** Journal time minus monotonic time; undefined before the journal was first asked. */
  #offset: number | undefined;
  #synchronizedAt = -Infinity;
  /** The journal's time right after its last step. */
  #steppedAt = -Infinity;

  constructor(options: JournalClockOptions) {
    this.#options = options;
  }

  /** Milliseconds since 1970; by the wall clock while the journal has not been asked yet. */
  now(): number {
    const { clock } = this.#options;
    return Math.floor(this.#offset === undefined ? clock.now() : this.#offset + clock.monotonic());
  }

  /** Milliseconds since an arbitrary moment of this process. */
  monotonic(): number {
    return this.#options.clock.monotonic();
  }

  after(ms: number, run: () => void): Timer {
    return this.#options.clock.after(ms, run);
  }

  /** Whether the journal was ever asked for its time. */
  get isSynchronized(): boolean {
    return this.#offset !== undefined;
  }

  /** The time since then, in milliseconds; undefined where a step of the journal's clock lies in between. */
  since(time: number): number | undefined {
    const now = this.now();
    return time >= this.#steppedAt && time <= now ? now - time : undefined;
  }

  /** Asks the journal for its time, unless that was done lately. Rejects where the journal cannot be reached. */
  async synchronize(): Promise<void> {
    const { clock, journal, guard } = this.#options;
    const before = clock.monotonic();
    if (before - this.#synchronizedAt < SYNCHRONIZE_EVERY_MS) return;
    const time = await journal.time();
    const after = clock.monotonic();
    const uncertainty = (after - before) / 2;
    const offset = time - (before + uncertainty);
    const difference = offset - (this.#offset ?? offset);
    // A difference within the round-trip time is measurement error.
    const change = Math.sign(difference) * Math.max(0, Math.abs(difference) - uncertainty);
    this.#synchronizedAt = after;
    this.#offset = this.#offset === undefined ? offset : this.#offset + change;
    if (guard.stepped('journal', change)) this.#steppedAt = this.now();
  }
}
