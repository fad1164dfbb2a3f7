export interface Timer {
  cancel(): void;
}

/** Time and timers, replaceable in tests. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since 1970. It may jump, so do not use it for durations. */
  now(): number;
  /** Returns monotonic time: milliseconds since an arbitrary time. It never jumps, so use it for durations. */
  monotonic(): number;
  /** Calls `run` after `ms`. The timer does not keep the process alive. */
  after(ms: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms).unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
