/**
 * Default time limit in ms of a journal call that a create or confirm waits for. It is short, so that creates and
 * confirms fail quickly in an outage.
 */
export const DEFAULT_TIME_LIMIT_MS = 400;

/**
 * Returns the time limit in ms of calls on background connections, such as lists and reads of changes and metrics. It
 * is at least 1.5 s, because no create or confirm waits for these calls.
 * @param timeLimitMs time limit of the calls that a create or confirm waits for
 */
export const backgroundTimeLimitMs = (timeLimitMs: number): number => Math.max(timeLimitMs, 1_500);

/** Returns the time in ms by a monotonic clock that all threads and processes of a machine share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
