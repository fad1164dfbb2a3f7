/** A timer that can be called off. */
export interface Timer {
  cancel(): void;
}

/** Where the gateway takes its time from, so that a test can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something once, later. A timer never keeps the process alive. */
  after(ms: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms).unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
