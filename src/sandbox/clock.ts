/** A timer that has not gone off yet. Cancelling one that has is harmless. */
export interface Timer {
  cancel(): void;
}

/** Where the sandbox takes its time from, so that a test can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since an arbitrary moment; never steps back. */
  monotonic(): number;
  after(ms: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** A clock that stands still. Under an AdvancingClock it makes one that only a test moves. */
export function frozenClock(at: number): Clock {
  return { now: () => at, monotonic: () => 0, after: () => ({ cancel: () => undefined }) };
}

interface Pending {
  due: number;
  run: () => void;
  handle: Timer;
}

/** Runs as fast as the clock beneath it, and can be pushed forward: what then falls due goes off at once. */
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

  /** How far it has been pushed, in milliseconds. */
  get ahead(): number {
    return this.offset;
  }

  after(ms: number, run: () => void): Timer {
    const timer: Pending = { due: this.now() + ms, run, handle: { cancel: () => undefined } };
    this.pending.add(timer);
    this.arm(timer);
    return {
      cancel: () => {
        this.pending.delete(timer);
        timer.handle.cancel();
      },
    };
  }

  /** Returns how many timers went off. */
  advance(ms: number): number {
    const target = this.now() + ms;
    let fired = 0;
    // What goes off may set new timers that are due as well: look again until none is.
    for (let due = this.dueBy(target); due.length > 0; due = this.dueBy(target)) {
      for (const timer of due) {
        if (!this.pending.has(timer)) continue;
        this.offset += Math.max(0, timer.due - this.now());
        this.fire(timer);
        fired += 1;
      }
    }
    this.offset += Math.max(0, target - this.now());
    this.rearm();
    return fired;
  }

  /** Goes back to the time of the clock beneath. Timers keep the moment they were set for. */
  unshift(): void {
    this.offset = 0;
    this.rearm();
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

  private arm(timer: Pending): void {
    timer.handle = this.base.after(Math.max(0, timer.due - this.now()), () => this.fire(timer));
  }

  private rearm(): void {
    for (const timer of this.pending) {
      timer.handle.cancel();
      this.arm(timer);
    }
  }
}
