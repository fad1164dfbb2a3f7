import { JournalUnavailable } from './journal';

/** Callers hear within half a second that the journal cannot be reached; this leaves them time to say so. */
export const DEADLINE_MS = 400;

/** Time limit of reads that no create waits for: lists, what operators ask, metrics. In milliseconds. */
export const READ_DEADLINE_MS = 1_500;

/** Monotonic time in milliseconds, the same for every thread and process of a machine. A deadline never moves with the wall clock. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The error for an exceeded time limit. */
export const tookTooLong = (): Error => Object.assign(new Error('It took too long.'), { code: 'ETIMEDOUT' });

/** Waits for something, but not longer; what comes later is left to `late`. */
export function within<T>(ms: number, waited: Promise<T>, late: (value: T) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false;
    const timer = setTimeout(
      () => {
        over = true;
        reject(new JournalUnavailable(tookTooLong()));
      },
      Math.max(0, ms),
    );
    waited.then((value) => (over ? late(value) : resolve(value)), reject).finally(() => clearTimeout(timer));
  });
}
