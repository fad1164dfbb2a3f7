import type { Clock, Timer } from '../shared/clock';

interface PendingTimer {
  dueAt: number;
  run(): void;
}

/** A clock that runs with a base clock and can be advanced. An advance fires the timers that become due. */
export class AdvancingClock implements Clock {
  /** Milliseconds by which this clock is ahead of its base clock. */
  aheadMs = 0;
  /** The pending timers, each with the base clock's timer that will fire it. */
  private readonly pendingTimers = new Map<PendingTimer, Timer>();

  constructor(private readonly baseClock: Clock) {}

  now(): number {
    return this.baseClock.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.baseClock.monotonic() + this.aheadMs;
  }

  after(ms: number, run: () => void): Timer {
    const timer = { dueAt: this.now() + ms, run };
    this.schedule(timer);
    return { cancel: () => this.cancel(timer) };
  }

  /** Moves the clock forward by `ms` and fires the timers that become due. Returns the number of fired timers. */
  advance(ms: number): number {
    const endTime = this.now() + ms;
    let firedCount = 0;
    // Repeat, because a fired timer may start other timers that are due by `endTime`.
    for (let timers = this.timersDueBy(endTime); timers.length > 0; timers = this.timersDueBy(endTime)) {
      for (const timer of timers) {
        if (!this.pendingTimers.has(timer)) continue;
        this.aheadMs += Math.max(0, timer.dueAt - this.now());
        this.fire(timer);
        firedCount += 1;
      }
    }
    this.aheadMs += Math.max(0, endTime - this.now());
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
    for (const timer of this.pendingTimers.keys()) this.cancel(timer);
  }

  private timersDueBy(time: number): PendingTimer[] {
    return [...this.pendingTimers.keys()]
      .filter((timer) => timer.dueAt <= time)
      .sort((a, b) => a.dueAt - b.dueAt);
  }

  private fire(timer: PendingTimer): void {
    this.cancel(timer);
    timer.run();
  }

  private cancel(timer: PendingTimer): void {
    this.pendingTimers.get(timer)?.cancel();
    this.pendingTimers.delete(timer);
  }

  private schedule(timer: PendingTimer): void {
    const baseTimer = this.baseClock.after(Math.max(0, timer.dueAt - this.now()), () => this.fire(timer));
    this.pendingTimers.set(timer, baseTimer);
  }

  private reschedule(): void {
    for (const [timer, baseTimer] of this.pendingTimers) {
      baseTimer.cancel();
      this.schedule(timer);
    }
  }
}
