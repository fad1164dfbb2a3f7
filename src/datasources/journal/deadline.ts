/** Time limit of a journal call in ms. Short enough to send callers an error within half a second. */
export const TIME_LIMIT_MS = 400;

/** Time limit in ms of reads that no create waits for, such as lists, operator commands and metrics. */
export const READ_TIME_LIMIT_MS = 1_500;

/** Returns the monotonic time in ms, which is the same in all threads and processes of a machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
