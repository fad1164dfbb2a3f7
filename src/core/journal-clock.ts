import type { Clock, Timer } from '../shared/clock';
import type { Journal } from '../datasources/journal/journal';
import type { ClockGuard } from './clock-guard';

const SYNCHRONIZE_EVERY_MS = 5000;

/**
 * The clock shared by all instances of one journal: the store's time plus this process's monotonic clock. Leases and due
 * times use it, so a step of one machine's wall clock does not affect them.
 */
export class JournalClock {
  /** Journal time minus monotonic time; undefined before the first synchronization. */
  #offset: number | undefined;
  #synchronizedAt = -Infinity;
  /** Journal time right after its last step. */
  #steppedAt = -Infinity;

  constructor(
    private readonly journal: Pick<Journal, 'time'>,
    private readonly clock: Clock,
    private readonly guard: ClockGuard,
  ) {}

  /** Milliseconds since 1970; by the wall clock before the first synchronization. */
  now(): number {
    return Math.floor(this.#offset === undefined ? this.clock.now() : this.#offset + this.monotonic());
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  after(ms: number, run: () => void): Timer {
    return this.clock.after(ms, run);
  }

  get isSynchronized(): boolean {
    return this.#offset !== undefined;
  }

  /** Milliseconds elapsed since a journal time; undefined when the journal's clock has stepped in between. */
  since(time: number): number | undefined {
    const now = this.now();
    return time >= this.#steppedAt && time <= now ? now - time : undefined;
  }

  /** Reads the journal's time, at most every 5 seconds. Rejects when the journal cannot be reached. */
  async synchronize(): Promise<void> {
    const before = this.monotonic();
    if (before - this.#synchronizedAt < SYNCHRONIZE_EVERY_MS) return;
    const time = await this.journal.time();
    const after = this.monotonic();
    const uncertainty = (after - before) / 2;
    const offset = time - (before + uncertainty);
    const difference = offset - (this.#offset ?? offset);
    // A difference within the round-trip time is measurement error.
    const change = Math.sign(difference) * Math.max(0, Math.abs(difference) - uncertainty);
    this.#synchronizedAt = after;
    this.#offset = this.#offset === undefined ? offset : this.#offset + change;
    if (this.guard.stepped('journal', change)) this.#steppedAt = this.now();
  }
}
