import type { Clock } from '../../shared/clock';

/** Calls functions at an interval, with one timer for all of them. */
export class SharedTimer {
  readonly #callbacks = new Set<() => void>();
  #isScheduled = false;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  /** Adds a function that is called at every interval, and returns a function that removes it. */
  addCallback(callback: () => void): () => void {
    this.#callbacks.add(callback);
    this.#schedule();
    return () => void this.#callbacks.delete(callback);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.clock.after(this.intervalMs, () => {
      this.#isScheduled = false;
      for (const callback of this.#callbacks) callback();
      if (this.#callbacks.size > 0) this.#schedule();
    });
  }
}
