export interface Timer {
  cancel(): void;
}

/** Time and timers, replaceable in tests. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. It may jump: not for durations. */
  now(): number;
  /** Milliseconds since an arbitrary time, without jumps: for durations. */
  monotonic(): number;
  /** Starts a timer, which does not keep the process alive. */
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
