import type { Clock, Timer } from '../../../src/clock';

interface Pending {
  due: number;
  run: () => void;
}

/** One that is not set again for so long was the last of its kind. */
const PATIENCE_MS = 5_000;

/**
 * A clock that goes from timer to timer. What one sets off has to end, and set its next timer, before the clock goes on:
 * so no time passes in it while the service is asked.
 */
export class SteppedClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<Pending>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    const timer = { due: this.#now + ms, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  async run(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.due - b.due)[0];
      if (!next || next.due > end) break;
      const count = this.#timers.size;
      this.#now = Math.max(this.#now, next.due);
      this.#timers.delete(next);
      next.run();
      await this.#untilThereAre(count);
    }
    this.#now = end;
  }

  async #untilThereAre(count: number): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (this.#timers.size < count) {
      if (performance.now() > giveUpAt) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
