import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextEventLoopTurn } from './next-turn';
import type { Timer } from './clock';

/**
 * Time, timers, event loop turns and random values for code that must not use a Clock: deadlines of calls to the
 * payment service and the journal, pauses between retries, and the order of requests. Tests advance a Clock by hours
 * while calls are in flight. Only tests replace systemRuntime.
 */
export interface Runtime {
  /** Returns monotonic time: milliseconds since an arbitrary time, for durations and deadlines. */
  monotonic(): number;
  /** Calls `run` after `ms`. The timer keeps the process alive. */
  after(ms: number, run: () => void): Timer;
  sleep(ms: number): Promise<void>;
  /** Resolves after the event loop has processed all pending input. */
  nextTurn(): Promise<void>;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  randomUUID(): string;
}

export const systemRuntime: Runtime = {
  monotonic: () => performance.now(),
  after(ms, run) {
    const handle = setTimeout(run, ms);
    return { cancel: () => clearTimeout(handle) };
  },
  sleep: (ms) => sleep(ms),
  nextTurn: nextEventLoopTurn,
  random: () => Math.random(),
  randomUUID,
};
