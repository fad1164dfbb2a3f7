import type { Clock, Timer } from '../../../src/shared/clock';

interface Pending {
  due: number;
  run: () => void;
}

/** Real time in ms after which the work of a timer is expected to set no new timer. */
const SETTLE_MS = 1_500;

/** A clock that advances from timer to timer, after the work of the last timer has ended: lookups take no time. */
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
      await this.#timersSet(count);
    }
    this.#now = end;
  }

  async #timersSet(count: number): Promise<void> {
    const giveUpAt = performance.now() + SETTLE_MS;
    while (this.#timers.size < count) {
      if (performance.now() > giveUpAt) return;
      // Not setImmediate, which would use all of a core meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}
