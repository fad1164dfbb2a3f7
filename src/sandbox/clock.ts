import type { Clock, Timer } from '../shared/clock';

interface PendingTimer {
  due: number;
  run(): void;
}

/** A clock that runs with a base clock and can be advanced. An advance fires the timers that become due. */
export class AdvancingClock implements Clock {
  /** Milliseconds by which this clock is ahead of its base clock. */
  aheadMs = 0;
  /** The pending timers, each with the base clock's timer that will fire it. */
  private readonly pending = new Map<PendingTimer, Timer>();

  constructor(private readonly base: Clock) {}

  now(): number {
    return this.base.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.base.monotonic() + this.aheadMs;
  }

  after(ms: number, run: () => void): Timer {
    const timer = { due: this.now() + ms, run };
    this.schedule(timer);
    return { cancel: () => this.cancel(timer) };
  }

  /** Moves the clock forward by `ms` and fires the timers that become due. Returns the number of fired timers. */
  advance(ms: number): number {
    const target = this.now() + ms;
    let firedCount = 0;
    // Repeat, because a fired timer may start other timers that are due by `target`.
    for (let due = this.timersDueBy(target); due.length > 0; due = this.timersDueBy(target)) {
      for (const timer of due) {
        if (!this.pending.has(timer)) continue;
        this.aheadMs += Math.max(0, timer.due - this.now());
        this.fire(timer);
        firedCount += 1;
      }
    }
    this.aheadMs += Math.max(0, target - this.now());
    this.reschedule();
    return firedCount;
  }

  /** Resets the clock to the time of its base clock. Timers keep their due times. */
  resetOffset(): void {
    this.aheadMs = 0;
    this.reschedule();
  }

  /** Cancels all timers. */
  cancelTimers(): void {
    for (const timer of this.pending.keys()) this.cancel(timer);
  }

  private timersDueBy(target: number): PendingTimer[] {
    return [...this.pending.keys()].filter(({ due }) => due <= target).sort((a, b) => a.due - b.due);
  }

  private fire(timer: PendingTimer): void {
    this.cancel(timer);
    timer.run();
  }

  private cancel(timer: PendingTimer): void {
    this.pending.get(timer)?.cancel();
    this.pending.delete(timer);
  }

  private schedule(timer: PendingTimer): void {
    const baseTimer = this.base.after(Math.max(0, timer.due - this.now()), () => this.fire(timer));
    this.pending.set(timer, baseTimer);
  }

  private reschedule(): void {
    for (const [timer, baseTimer] of this.pending) {
      baseTimer.cancel();
      this.schedule(timer);
    }
  }
}
