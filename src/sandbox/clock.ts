import type { Clock, Timer } from '../shared/clock';

/** A clock that does not move. An AdvancingClock on top of it moves only when a test advances it. */
export const frozenClock = (at: number): Clock => ({
  now: () => at,
  monotonic: () => 0,
  after: () => ({ cancel: () => undefined }),
});

interface Pending {
  due: number;
  run: () => void;
  handle: Timer;
}

/** A clock that follows another one and can be advanced: timers that become due fire immediately. */
export class AdvancingClock implements Clock {
  private offset = 0;
  private readonly pending = new Set<Pending>();

  constructor(private readonly base: Clock) {}

  now(): number {
    return this.base.now() + this.offset;
  }

  monotonic(): number {
    return this.base.monotonic() + this.offset;
  }

  /** The distance to the base clock in milliseconds. */
  get ahead(): number {
    return this.offset;
  }

  after(ms: number, run: () => void): Timer {
    const timer: Pending = { due: this.now() + ms, run, handle: { cancel: () => undefined } };
    this.pending.add(timer);
    this.schedule(timer);
    return {
      cancel: () => {
        this.pending.delete(timer);
        timer.handle.cancel();
      },
    };
  }

  /** Returns the number of timers that fired. */
  advance(ms: number): number {
    const target = this.now() + ms;
    let fired = 0;
    // Timers that fire may start others that are due as well.
    for (let due = this.dueBy(target); due.length > 0; due = this.dueBy(target)) {
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

  /** Returns to the time of the base clock. Timers keep their due times. */
  unshift(): void {
    this.offset = 0;
    this.reschedule();
  }

  /** Cancels all timers. */
  stop(): void {
    for (const timer of this.pending) timer.handle.cancel();
    this.pending.clear();
  }

  private dueBy(target: number): Pending[] {
    return [...this.pending].filter((timer) => timer.due <= target).sort((a, b) => a.due - b.due);
  }

  private fire(timer: Pending): void {
    timer.handle.cancel();
    if (this.pending.delete(timer)) timer.run();
  }

  private schedule(timer: Pending): void {
    timer.handle = this.base.after(Math.max(0, timer.due - this.now()), () => this.fire(timer));
  }

  private reschedule(): void {
    for (const timer of this.pending) {
      timer.handle.cancel();
      this.schedule(timer);
    }
  }
}
