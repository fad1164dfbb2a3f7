import type { Clock, Timer } from '../shared/clock';

interface PendingTimer {
  dueAtMs: number;
  onDue(): void;
}

/** A clock that runs with a base clock and can be advanced. An advance fires the timers that become due. */
export class AdvancingClock implements Clock {
  /** Milliseconds by which this clock is ahead of its base clock. */
  aheadMs = 0;
  /** The pending timers, each with the base clock's timer that will fire it. */
  private readonly baseTimerByTimer = new Map<PendingTimer, Timer>();

  constructor(private readonly baseClock: Clock) {}

  now(): number {
    return this.baseClock.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.baseClock.monotonic() + this.aheadMs;
  }

  after(delayMs: number, onDue: () => void): Timer {
    const timer = { dueAtMs: this.now() + delayMs, onDue };
    this.schedule(timer);
    return { cancel: () => this.cancel(timer) };
  }

  /** Moves the clock forward by `durationMs` and fires timers that become due. Returns the number of fired timers. */
  advance(durationMs: number): number {
    const endMs = this.now() + durationMs;
    let firedCount = 0;
    // Repeat, because a fired timer may start other timers that are due by `endMs`.
    for (let dueTimers = this.timersDueBy(endMs); dueTimers.length > 0; dueTimers = this.timersDueBy(endMs)) {
      for (const timer of dueTimers) {
        if (!this.baseTimerByTimer.has(timer)) continue;
        this.aheadMs += Math.max(0, timer.dueAtMs - this.now());
        this.fire(timer);
        firedCount += 1;
      }
    }
    this.aheadMs += Math.max(0, endMs - this.now());
    this.rescheduleAll();
    return firedCount;
  }

  /** Resets the clock to the time of its base clock. Timers keep their due times. */
  resetOffset(): void {
    this.aheadMs = 0;
    this.rescheduleAll();
  }

  /** Cancels all timers. */
  cancelTimers(): void {
    for (const timer of this.baseTimerByTimer.keys()) this.cancel(timer);
  }

  private timersDueBy(timeMs: number): PendingTimer[] {
    return [...this.baseTimerByTimer.keys()]
      .filter((timer) => timer.dueAtMs <= timeMs)
      .sort((a, b) => a.dueAtMs - b.dueAtMs);
  }

  private fire(timer: PendingTimer): void {
    this.cancel(timer);
    timer.onDue();
  }

  private cancel(timer: PendingTimer): void {
    this.baseTimerByTimer.get(timer)?.cancel();
    this.baseTimerByTimer.delete(timer);
  }

  private schedule(timer: PendingTimer): void {
    const baseTimer = this.baseClock.after(Math.max(0, timer.dueAtMs - this.now()), () => this.fire(timer));
    this.baseTimerByTimer.set(timer, baseTimer);
  }

  private rescheduleAll(): void {
    for (const [timer, baseTimer] of this.baseTimerByTimer) {
      baseTimer.cancel();
      this.schedule(timer);
    }
  }
}
