/** Time limit of a journal call in ms, so that callers get an error within half a second. */
export const TIME_LIMIT_MS = 400;

/** Time limit in ms of reads that do not delay creates: lists, operator commands and metrics. */
export const BACKGROUND_READ_TIME_LIMIT_MS = 1_500;

/** Returns the monotonic time in ms, which is the same in all threads and processes of a machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
