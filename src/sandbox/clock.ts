import type { Clock, Timer } from '../shared/clock';

/** Returns a clock that stands still. An AdvancingClock based on it moves only if a test calls advance(). */
export const frozenClock = (at: number): Clock => ({
  now: () => at,
  monotonic: () => 0,
  after: () => ({ cancel: () => undefined }),
});

interface PendingTimer {
  due: number;
  run: () => void;
  handle: Timer;
}

/** A clock that follows a base clock and can also be advanced. Advancing fires all timers that become due. */
export class AdvancingClock implements Clock {
  private offset = 0;
  private readonly pending = new Set<PendingTimer>();

  constructor(private readonly base: Clock) {}

  now(): number {
    return this.base.now() + this.offset;
  }

  monotonic(): number {
    return this.base.monotonic() + this.offset;
  }

  /** Milliseconds by which this clock is ahead of its base clock. */
  get aheadMs(): number {
    return this.offset;
  }

  after(ms: number, run: () => void): Timer {
    const timer: PendingTimer = { due: this.now() + ms, run, handle: { cancel: () => undefined } };
    this.pending.add(timer);
    this.schedule(timer);
    return {
      cancel: () => {
        this.pending.delete(timer);
        timer.handle.cancel();
      },
    };
  }

  /** Moves the clock forward and fires the timers that become due. Returns how many fired. */
  advance(ms: number): number {
    const target = this.now() + ms;
    let fired = 0;
    // A timer that fires may start other timers that are due by `target`, too.
    for (let due = this.timersDueBy(target); due.length > 0; due = this.timersDueBy(target)) {
      for (const timer of due) {
        if (!this.pending.has(timer)) continue;
        this.offset += Math.max(0, timer.due - this.now());
        this.fire(timer);
        fired += 1;
      }
    }
    this.offset += Math.max(0, target - this.now());
    this.reschedule();
    return fired;
  }

  /** Resets the clock to the time of its base clock. Timers keep their due times. */
  resetOffset(): void {
    this.offset = 0;
    this.reschedule();
  }

  /** Cancels all timers. */
  stop(): void {
    for (const timer of this.pending) timer.handle.cancel();
    this.pending.clear();
  }

  private timersDueBy(target: number): PendingTimer[] {
    return [...this.pending].filter((timer) => timer.due <= target).sort((a, b) => a.due - b.due);
  }

  private fire(timer: PendingTimer): void {
    timer.handle.cancel();
    if (this.pending.delete(timer)) timer.run();
  }

  private schedule(timer: PendingTimer): void {
    timer.handle = this.base.after(Math.max(0, timer.due - this.now()), () => this.fire(timer));
  }

  private reschedule(): void {
    for (const timer of this.pending) {
      timer.handle.cancel();
      this.schedule(timer);
    }
  }
}
