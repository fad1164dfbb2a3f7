import { systemClock, type Clock, type Timer } from '../../src/clock';

/** The machine's clock, whose wall time a test lets step; timers and the monotonic time go on as they do. */
export class SteppingClock implements Clock {
  /** How far the wall clock is ahead of the machine's, in milliseconds. */
  aheadMs = 0;

  now(): number {
    return systemClock.now() + this.aheadMs;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  after(ms: number, run: () => void): Timer {
    return systemClock.after(ms, run);
  }
}
