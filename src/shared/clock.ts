/** A timer that can be called off. */
export interface Timer {
  cancel(): void;
}

/** Where the gateway takes its time from, so that a test can move it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. It may step; never use it to measure a duration. */
  now(): number;
  /** Milliseconds since an arbitrary moment of this process. Never steps: every duration is measured with it. */
  monotonic(): number;
  /** Runs something once, later. A timer never keeps the process alive. */
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
